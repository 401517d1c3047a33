/** @file xc_functional_names.c  From one name to parts, terms of libxc and exact exchange. */
#include "xc_functional_own.h"

#include "deck.h"

#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------- own names */

typedef struct own_entry {
  const char *name;
  double exchange;
  xc_mix mix;
} own_entry;

static const own_entry own_list[XC_N_OWN] = {
#define X(name, exact, parts, ...) [XC_OWN_##name] = {#name, exact, {parts}},
#define W(part, weight) .part = weight,
    XC_OWN_LIST(X, W)
#undef X
#undef W
};

typedef struct part_entry {
  const char *libxc;
  int gga, tau;
} part_entry;

static const part_entry part_list[XC_N_PARTS] = {
#define X(name, form, threshold, libxc) \
  [XC_PART_##name] = {libxc, XC_PART_GGA_##name, XC_PART_TAU_##name},
    XC_PART_LIST(X)
#undef X
};

/** Place in own_list, or -1. */
static int own_find(const char *name) {
  char squeezed[XC_NAME];
  xc_squeeze(name, squeezed);
  for (int k = 0; k < XC_N_OWN; k++)
    if (strcmp(squeezed, own_list[k].name) == 0) return k;
  return -1;
}

static int part_find(const char *name) {
  for (int k = 0; k < XC_N_PARTS; k++)
    if (strcmp(name, part_list[k].libxc) == 0) return k;
  return -1;
}

static void own_add(double weight, const own_entry *own, xc_functional *f) {
  xc_mix mix = own->mix;
  for (int k = 0; k < XC_N_PARTS; k++) xc_mix_list(&f->mix)[k] += weight * xc_mix_list(&mix)[k];
  f->exchange += weight * own->exchange;
}

int xc_own_of(const xc_mix *mix) {
  xc_mix wanted = *mix;
  for (int own = 0; own < XC_N_OWN; own++) {
    xc_mix have = own_list[own].mix;
    int same = 0;
    for (int k = 0; k < XC_N_PARTS; k++) same += xc_mix_list(&wanted)[k] == xc_mix_list(&have)[k];
    if (same == XC_N_PARTS) return own;
  }
  return -1;
}

const char *xc_own_name(int own) {
  return own < 0 ? NULL : own_list[own].name;
}

const char *xc_part_name(int part, int *gga, int *tau) {
  *gga = part_list[part].gga;
  *tau = part_list[part].tau;
  return part_list[part].libxc;
}

/* ------------------------------------------------------------ libxc names */

/** What may be left out in front of a name. */
static const char *const prefixes[] = {"",        "hyb_gga_xc_",  "gga_xc_", "hyb_lda_xc_",
                                       "lda_xc_", "hyb_mgga_xc_", "mgga_xc_"};
enum { N_PREFIXES = sizeof prefixes / sizeof prefixes[0] };

/** The name as libxc has it. */
static bool library_find(const char *name, char full[XC_NAME], xc_library_info *info) {
  for (int k = 0; k < N_PREFIXES; k++) {
    const int length = snprintf(full, XC_NAME, "%s%s", prefixes[k], name);
    if (length < XC_NAME && xc_library_libxc.find(full, info)) return true;
  }
  return false;
}

/** What a functional of this kind has that is not computed here: a bit of XC_LACKS_.., or 0. */
static unsigned lacks_of(xc_kind kind) {
  switch (kind) {
  case XC_KIND_LAPLACIAN:
    return XC_LACKS_LAPLACIAN;
  case XC_KIND_YUKAWA:
    return XC_LACKS_YUKAWA;
  default:
    return 0;
  }
}

/** Why a functional of this kind is refused for other reasons; NULL when it is not. */
static const char *refusal(xc_kind kind) {
  switch (kind) {
  case XC_KIND_GOOD:
  case XC_KIND_LAPLACIAN:
  case XC_KIND_YUKAWA:
    return NULL;
  case XC_KIND_KINETIC:
    return "a kinetic functional";
  case XC_KIND_NO_ENERGY:
    return "a potential without an energy";
  case XC_KIND_DIMENSION:
    return "a functional of one or two dimensions";
  case XC_KIND_OTHER:
    break;
  }
  return "of a kind that is not known here";
}

/** Fail: without what it lacks it would be another functional. */
static tsl_err fail_lacking(const char *name, const char *title, unsigned lacks) {
  char text[XC_TEXT];
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                  "functional '%s' (%s) needs %s, not computed here; without, it is another "
                  "functional (allowed are LDAs, GGAs, meta-GGAs and hybrids)",
                  name, title, xc_lacks_text(lacks, text));
}

