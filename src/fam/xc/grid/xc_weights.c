/* Weights of a fuzzy partition of space: Becke's and Stratmann, Scuseria and Frisch's cells. */
#include "xc_weights_own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = XC_CELL_LANES, PIECE = XC_CELL_PIECE };

/* ------------------------------------------------------------------ create */

static double adjust_radius(int32_t adjust, int z) {
  if (adjust == XC_ADJUST_NONE) return 1;
  if (adjust == XC_ADJUST_SLATER) return xc_slater_radius(z);
  return adjust == XC_ADJUST_BRAGG ? xc_bragg_radius(z) : sqrt(xc_bragg_radius(z));
}

/** Becke's a_ij; he holds it within 1/2, so that nu grows with mu. Cells by the seed's radii, as
 *  the seed has them, do not: where radii differ by more than 1 + sqrt(2) that is another
 *  partition. */
static double size_shift(int32_t adjust, double own, double other) {
  const double a = 0.25 * (other / own - own / other);
  return adjust == XC_ADJUST_SLATER ? a : fmin(0.5, fmax(-0.5, a));
}

/** The mu below which mu + a (1 - mu^2) <= -XC_SSF_A for all |a| <= shift, without its sign. */
static double step_end(double shift) {
  const double t = shift + XC_SSF_A;
  return 2 * t / (1 + sqrt(1 + 4 * shift * t)) * (1 + 1e-12);
}

static double distance(const double *a, const double *b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return sqrt(x * x + y * y + z * z);
}

static tsl_err fill_pairs(const xc_grid_rule *rule, const xc_atom *atoms, xc_partition *p) {
  tsl_err err = TSL_OK;
  double largest = 0;
  for (int64_t i = 0; i < p->n; i++) {
    memcpy(&p->at[3 * i], atoms[i].at, sizeof atoms[i].at);
    for (int64_t j = 0; j < p->n; j++) {
      const double r = distance(atoms[i].at, atoms[j].at);
      const bool self = i == j;
      if (!self && !(r >= XC_NEAREST))
        TSL_FAIL(TSL_ERR_INPUT,
                 "atoms %lld and %lld are %.3g Angstrom apart; at least 0.1 Angstrom is needed",
                 (long long)i + 1, (long long)j + 1, r * XC_BOHR);
      p->inverse[i * p->n + j] = self ? 0 : 1 / r;
      const double a = size_shift(rule->adjust, adjust_radius(rule->adjust, atoms[i].z),
                                  adjust_radius(rule->adjust, atoms[j].z));
      p->shift[i * p->n + j] = self ? -1 : a;
      largest = fmax(largest, fabs(a));
    }
  }
  p->over = step_end(largest);
done:
  return err;
}

tsl_err xc_partition_create(const xc_grid_rule *rule, const xc_atom *atoms, int64_t n_atoms,
                            xc_partition **out) {
  tsl_err err = TSL_OK;
  void *memory = NULL, *at = NULL, *inverse = NULL, *shift = NULL;
  int64_t pairs = 0;
  const int64_t room = n_atoms > 0 ? n_atoms : 1;
  *out = NULL;
  TSL_TRY(xc_grid_check(rule));
  if (!tsl_mul_i64(room, room, &pairs))
    TSL_FAIL(TSL_ERR_INPUT, "grid: %lld atoms have too many pairs", (long long)n_atoms);
  TSL_TRY(tsl_alloc(1, sizeof(xc_partition), "partition", &memory));
  xc_partition *p = *out = memory;
  *p = (xc_partition){.n = n_atoms, .cut = rule->cut, .becke = rule->scheme == XC_BECKE};
  TSL_TRY(tsl_alloc(room, 3 * sizeof(double), "positions of the atoms", &at));
  p->at = at;
  TSL_TRY(tsl_alloc(pairs, sizeof(double), "distances of the atoms", &inverse));
  p->inverse = inverse;
  TSL_TRY(tsl_alloc(pairs, sizeof(double), "size adjustment of the atoms", &shift));
  p->shift = shift;
  TSL_TRY(fill_pairs(rule, atoms, p));
done:
  if (err != TSL_OK) xc_partition_destroy(out);
  return err;
}

void xc_partition_destroy(xc_partition **partition) {
  if (*partition == NULL) return;
  TSL_FREE_ALL((*partition)->at, (*partition)->inverse, (*partition)->shift, *partition);
  *partition = NULL;
}

/* ------------------------------------------------------------------- frame */

/**
 * The atoms in the order of their distance from one of them, the owner, so that what matters to
 * its points comes first. Rows are padded to LANES with atoms whose factor is 1.
 */
typedef struct frame {
  const xc_partition *p;
  int64_t row; /**< n padded */
  int32_t owner;
  double *far;             /**< [row] distance from the owner, ascending; far[0] = 0 */
  double *x, *y, *z, *r;   /**< [row] positions, and distances from the point at hand */
  double *inverse, *shift; /**< [n][row] */
  double *block;           /**< all of the above */
  struct place {
    double far;
    int64_t atom;
  } * order;      /**< [n] */
  int64_t *cells; /**< [n] ssf_cells */
} frame;

