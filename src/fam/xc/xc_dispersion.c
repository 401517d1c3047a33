/** @file xc_dispersion.c  D3(BJ) and D4 through the C interfaces of simple-dftd3 and DFT-D4. */
#include "xc_dispersion.h"

#include "xc_functional_own.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const xc_dispersion_words[] = {"none", "d3bj", "d4", NULL}; /* xc_dispersion_kind */

/** The functions of a library that both have alike. Handles are opaque. */
typedef struct interface {
  int (*version)(void); /**< 10000 major + 100 minor + patch */
  void *(*new_error)(void);
  int (*check_error)(void *error);
  void (*get_error)(void *error, char *text, const int *room);
  void (*delete_error)(void **error);
  void (*delete_structure)(void **structure);
  void (*delete_model)(void **model);
  void *(*load_damping)(void *error, char *method, bool three_body);
  void (*delete_damping)(void **damping);
  void (*compute)(void *error, void *structure, void *model, void *damping, double *energy,
                  double *gradient, double *sigma);
  void *(*new_model)(void *error, void *structure);
  union { /* D4 also takes the molecule's charge */
    void *(*d3)(void *error, int n, const int *numbers, const double *at, const double *lattice,
                const bool *periodic);
    void *(*d4)(void *error, int n, const int *numbers, const double *at, const double *charge,
                const double *lattice, const bool *periodic);
  } new_structure;
} interface;

/** What the kinds are called, and where they come from. */
static const struct {
  const char *title, *origin, *prefix, *file;
  const char *new_model; /**< without the prefix */
} kinds[] = {
    [XC_DISPERSION_D3BJ] = {"D3(BJ)", "simple-dftd3", "dftd3", "libs-dftd3.so", "new_d3_model"},
    [XC_DISPERSION_D4] = {"D4", "DFT-D4", "dftd4", "libdftd4.so", "new_d4_model"}};

/* ---------------------------------------------------------------- library */

/** Load a library; it stays loaded. */
static tsl_err open_library(xc_dispersion_kind kind, void **handle) {
  tsl_err err = TSL_OK;
  const char *folder = getenv("TSL_DISPERSION"), *file = kinds[kind].file;
  char path[4096];
  const bool asked = folder != NULL && folder[0] != '\0';
  if (!asked) folder = TSL_DISPERSION_FOLDER;
  if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path)
    TSL_FAIL(TSL_ERR_INPUT, "TSL_DISPERSION: the folder's name is too long");
  *handle = folder[0] == '\0' ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL && !asked) *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (*handle == NULL)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s needs %s of %s, which is not here (%s); install it (PyPI: pyscf-dispersion) and "
             "set TSL_DISPERSION to its folder",
             kinds[kind].title, file, kinds[kind].origin, dlerror());
done:
  return err;
}

static tsl_err find_symbol(void *handle, xc_dispersion_kind kind, const char *name, void *to) {
  tsl_err err = TSL_OK;
  char full[64];
  (void)snprintf(full, sizeof full, "%s_%s", kinds[kind].prefix, name);
  void *found = dlsym(handle, full);
  if (found == NULL)
    TSL_FAIL(TSL_ERR_INPUT, "%s of this host has no %s; %s is needed", kinds[kind].file, full,
             kind == XC_DISPERSION_D4 ? "DFT-D4 3.0 or newer" : "simple-dftd3 0.4 or newer");
  memcpy(to, &found, sizeof found); /* a function's address, as POSIX has it */
done:
  return err;
}

static tsl_err find_interface(xc_dispersion_kind kind, interface *l) {
  tsl_err err = TSL_OK;
  void *handle = NULL;
  const struct {
    const char *name;
    void *to;
  } symbols[] = {
      {"get_version", &l->version},           {"new_error", &l->new_error},
      {"check_error", &l->check_error},       {"get_error", &l->get_error},
      {"delete_error", &l->delete_error},     {"delete_structure", &l->delete_structure},
      {"delete_model", &l->delete_model},     {"load_rational_damping", &l->load_damping},
      {"delete_param", &l->delete_damping},   {"get_dispersion", &l->compute},
      {kinds[kind].new_model, &l->new_model}, {"new_structure", &l->new_structure}};
  TSL_TRY(open_library(kind, &handle));
  for (size_t k = 0; k < sizeof symbols / sizeof symbols[0]; k++)
    TSL_TRY(find_symbol(handle, kind, symbols[k].name, symbols[k].to));
done:
  return err;
}

/** What the library complains about. */
static tsl_err check_error(const interface *l, xc_dispersion_kind kind, void *error,
                           const char *what) {
  tsl_err err = TSL_OK;
  char text[512] = "";
  const int room = (int)sizeof text;
  if (l->check_error(error) == 0) goto done;
  l->get_error(error, text, &room);
  text[strcspn(text, "\n")] = '\0';
  TSL_FAIL(TSL_ERR_INPUT, "%s: %s (%s: %s)", kinds[kind].title, what, kinds[kind].origin, text);
done:
  return err;
}