/* -------------------------------------------------------------- dispersion */

/** How names end that say: with a correction for dispersion, or with non-local correlation. */
static const struct {
  const char *text;
  unsigned lacks;
} endings[] = {
    {"_d", XC_LACKS_DISPERSION},
    {"_d2", XC_LACKS_DISPERSION},
    {"_d3", XC_LACKS_DISPERSION},
    {"_d3bj", XC_LACKS_DISPERSION},
    {"_d3_bj", XC_LACKS_DISPERSION},
    {"_d3zero", XC_LACKS_DISPERSION},
    {"_d3_zero", XC_LACKS_DISPERSION},
    {"_d3_0", XC_LACKS_DISPERSION},
    {"_d3m", XC_LACKS_DISPERSION},
    {"_d3mbj", XC_LACKS_DISPERSION},
    {"_d3m_bj", XC_LACKS_DISPERSION},
    {"_d4", XC_LACKS_DISPERSION},
    {"_gd2", XC_LACKS_DISPERSION},
    {"_gd3", XC_LACKS_DISPERSION},
    {"_gd3bj", XC_LACKS_DISPERSION},
    {"_ts", XC_LACKS_DISPERSION},
    {"_mbd", XC_LACKS_DISPERSION},
    {"_xdm", XC_LACKS_DISPERSION},
    {"_3c", XC_LACKS_DISPERSION | XC_LACKS_BASIS},
    {"_rv", XC_LACKS_NON_LOCAL},
    {"_v", XC_LACKS_VV10},
    {"_nl", XC_LACKS_VV10},
    {"_vv10", XC_LACKS_VV10},
    {"_rvv10", XC_LACKS_NON_LOCAL},
    {"vdw", XC_LACKS_NON_LOCAL},
};
enum { N_ENDINGS = sizeof endings / sizeof endings[0] };

/** Made for what their names do not say: S12g and S12h for D3 (M. Swart, Chem. Phys. Lett. 580
 *  (2013) 166), C09 for vdW-DF (V. R. Cooper, Phys. Rev. B 81 (2010) 161104). */
static const struct {
  const char *name;
  unsigned lacks;
} made_for[] = {{"gga_x_s12g", XC_LACKS_DISPERSION},
                {"hyb_gga_x_s12h", XC_LACKS_DISPERSION},
                {"gga_x_c09x", XC_LACKS_NON_LOCAL}};
enum { N_MADE = sizeof made_for / sizeof made_for[0] };

/** What the end of a name says that is lacking, and where it begins; 0 when it says nothing. */
static unsigned ending_of(const char *name, size_t *begin) {
  const size_t length = strlen(name);
  for (int k = 0; k < N_ENDINGS; k++) {
    const size_t n = strlen(endings[k].text);
    if (length <= n || strcmp(name + length - n, endings[k].text) != 0) continue;
    *begin = length - n;
    return endings[k].lacks;
  }
  return 0;
}

/** What a functional of the library is made for and has not in it. */
static unsigned made_for_what(const char *full, const xc_library_info *info) {
  size_t begin;
  for (int k = 0; k < N_MADE; k++)
    if (strcmp(full, made_for[k].name) == 0) return made_for[k].lacks;
  const unsigned lacks = ending_of(full, &begin);
  return info->nonlocal.b != 0 ? lacks & ~(unsigned)XC_LACKS_VV10 : lacks;
}

/** Does the name mean something, other than by a correction? */
static bool is_known(const char *name) {
  xc_library_info info;
  char full[XC_NAME];
  return strcmp(name, "hf") == 0 || own_find(name) >= 0 || part_find(name) >= 0 ||
         xc_published_find(name) != NULL || library_find(name, full, &info);
}

/** Fail for a published name that is not computed, or with a correction that is not. */
static tsl_err fail_row(const char *name, const xc_published *row, unsigned lacks) {
  if (row->choices == NULL) return fail_lacking(name, row->name, row->lacks | lacks);
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                  "functional '%s' is the name of several; write %s", name, row->choices);
}

/** pbe_d3: a known functional with a correction. @return what is lacking, its name in base; or 0 */
static unsigned corrected(const char *name, char base[XC_NAME]) {
  size_t begin = 0;
  const unsigned lacks = ending_of(name, &begin);
  if (lacks == 0) return 0;
  (void)snprintf(base, XC_NAME, "%.*s", (int)begin, name);
  return is_known(base) ? lacks : 0;
}