static tsl_err frame_create(const xc_partition *p, frame *f) {
  tsl_err err = TSL_OK;
  void *block = NULL, *order = NULL, *cells = NULL;
  int64_t doubles = 0;
  *f = (frame){.p = p, .row = (p->n + LANES - 1) / LANES * LANES, .owner = -1};
  if (!tsl_mul_i64(f->row, 5 + 2 * p->n, &doubles))
    TSL_FAIL(TSL_ERR_INPUT, "grid: %lld atoms have too many pairs", (long long)p->n);
  TSL_TRY(tsl_alloc(doubles, sizeof(double), "neighbours of an atom", &block));
  f->block = block;
  f->far = f->block, f->x = f->far + f->row, f->y = f->x + f->row, f->z = f->y + f->row;
  f->r = f->z + f->row, f->inverse = f->r + f->row, f->shift = f->inverse + p->n * f->row;
  TSL_TRY(tsl_alloc(p->n, sizeof *f->order, "order of the neighbours", &order));
  f->order = order;
  TSL_TRY(tsl_alloc(p->n, sizeof *f->cells, "cells of a point", &cells));
  f->cells = cells;
done:
  return err;
}

static void frame_clear(frame *f) {
  TSL_FREE_ALL(f->block, f->order, f->cells);
  *f = (frame){0};
}

static int by_distance(const void *left, const void *right) {
  const struct place *a = left, *b = right;
  if (a->far != b->far) return a->far < b->far ? -1 : 1;
  return a->atom < b->atom ? -1 : a->atom > b->atom;
}

/** Put the owner's neighbours in order. */
static void frame_set(frame *f, int32_t owner) {
  const xc_partition *p = f->p;
  for (int64_t i = 0; i < p->n; i++)
    f->order[i] = (struct place){distance(&p->at[3 * owner], &p->at[3 * i]), i};
  qsort(f->order, (size_t)p->n, sizeof *f->order, by_distance);
  for (int64_t i = 0; i < f->row; i++) {
    const double *at = &p->at[3 * f->order[i < p->n ? i : 0].atom];
    f->far[i] = i < p->n ? f->order[i].far : INFINITY;
    f->x[i] = at[0], f->y[i] = at[1], f->z[i] = at[2];
  }
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t k = 0; k < f->row; k++) {
      const int64_t pair = f->order[i].atom * p->n + f->order[k < p->n ? k : 0].atom;
      f->inverse[i * f->row + k] = k < p->n ? p->inverse[pair] : 0;
      f->shift[i * f->row + k] = k < p->n ? p->shift[pair] : -1;
    }
  f->owner = owner;
}

/** Distances of the first n atoms of the frame from a point. */
TSL_LEVELS static void set_distances(frame *f, int64_t from, int64_t n, const double at[3]) {
  for (int64_t k = from; k < n; k++) {
    const double x = at[0] - f->x[k], y = at[1] - f->y[k], z = at[2] - f->z[k];
    f->r[k] = sqrt(x * x + y * y + z * z);
  }
}

/** Of the frame's atoms those within reach of the owner, a multiple of LANES, at least from. */
static int64_t within(const frame *f, double reach, int64_t from) {
  int64_t n = from;
  while (n < f->row && f->far[n] <= reach) n += LANES;
  return n < f->row ? n : f->row;
}

/* ------------------------------------------------------------------- cells */

/** Numbers of LANES atoms. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

static inline double product_of(const double s[LANES]) {
  return ((s[0] * s[1]) * (s[2] * s[3])) * ((s[4] * s[5]) * (s[6] * s[7]));
}

/** What a step's polynomial is of, and the polynomial of lanes. The bounds are kept in a loop of
 *  their own: the compiler makes branches of them where it sees what they are for. */
#define BECKE_OF(nu) (nu)
#define BECKE_LANES(t) (0.5 - 0.5 * XC_BECKE_TURN(XC_BECKE_TURN(XC_BECKE_TURN(t))))
#define SSF_OF(nu) ssf_bounded(nu)
#define SSF_LANES(t) XC_SSF_STEP(t, (t) * (t))

/** The cell of atom j of the frame against the first n atoms, n a multiple of LANES; 0 once it is
 *  at most stop, which is looked at piece by piece: most cells end in the first, which holds the
 *  owner's nearest. A lane has the factors of every eighth atom: few products cross lanes. */
