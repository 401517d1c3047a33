/* Pairs of primitives, and from their Hermite expansion overlap, kinetic energy, dipole and
 * attraction by point charges. */
#include "xc_one.h"

#include "xc_ecp_local.h"
#include "xc_primitives.h"

#include <math.h>
#include <string.h>

enum { BLOCK = XC_ONE_BLOCK };

void xc_primitives_set(xc_primitives *q, const xc_shell *a, const xc_shell *b, int i, int j,
                       int raise, int extra) {
  q->a = a, q->b = b;
  q->alpha = a->exponent[i], q->beta = b->exponent[j];
  q->p = q->alpha + q->beta;
  q->factor = a->coefficient[i] * b->coefficient[j];
  for (int x = 0; x < 3; x++) {
    const double ab = a->at[x] - b->at[x];
    q->at[x] = (q->alpha * a->at[x] + q->beta * b->at[x]) / q->p;
    xc_expansion_fill(&q->e[x], a->l + raise, b->l + extra, q->at[x] - a->at[x],
                      q->at[x] - b->at[x], q->p, exp(-q->alpha * q->beta / q->p * ab * ab));
  }
}

void xc_primitives_density(const xc_basis *basis, const xc_shell *a, const xc_shell *b,
                           const double *density, double *block) {
  const double times = a == b ? 1 : 2;
  xc_harmonics_density(&xc_one_tables_get()->harmonics, a, b,
                       density + a->first * basis->n + b->first, basis->n, block);
  for (int k = 0; k < XC_CARTESIANS(a->l) * XC_CARTESIANS(b->l); k++) block[k] *= times;
}

/* Integrals of an operator over a pair of primitives: n_blocks matrices at a time. */
typedef struct task {
  /* value of matrix which for Cartesian functions with powers i and j */
  double (*element)(const xc_primitives *q, const void *state, int which, const int i[3],
                    const int j[3]);
  /* OPTIONAL: once a pair, before its elements; false: the pair adds nothing */
  bool (*prepare)(const xc_primitives *q, void *state);
  void *state;
  int n_blocks, extra; /* extra: degree that the operator adds to b */
  double *const *matrix;
} task;

static void add_pair(const xc_primitives *q, const task *what, double block[3][BLOCK]) {
  const int na = XC_CARTESIANS(q->a->l), nb = XC_CARTESIANS(q->b->l);
  const xc_one_tables *tables = xc_one_tables_get();
  if (what->prepare != NULL && !what->prepare(q, what->state)) return;
  for (int k = 0; k < what->n_blocks; k++)
    for (int i = 0; i < na; i++)
      for (int j = 0; j < nb; j++)
        block[k][i * nb + j] +=
            what->element(q, what->state, k, tables->power[q->a->l][i], tables->power[q->b->l][j]);
}

static void xc_one_store(const xc_basis *basis, const xc_shell *a, const xc_shell *b,
                         const double *block, double *matrix) {
  const int na = xc_shell_size(a), nb = xc_shell_size(b);
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++) {
      matrix[(a->first + i) * basis->n + b->first + j] = block[i * nb + j];
      matrix[(b->first + j) * basis->n + a->first + i] = block[i * nb + j];
    }
}

static void do_shells(const xc_basis *basis, const xc_shell *a, const xc_shell *b,
                      const task *what) {
  double block[3][BLOCK], out[BLOCK];
  xc_primitives q;
  const size_t used = (size_t)(XC_CARTESIANS(a->l) * XC_CARTESIANS(b->l)) * sizeof **block;
  for (int k = 0; k < what->n_blocks; k++) memset(block[k], 0, used);
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < b->n; j++) {
      xc_primitives_set(&q, a, b, i, j, 0, what->extra);
      add_pair(&q, what, block);
    }
  for (int k = 0; k < what->n_blocks; k++) {
    xc_harmonics_block(&xc_one_tables_get()->harmonics, a, b, block[k], out);
    xc_one_store(basis, a, b, out, what->matrix[k]);
  }
}

static void do_batch(const xc_basis *basis, int64_t lo, int64_t hi, const task *what) {
  for (int64_t a = lo; a < hi; a++)
    for (int64_t b = 0; b <= a; b++) do_shells(basis, &basis->shells[a], &basis->shells[b], what);
}

/* ------------------------------------------- overlap, kinetic energy, dipole */

/* which 0: overlap, 1: kinetic. */
static double overlap_kinetic(const xc_primitives *q, const void *state, int which, const int i[3],
                              const int j[3]) {
  const double *factor = state;
  double s[3], t[3];
  for (int x = 0; x < 3; x++) {
    s[x] = q->e[x].of[i[x]][j[x]][0];
    t[x] = which == 0 ? 0 : xc_primitives_kinetic(q, x, i[x], j[x]);
  }
  if (which == 0) return *factor * s[0] * s[1] * s[2];
  return *factor * (t[0] * s[1] * s[2] + s[0] * t[1] * s[2] + s[0] * s[1] * t[2]);
}

