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
  int gga;
} part_entry;

static const part_entry part_list[XC_N_PARTS] = {
#define X(name, form, threshold, libxc) [XC_PART_##name] = {libxc, XC_PART_GGA_##name},
    XC_PART_LIST(X)
#undef X
};

/** Other names of own functionals. */
static const struct {
  const char *name;
  int own;
} aliases[] = {
    {"pbeh", XC_OWN_pbe0},
    {"pbe1pbe", XC_OWN_pbe0},
    {"b3lypg", XC_OWN_b3lyp},
    {"hyb_gga_xc_pbeh", XC_OWN_pbe0},
    {"hyb_gga_xc_b3lyp", XC_OWN_b3lyp},
    {"hyb_gga_xc_b3lyp5", XC_OWN_b3lyp5},
};
enum { N_ALIASES = sizeof aliases / sizeof aliases[0] };

/** Place in own_list, or -1. */
static int own_find(const char *name) {
  for (int k = 0; k < XC_N_OWN; k++)
    if (strcmp(name, own_list[k].name) == 0) return k;
  for (int k = 0; k < N_ALIASES; k++)
    if (strcmp(name, aliases[k].name) == 0) return aliases[k].own;
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

const char *xc_part_name(int part, int *gga) {
  *gga = part_list[part].gga;
  return part_list[part].libxc;
}

/* ------------------------------------------------------------ libxc names */

/** What may be left out in front of a name. */
static const char *const prefixes[] = {"",        "hyb_gga_xc_",  "gga_xc_",  "hyb_lda_xc_",
                                       "lda_xc_", "hyb_mgga_xc_", "mgga_xc_", "hyb_mgga_x_",
                                       "mgga_x_"};
enum { N_PREFIXES = sizeof prefixes / sizeof prefixes[0] };

/** The name as libxc has it. */
static bool library_find(const char *name, char full[XC_NAME], xc_library_info *info) {
  for (int k = 0; k < N_PREFIXES; k++) {
    const int length = snprintf(full, XC_NAME, "%s%s", prefixes[k], name);
    if (length < XC_NAME && xc_library_libxc.find(full, info)) return true;
  }
  return false;
}

/** Why a functional of this kind is refused; NULL when it is not. */
static const char *refusal(xc_kind kind) {
  switch (kind) {
  case XC_KIND_GOOD:
    return NULL;
  case XC_KIND_MGGA:
    return "a meta-GGA";
  case XC_KIND_RANGE_SEPARATED:
    return "a range-separated hybrid";
  case XC_KIND_NON_LOCAL:
    return "a functional with non-local correlation";
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

/* -------------------------------------------------------------- dispersion */

/** How names end that say: with a correction for dispersion, or with non-local correlation. */
static const char *const dispersion_endings[] = {"_d",     "_d2", "_d3", "_d3bj", "_d3zero", "_d3m",
                                                 "_d3mbj", "_d4", "_v",  "_nl",   "_3c",     "vdw"};
enum { N_ENDINGS = sizeof dispersion_endings / sizeof dispersion_endings[0] };

/** Made for a correction that their names do not say: S12g and S12h for D3 (M. Swart, Chem. Phys.
 *  Lett. 580 (2013) 166), C09 for vdW-DF (V. R. Cooper, Phys. Rev. B 81 (2010) 161104). */
static const char *const made_for_dispersion[] = {"gga_x_s12g", "hyb_gga_x_s12h", "gga_x_c09x"};
enum { N_MADE = sizeof made_for_dispersion / sizeof made_for_dispersion[0] };

/** Where such an ending begins, or NULL. */
static const char *dispersion_ending(const char *name) {
  const size_t length = strlen(name);
  for (int k = 0; k < N_ENDINGS; k++) {
    const size_t n = strlen(dispersion_endings[k]);
    if (length > n && strcmp(name + length - n, dispersion_endings[k]) == 0)
      return name + length - n;
  }
  return NULL;
}

/** A functional of the library that is only a part of what its name stands for. */
static bool needs_dispersion(const char *full) {
  for (int k = 0; k < N_MADE; k++)
    if (strcmp(full, made_for_dispersion[k]) == 0) return true;
  return dispersion_ending(full) != NULL;
}

/** pbe_d3: a known functional with a correction. @return the functional's name in base */
static bool is_corrected(const char *name, char base[XC_NAME]) {
  const char *end = dispersion_ending(name);
  xc_library_info info;
  char full[XC_NAME];
  if (end == NULL) return false;
  (void)snprintf(base, XC_NAME, "%.*s", (int)(end - name), name);
  return own_find(base) >= 0 || strcmp(base, "hf") == 0 || library_find(base, full, &info);
}

/* ---------------------------------------------------------- nearest names */

enum { N_NEAREST = 3, N_XC_PREFIXES = 5 };

/** Candidates: own names, libxc's, and libxc's without "hyb_gga_xc_" and the like. */
static int64_t fill_candidates(const char *const *library, const char **list) {
  int64_t used = 0;
  for (int k = 0; k < XC_N_OWN; k++) list[used++] = own_list[k].name;
  for (; *library != NULL; library++) {
    list[used++] = *library;
    for (int k = 1; k < N_XC_PREFIXES; k++) {
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
      if (list[i] == near) list[i] = "";
  }
}

/** Fail with what the unknown name could have been. */
static tsl_err xc_functional_names_fail_unknown(const char *name) {
  tsl_err err = TSL_OK;
  const char **library = NULL, **list = NULL;
  char text[4 * XC_NAME], exchange[XC_NAME], correlation[XC_NAME];
  xc_library_info info;
  int64_t n = 0;
  if (is_corrected(name, text))
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s': corrections for dispersion and non-local correlation are not "
             "computed here; '%s' is without",
             name, text);
  (void)snprintf(exchange, sizeof exchange, "gga_x_%.50s", name);
  (void)snprintf(correlation, sizeof correlation, "gga_c_%.50s", name);
  if (xc_library_libxc.find(exchange, &info) && xc_library_libxc.find(correlation, &info))
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s': exchange and correlation have names of their own; "
             "write '%s+%s'",
             name, exchange, correlation);
  TSL_TRY(xc_library_libxc.names(&library));
  while (library[n] != NULL) n++;
  TSL_TRY(tsl_alloc(XC_N_OWN + 2 * n + 1, sizeof *list, "names of functionals", (void **)&list));
  write_nearest(name, list, fill_candidates(library, list), text, sizeof text);
  if (xc_library_libxc.version() == NULL)
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s' has no formulas here%s; this build lacks libxc, which has more "
             "(allowed: " XC_OWN_NAMES "hf and sums of their parts)",
             name, text);
  TSL_FAIL(TSL_ERR_INPUT,
           "unknown functional '%s'%s (allowed: " XC_OWN_NAMES
           "hf, any LDA, GGA or global hybrid of libxc %s, sums with '+')",
           name, text, xc_library_libxc.version());
done:
  TSL_FREE_ALL(list, library);
  return err;
}

/* ---------------------------------------------------------------- one name */

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

static tsl_err add_library(double weight, const char *name, xc_functional *f) {
  tsl_err err = TSL_OK;
  xc_library_info info = {0};
  char full[XC_NAME];
  const char *why;
  if (!library_find(name, full, &info)) {
    err = xc_functional_names_fail_unknown(name);
    goto done;
  }
  why = refusal(info.kind);
  if (why != NULL)
    TSL_FAIL(TSL_ERR_INPUT, "functional '%s' (%s) is %s; allowed are LDAs, GGAs and global hybrids",
             name, info.title, why);
  if (needs_dispersion(full))
    TSL_FAIL(TSL_ERR_INPUT,
             "functional '%s' (%s) is defined with a correction for dispersion or with non-local "
             "correlation, which are not computed here; without them it is another functional",
             name, info.title);
  f->gga |= info.gga;
  f->exchange += weight * info.exchange;
  TSL_TRY(add_term(weight, full, f));
done:
  return err;
}

tsl_err xc_name_add(double weight, const char *name, xc_functional *f) {
  const int own = own_find(name), part = part_find(name);
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
  return add_library(weight, name, f);
}