#define CELL(name, OF, STEP)                                                         \
  TSL_LEVELS static double name(const frame *f, int64_t j, int64_t n, double stop) { \
    const double own = f->r[j];                                                      \
    double product = 1, s[PIECE];                                                    \
    lanes all = {1, 1, 1, 1, 1, 1, 1, 1};                                            \
    for (int64_t k = 0, piece = LANES; k < n; k += piece, piece = PIECE) {           \
      const double *r = f->r + k, *inverse = f->inverse + j * f->row + k;            \
      const double *shift = f->shift + j * f->row + k;                               \
      if (piece > n - k) piece = n - k;                                              \
      const int64_t m = piece & -(int64_t)LANES;                                     \
      for (int64_t u = 0; u < m; u++) {                                              \
        const double mu = (own - r[u]) * inverse[u];                                 \
        s[u] = OF(mu + shift[u] * (1 - mu * mu));                                    \
      }                                                                              \
      for (int64_t u = 0; u < m; u += LANES) {                                       \
        const lanes t = *(const lanes *)(s + u);                                     \
        all *= STEP(t);                                                              \
      }                                                                              \
      memcpy(s, &all, LANES * sizeof *s);                                            \
      product = product_of(s);                                                       \
      if (product <= stop) return 0;                                                 \
    }                                                                                \
    return product;                                                                  \
  }
CELL(becke_cell, BECKE_OF, BECKE_LANES)
CELL(ssf_cell, SSF_OF, SSF_LANES)

static int64_t nearest_of(const frame *f, int64_t n) {
  int64_t nearest = 0;
  for (int64_t k = 1; k < n; k++)
    if (f->r[k] < f->r[nearest]) nearest = k;
  return nearest;
}

/** The owner's share of a point by Becke's cells; 0 when volume times share is below the cut. */
static double becke_share(frame *f, const double at[3], double volume) {
  const int64_t n = f->p->n;
  set_distances(f, 0, f->row, at);
  const int64_t m = nearest_of(f, n);
  const double nearest = becke_cell(f, m, f->row, 0);
  const double least =
      0.5 * f->p->cut / fabs(volume) * nearest; /* the share is at most own/nearest */
  const double own = m == 0 ? nearest : becke_cell(f, 0, f->row, least);
  if (own <= 0) return 0;
  const double stop = 1e-16 * fmax(own, nearest);
  double sum = m == 0 ? own : own + nearest;
  for (int64_t j = 1; j < n; j++)
    if (j != m) sum += becke_cell(f, j, f->row, stop);
  return own / sum;
}

/** Atoms of the frame's first n whose cells by SSF's step hold something of a point, and the owner,
 *  by rising distance: the step from them to atom m, the nearest, is not over. Most other cells are
 *  0 for that step alone, which is 0 exactly. @return how many of them */
TSL_LEVELS static int64_t ssf_cells(frame *f, int64_t m, int64_t n) {
  const double *inverse = f->inverse + m * f->row, *shift = f->shift + m * f->row;
  const double nearest = f->r[m];
  int64_t cells = 1;
  f->cells[0] = 0;
  for (int64_t j = 1; j < n; j++) {
    const double mu =
        (nearest - f->r[j]) * inverse[j]; /* of m against j: the other one's negative */
    f->cells[cells] = j;
    cells += j == m || mu + shift[j] * (1 - mu * mu) > -XC_SSF_A;
  }
  return cells;
}

/**
 * The same by SSF's cells, where only neighbours count: between i and j the step is over, and 1
 * for i, when r_j >= ratio r_i, ratio = (1 + over)/(1 - over), because R_ij <= r_i + r_j.
 */
static double ssf_share(frame *f, const double at[3]) {
  const double over = f->p->over, ratio = (1 + over) / (1 - over);
  const double r = distance(at, &f->p->at[3 * f->owner]);
  const int64_t n = f->p->n;
  if (n == 1 || r <= 0.5 * (1 - over) * f->far[1]) return 1;
  const int64_t rivals = within(f, (1 + ratio) * r, 0), others = rivals < n ? rivals : n;
  set_distances(f, 0, rivals, at);
  const double own = ssf_cell(f, 0, rivals, 0);
  if (own <= 0) return 0;
  const int64_t cells = ssf_cells(f, nearest_of(f, others), others);
  double sum = own;
  for (int64_t k = 1, set = rivals; k < cells; k++) {
    const int64_t j = f->cells[k], near = within(f, r + ratio * f->r[j], 0);
    if (near > set) set_distances(f, set, near, at), set = near;
    sum += ssf_cell(f, j, near, 0);
  }
  return own / sum;
}

tsl_err xc_partition_weights(const xc_partition *partition, xc_grid *grid, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  frame f = {0};
  if (lo < 0 || hi > grid->n || partition->n != grid->n_atoms)
    TSL_FAIL(TSL_ERR_INTERNAL, "points %lld to %lld of a grid of %lld, %lld atoms of %lld",
             (long long)lo, (long long)hi, (long long)grid->n, (long long)partition->n,
             (long long)grid->n_atoms);
  if (lo >= hi) goto done;
  TSL_TRY(frame_create(partition, &f));
  for (int64_t i = lo; i < hi; i++) {
    const double at[3] = {grid->x[i], grid->y[i], grid->z[i]};
    if (grid->atom[i] != f.owner) frame_set(&f, grid->atom[i]);
    grid->w[i] *= partition->becke ? becke_share(&f, at, grid->w[i]) : ssf_share(&f, at);
  }
done:
  frame_clear(&f);
  return err;
}