static bool prepare_overlap(const xc_primitives *q, void *state) {
  *(double *)state = xc_primitives_overlap(q);
  return true;
}

void xc_overlap_kinetic(const xc_basis *basis, int64_t lo, int64_t hi, double *overlap,
                        double *kinetic) {
  double *const matrix[2] = {overlap, kinetic}, factor = 0;
  const task what = {overlap_kinetic, prepare_overlap, &factor, 2, 2, matrix};
  do_batch(basis, lo, hi, &what);
}

typedef struct lever {
  const double *origin;
  double factor;
} lever;

/* x - origin = (x - P) + (P - origin): Hermite coefficients 1 and 0. */
static double dipole_element(const xc_primitives *q, const void *state, int which, const int i[3],
                             const int j[3]) {
  const lever *at = state;
  double value = at->factor;
  for (int x = 0; x < 3; x++) {
    const double *e = q->e[x].of[i[x]][j[x]];
    const double one = i[x] + j[x] > 0 ? e[1] : 0;
    value *= x == which ? one + (q->at[x] - at->origin[x]) * e[0] : e[0];
  }
  return value;
}

static bool prepare_dipole(const xc_primitives *q, void *state) {
  ((lever *)state)->factor = xc_primitives_overlap(q);
  return true;
}

void xc_dipole(const xc_basis *basis, const double origin[3], int64_t lo, int64_t hi,
               double *const dipole[3]) {
  lever at = {.origin = origin};
  const task what = {dipole_element, prepare_dipole, &at, 3, 0, dipole};
  do_batch(basis, lo, hi, &what);
}

/* ---------------------------------------------------------------- charges */

typedef struct cloud {
  const xc_charge *charges;
  const xc_ecp_centre *centres;
  int64_t n; /* of either */
  double factor, sum[XC_HERMITES];
} cloud;

static double attraction_element(const xc_primitives *q, const void *state, int which,
                                 const int i[3], const int j[3]) {
  const cloud *c = state;
  double value = 0;
  (void)which;
  for (int t = 0; t <= i[0] + j[0]; t++)
    for (int u = 0; u <= i[1] + j[1]; u++) {
      const double tu = q->e[0].of[i[0]][j[0]][t] * q->e[1].of[i[1]][j[1]][u];
      for (int v = 0; v <= i[2] + j[2]; v++)
        value += tu * q->e[2].of[i[2]][j[2]][v] * c->sum[xc_hermite_at(t, u, v)];
    }
  return c->factor * value;
}

static void do_cloud(const xc_basis *basis, int64_t lo, int64_t hi, cloud *c,
                     bool (*prepare)(const xc_primitives *q, void *state), double *matrix) {
  double *const list[1] = {matrix};
  const task what = {attraction_element, prepare, c, 1, 0, list};
  do_batch(basis, lo, hi, &what);
}

/* False when the pair overlaps too little to feel any charge. */
static bool prepare_attraction(const xc_primitives *q, void *state) {
  cloud *c = state;
  if (!xc_primitives_feel(q, &c->factor)) return false;
  xc_hermite_charges(xc_one_tables_get(), q->a->l + q->b->l, q->p, q->at, c->charges, c->n, c->sum);
  return true;
}

void xc_attraction(const xc_basis *basis, const xc_charge *charges, int64_t n, int64_t lo,
                   int64_t hi, double *attraction) {
  cloud c = {.charges = charges, .n = n};
  do_cloud(basis, lo, hi, &c, prepare_attraction, attraction);
}

/* ---------------------------------------------- effective core potentials */

static bool prepare_local(const xc_primitives *q, void *state) {
  cloud *c = state;
  const int l = q->a->l + q->b->l, count = xc_hermite_count(l);
  double one[XC_HERMITES];
  if (!xc_primitives_feel(q, &c->factor)) return false;
  c->factor = q->factor;
  memset(c->sum, 0, (size_t)count * sizeof *c->sum);
  for (int64_t k = 0; k < c->n; k++) {
    xc_ecp_hermites(&c->centres[k], l, q->p, q->at, one);
    for (int h = 0; h < count; h++) c->sum[h] += one[h];
  }
  return true;
}

void xc_ecp_local(const xc_basis *basis, const xc_ecp_centre *centres, int64_t n, int64_t lo,
                  int64_t hi, double *matrix) {
  cloud c = {.centres = centres, .n = n};
  do_cloud(basis, lo, hi, &c, prepare_local, matrix);
}

void xc_nuclei(const xc_molecule *molecule, xc_charge *charges) {
  for (int64_t k = 0; k < molecule->n_atoms; k++) {
    charges[k].q = xc_nuclear(&molecule->atoms[k]);
    memcpy(charges[k].at, molecule->atoms[k].at, sizeof charges[k].at);
  }
}