bool xc_name_known(const char *name) {
  char base[XC_NAME];
  return is_known(name) || corrected(name, base) != 0;
}

/** Fail for pbe_d3, and for b2plyp_d3 with all that it lacks. */
static tsl_err fail_corrected(const char *name, const char *base, unsigned lacks) {
  const xc_published *row = xc_published_find(base);
  char text[XC_TEXT];
  if (row != NULL && row->sum == NULL) return fail_row(name, row, lacks);
  const bool apart = lacks == XC_LACKS_DISPERSION || lacks == XC_LACKS_VV10;
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                  "functional '%s' needs %s, %s; '%s' is without%s", name,
                  xc_lacks_text(lacks, text),
                  apart ? "no part of a functional here" : "not computed here", base,
                  lacks == XC_LACKS_DISPERSION ? ", and xc.dispersion adds d3bj or d4"
                  : lacks == XC_LACKS_VV10     ? ", and xc.nonlocal adds VV10 with its b"
                                               : "");
}

/* ---------------------------------------------------------- nearest names */

enum { N_NEAREST = 3 };

/** Candidates: own names, published ones in the reader's form, libxc's, and libxc's without
 *  "hyb_gga_xc_" and the like. */
static int64_t fill_candidates(const char *const *library, char (*published)[XC_NAME],
                               const char **list) {
  int64_t used = 0;
  int n_rows;
  const xc_published *const rows = xc_published_rows(&n_rows);
  for (int k = 0; k < XC_N_OWN; k++) list[used++] = own_list[k].name;
  for (int k = 0; k < n_rows; k++) {
    xc_name_fold(rows[k].name, published[k]);
    if (rows[k].sum != NULL) list[used++] = published[k];
  }
  for (; *library != NULL; library++) {
    list[used++] = *library;
    for (int k = 1; k < N_PREFIXES; k++) {
      const size_t length = strlen(prefixes[k]);
      if (strncmp(*library, prefixes[k], length) == 0) list[used++] = *library + length;
    }
  }
  list[used] = NULL;
  return used;
}

/** Take the nearest candidates out one by one. */
static void write_nearest(const char *name, const char **list, int64_t n, char *text, size_t size) {
  text[0] = '\0';
  for (int k = 0; k < N_NEAREST; k++) {
    const char *near = tsl_nearest_word(name, list);
    const size_t used = strlen(text);
    if (near == NULL) break;
    (void)snprintf(text + used, size - used, "%s'%s'", k == 0 ? "; near it: " : ", ", near);
    for (int64_t i = 0; i < n; i++)
      if (strcmp(list[i], near) == 0) list[i] = "";
  }
}

/** Has the library exchange and correlation of this name? */
static bool in_two_parts(const char *name, char exchange[XC_NAME], char correlation[XC_NAME]) {
  static const char *const families[][2] = {
      {"gga_x_", "gga_c_"}, {"mgga_x_", "mgga_c_"}, {"hyb_mgga_x_", "mgga_c_"}};
  xc_library_info info;
  for (size_t k = 0; k < sizeof families / sizeof families[0]; k++) {
    (void)snprintf(exchange, XC_NAME, "%s%.45s", families[k][0], name);
    (void)snprintf(correlation, XC_NAME, "%s%.45s", families[k][1], name);
    if (xc_library_libxc.find(exchange, &info) && xc_library_libxc.find(correlation, &info))
      return true;
  }
  return false;
}