/* ---------------------------------------------------------------- molecule */

/** The functional's name for the library: letters and digits. */
static tsl_err method_of(const xc_functional *functional, xc_dispersion_kind kind,
                         char method[XC_NAME]) {
  tsl_err err = TSL_OK;
  const char *own = xc_own_name(functional->own);
  if (functional->own >= 0 && functional->n_terms == 0) {
    (void)snprintf(method, XC_NAME, "%s", own);
    goto done;
  }
  if (strpbrk(functional->name, "+*") != NULL)
    TSL_FAIL(TSL_ERR_INPUT, "%s has no parameters for a sum, '%s'; it needs a functional's name",
             kinds[kind].title, functional->name);
  xc_squeeze(functional->name, method);
done:
  return err;
}

/** Everything that the library keeps for one computation. */
typedef struct session {
  void *error, *structure, *model, *damping;
} session;

static void close_session(const interface *l, session *s) {
  if (s->damping != NULL) l->delete_damping(&s->damping);
  if (s->model != NULL) l->delete_model(&s->model);
  if (s->structure != NULL) l->delete_structure(&s->structure);
  if (s->error != NULL) l->delete_error(&s->error);
}

static tsl_err compute(const interface *l, xc_dispersion_kind kind, const char *name, double charge,
                       int n, const int *numbers, const double *at, xc_dispersion *out) {
  tsl_err err = TSL_OK;
  session s = {.error = l->new_error()};
  char method[XC_NAME], what[XC_NAME + 64];
  (void)snprintf(method, sizeof method, "%s", name);
  (void)snprintf(what, sizeof what, "no parameters for the functional '%s'", name);
  s.structure = kind == XC_DISPERSION_D4
                    ? l->new_structure.d4(s.error, n, numbers, at, &charge, NULL, NULL)
                    : l->new_structure.d3(s.error, n, numbers, at, NULL, NULL);
  TSL_TRY(check_error(l, kind, s.error, "the molecule is refused"));
  s.model = l->new_model(s.error, s.structure);
  TSL_TRY(check_error(l, kind, s.error, "no model of the molecule"));
  s.damping = l->load_damping(s.error, method, kind == XC_DISPERSION_D4);
  TSL_TRY(check_error(l, kind, s.error, what));
  l->compute(s.error, s.structure, s.model, s.damping, &out->energy, out->gradient[0], NULL);
  TSL_TRY(check_error(l, kind, s.error, "not computed"));
done:
  close_session(l, &s);
  return err;
}

tsl_err xc_dispersion_compute(xc_dispersion_kind kind, const xc_functional *functional,
                              const xc_molecule *m, xc_dispersion *out) {
  tsl_err err = TSL_OK;
  interface l;
  int *numbers = NULL;
  int64_t n = 0;
  double *at = NULL;
  char method[XC_NAME];
  *out = (xc_dispersion){.kind = kind};
  if (kind == XC_DISPERSION_NONE) goto done;
  TSL_TRY(method_of(functional, kind, method));
  TSL_TRY(find_interface(kind, &l));
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *numbers, "atomic numbers", (void **)&numbers));
  TSL_TRY(tsl_alloc(m->n_atoms, 3 * sizeof *at, "atoms", (void **)&at));
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *out->gradient, "gradient of dispersion",
                    (void **)&out->gradient));
  for (int64_t a = 0; a < m->n_atoms; a++) {
    if (m->atoms[a].ghost) continue;
    numbers[n] = m->atoms[a].z;
    memcpy(at + 3 * n++, m->atoms[a].at, 3 * sizeof *at);
  }
  TSL_TRY(compute(&l, kind, method, m->charge, (int)n, numbers, at, out));
  for (int64_t a = m->n_atoms - 1; a >= 0; a--) { /* ghosts have none */
    const bool ghost = m->atoms[a].ghost != 0;
    if (!ghost) n--;
    for (int x = 0; x < 3; x++) out->gradient[a][x] = ghost ? 0 : out->gradient[n][x];
  }
  const int version = l.version();
  (void)snprintf(out->text, sizeof out->text, "%s dispersion for %.30s, by %s %d.%d.%d",
                 kinds[kind].title, method, kinds[kind].origin, version / 10000,
                 version / 100 % 100, version % 100);
done:
  TSL_FREE_ALL(numbers, at);
  if (err != TSL_OK) xc_dispersion_clear(out);
  return err;
}

void xc_dispersion_clear(xc_dispersion *dispersion) {
  tsl_free(dispersion->gradient);
  *dispersion = (xc_dispersion){.kind = XC_DISPERSION_NONE};
}