/** Fail with what the unknown name could have been. */
static tsl_err xc_functional_names_fail_unknown(const char *name) {
  tsl_err err = TSL_OK;
  const char **library = NULL, **list = NULL;
  char(*published)[XC_NAME] = NULL;
  char text[4 * XC_NAME], exchange[XC_NAME], correlation[XC_NAME];
  int64_t n = 0;
  int n_rows;
  unsigned lacks;
  lacks = corrected(name, text);
  if (lacks != 0) {
    err = fail_corrected(name, text, lacks);
    goto done;
  }
  if (in_two_parts(name, exchange, correlation))
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s': exchange and correlation have names of their own; "
             "write '%s+%s'",
             name, exchange, correlation);
  TSL_TRY(xc_library_libxc.names(&library));
  while (library[n] != NULL) n++;
  (void)xc_published_rows(&n_rows);
  TSL_TRY(tsl_alloc(n_rows, sizeof *published, "published names", (void **)&published));
  TSL_TRY(tsl_alloc(XC_N_OWN + n_rows + 2 * n + 1, sizeof *list, "names of functionals",
                    (void **)&list));
  write_nearest(name, list, fill_candidates(library, published, list), text, sizeof text);
  if (xc_library_libxc.version() == NULL)
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s' has no formulas here%s; this build lacks libxc, which has more "
             "(allowed: " XC_OWN_NAMES "hf and sums of their parts)",
             name, text);
  TSL_FAIL(TSL_ERR_INPUT,
           "unknown functional '%s'%s (allowed: " XC_OWN_NAMES
           "hf, any LDA, GGA, meta-GGA or hybrid of libxc %s, published names, see `tesela "
           "help xc`, "
           "sums with '+')",
           name, text, xc_library_libxc.version());
done:
  TSL_FREE_ALL(list, library, published);
  return err;
}

/* ---------------------------------------------------------------- one name */

/** Non-local correlation of a functional, which is no sum of others' and has no weight. */
static tsl_err add_nonlocal(double weight, const char *name, const xc_library_info *info,
                            xc_functional *f) {
  tsl_err err = TSL_OK;
  if (info->nonlocal.b == 0) goto done;
  if (weight != 1 || f->nonlocal.b != 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s': '%s' carries non-local correlation, which is taken once and whole",
             f->name, name);
  f->nonlocal = info->nonlocal;
done:
  return err;
}

/** Add a term of libxc; equal names are one term. */
static tsl_err add_term(double weight, const char *name, xc_functional *f) {
  tsl_err err = TSL_OK;
  int at = 0;
  while (at < f->n_terms && strcmp(f->terms[at].name, name) != 0) at++;
  if (at == XC_MAX_TERMS)
    TSL_FAIL(TSL_ERR_INPUT, "functional '%s' has more than %d terms of libxc", f->name,
             XC_MAX_TERMS);
  if (at == f->n_terms) {
    f->n_terms++;
    (void)snprintf(f->terms[at].name, XC_NAME, "%s", name);
  }
  f->terms[at].weight += weight;
done:
  return err;
}

/** Exact exchange of a functional; a sum has one omega. */
static tsl_err add_exchange(double weight, const char *name, const xc_library_info *info,
                            xc_functional *f) {
  tsl_err err = TSL_OK;
  f->exchange += weight * info->exchange;
  if (info->far == 0) goto done;
  if (f->far != 0 && f->omega != info->omega)
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s': '%s' separates the ranges of exact exchange by %g / bohr, another "
             "term by %g",
             f->name, name, info->omega, f->omega);
  f->omega = info->omega;
  f->far += weight * info->far;
done:
  return err;
}

static tsl_err add_library(double weight, const char *name, xc_functional *f) {
  tsl_err err = TSL_OK;
  xc_library_info info = {0};
  char full[XC_NAME];
  const char *why;
  unsigned lacks;
  if (!library_find(name, full, &info)) {
    err = xc_functional_names_fail_unknown(name);
    goto done;
  }
  why = refusal(info.kind);
  if (why != NULL)
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s' (%s) is %s; allowed are LDAs, GGAs, meta-GGAs and "
             "hybrids",
             name, info.title, why);
  lacks = lacks_of(info.kind) | made_for_what(full, &info);
  if (lacks != 0) {
    err = fail_lacking(name, info.title, lacks);
    goto done;
  }
  f->gga |= info.gga;
  f->tau |= info.tau;
  TSL_TRY(add_exchange(weight, full, &info, f));
  TSL_TRY(add_nonlocal(weight, full, &info, f));
  TSL_TRY(add_term(weight, full, f));
done:
  return err;
}

tsl_err xc_name_add(double weight, const char *name, xc_functional *f) {
  const int own = own_find(name), part = part_find(name);
  const xc_published *const row = xc_published_find(name);
  if (strcmp(name, "hf") == 0) {
    f->exchange += weight;
    return TSL_OK;
  }
  if (own >= 0) {
    own_add(weight, &own_list[own], f);
    return TSL_OK;
  }
  if (part >= 0) {
    xc_mix_list(&f->mix)[part] += weight;
    return TSL_OK;
  }
  if (row == NULL) return add_library(weight, name, f);
  return row->sum != NULL ? xc_sum_add(weight, row->sum, f) : fail_row(name, row, 0);
}
