/* Second derivatives of the energy by differences of Fock matrices, and the way down. */
#include "xc_stability.h"

#include "xc_matrix.h"

#include "memory.h"

#include <math.h>
#include <string.h>

/* Length of the rotations that products are made of; of the one that leads downhill. */
static const double small_turn = 1e-5, far_turn = 0.5;
/* Residual at the end, hartree, and products before it is given up. An eigenvalue is off by the
 * square of the residual over its distance to the next. */
static const double end_residual = 1e-3;
enum { MOST_PRODUCTS = 80 };
/* An eigenvalue of 0 is that of a rotation that changes nothing, as of a whole open shell. */
static const double zero = 1e-4;

static int64_t empty(const xc_scf *scf, int t) {
  return scf->m - scf->electrons[t];
}

static int64_t rotations(const xc_scf *scf) {
  int64_t sum = 0;
  for (int t = 0; t < scf->n_spin; t++) sum += scf->electrons[t] * empty(scf, t);
  return sum;
}

/* out[i][a] = C_i^T F C_a of all spins, orbitals of the field. */
static tsl_err project(const xc_scf *scf, const xc_stability *s, double *out) {
  tsl_err err = TSL_OK;
  const int64_t n = scf->n;
  for (int t = 0; t < scf->n_spin; t++) {
    const int64_t o = scf->electrons[t], v = empty(scf, t);
    const double *c = s->orbitals[t];
    if (o > 0 && v > 0) {
      TSL_TRY(xc_matrix_product(o, n, n, 1, c, false, scf->fock[t], false, s->rows[0]));
      TSL_TRY(xc_matrix_product(o, v, n, 1, s->rows[0], false, c + o * n, true, out));
    }
    out += o * v;
  }
done:
  return err;
}

/* Occupied orbitals of spin t turned by x [occupied][empty] and made orthonormal: L^-1 (C_i + t
 * x_ai C_a), 1 + t^2 x x^T = L L^T. */
static tsl_err turn_spin(xc_scf *scf, const xc_stability *s, int t, double length,
                         const double *x) {
  tsl_err err = TSL_OK;
  const int64_t n = scf->n, o = scf->electrons[t], v = empty(scf, t);
  const double *c = s->orbitals[t];
  double *moved = s->rows[0], *overlap = s->rows[1];
  if (o == 0 || v == 0) goto done;
  TSL_TRY(xc_matrix_product(o, n, v, length, x, false, c + o * n, false, moved));
  xc_matrix_add(o * n, 1, c, moved);
  TSL_TRY(xc_matrix_product(o, o, v, length * length, x, false, x, true, overlap));
  for (int64_t i = 0; i < o; i++) overlap[i * (o + 1)] += 1;
  TSL_TRY(xc_matrix_inverse_factor(o, "turned orbitals", overlap));
  TSL_TRY(xc_matrix_product(o, n, o, 1, overlap, true, moved, false, scf->orbitals[t]));
  TSL_TRY(xc_matrix_outer(n, o, 1, scf->orbitals[t], 0, scf->density[t]));
done:
  return err;
}

static tsl_err turn(xc_scf *scf, const xc_stability *s, double length, const double *x) {
  tsl_err err = TSL_OK;
  for (int t = 0; t < scf->n_spin; t++) {
    TSL_TRY(turn_spin(scf, s, t, length, x));
    scf->filled[t] = scf->electrons[t];
    x += scf->electrons[t] * empty(scf, t);
  }
done:
  return err;
}

static tsl_err ask(xc_scf *scf, xc_stability *s, double length) {
  tsl_err err = TSL_OK;
  TSL_TRY(turn(scf, s, length, xc_davidson_asks(&s->davidson)));
  xc_scf_vary(scf);
done:
  return err;
}

/* ------------------------------------------------------------------- begin */

static tsl_err take_memory(const xc_scf *scf, xc_stability *s) {
  tsl_err err = TSL_OK;
  const int64_t all = rotations(scf), n = scf->n;
  double **const squares[3] = {&s->xc, &s->density, &s->fock};
  if (s->base != NULL) goto done;
  for (int k = 0; k < 3; k++)
    TSL_TRY(xc_matrix_create(scf->n_spin * n, n, "the field's matrices", squares[k]));
  for (int t = 0; t < scf->n_spin; t++)
    TSL_TRY(xc_matrix_create(scf->m, n, "the field's orbitals", &s->orbitals[t]));
  for (int k = 0; k < 2; k++) TSL_TRY(xc_matrix_create(scf->m, n, "orbitals", &s->rows[k]));
  TSL_TRY(xc_matrix_create(all, 1, "rotations", &s->base));
  TSL_TRY(xc_matrix_create(all, 1, "rotations", &s->image));
done:
  return err;
}

static void keep(const xc_scf *scf, xc_stability *s) {
  const int64_t nn = scf->n * scf->n;
  for (int t = 0; t < scf->n_spin; t++) {
    xc_matrix_copy(nn, scf->density[t], s->density + t * nn);
    xc_matrix_copy(nn, scf->fock[t], s->fock + t * nn);
    xc_matrix_copy(scf->m * scf->n, scf->orbitals[t], s->orbitals[t]);
  }
}

/* Differences of levels; @param[out] gaps  [rotations] */
static void set_gaps(const xc_scf *scf, double *gaps) {
  for (int t = 0; t < scf->n_spin; t++)
    for (int64_t i = 0; i < scf->electrons[t]; i++)
      for (int64_t a = scf->electrons[t]; a < scf->m; a++)
        *gaps++ = scf->levels[t][a] - scf->levels[t][i];
}

tsl_err xc_stability_begin(xc_scf *scf, xc_stability *s) {
  tsl_err err = TSL_OK;
  const int64_t all = rotations(scf);
  s->known = s->settled = all == 0;
  s->lowest = INFINITY, s->residual = 0;
  if (all == 0) goto done;
  TSL_TRY(take_memory(scf, s));
  keep(scf, s);
  set_gaps(scf, s->image);
  xc_davidson_clear(&s->davidson);
  TSL_TRY(xc_davidson_begin(all, s->image, &s->davidson));
  TSL_TRY(ask(scf, s, 0));
  s->running = true, s->based = false;
done:
  return err;
}

/* -------------------------------------------------------------------- step */

static void put_back(xc_scf *scf, const xc_stability *s) {
  const int64_t nn = scf->n * scf->n;
  for (int t = 0; t < scf->n_spin; t++) {
    xc_matrix_copy(nn, s->density + t * nn, scf->density[t]);
    xc_matrix_copy(nn, s->fock + t * nn, scf->fock[t]);
    xc_matrix_copy(scf->m * scf->n, s->orbitals[t], scf->orbitals[t]);
    scf->filled[t] = 0;
  }
  xc_scf_vary(scf);
}

tsl_err xc_stability_step(xc_scf *scf, const xc_scf_built *built, xc_stability *s) {
  tsl_err err = TSL_OK;
  xc_davidson *d = &s->davidson;
  const double *x = xc_davidson_asks(d);
  bool done = false;
  xc_scf_sum(scf, built);
  s->builds++;
  if (!s->based) { /* the field's density is of the orbitals before, not quite of these */
    TSL_TRY(project(scf, s, s->base));
    TSL_TRY(ask(scf, s, small_turn));
    s->based = true;
    goto done;
  }
  TSL_TRY(project(scf, s, s->image));
  for (int64_t k = 0; k < d->size; k++)
    s->image[k] = d->diagonal[k] * x[k] + (s->image[k] - s->base[k]) / small_turn;
  TSL_TRY(xc_davidson_step(d, s->image, end_residual, &done));
  s->lowest = d->lowest, s->residual = d->residual;
  s->settled = done;
  if (!done && d->products < MOST_PRODUCTS) {
    TSL_TRY(ask(scf, s, small_turn));
    goto done;
  }
  s->running = false, s->known = true;
  put_back(scf, s);
done:
  return err;
}

bool xc_stability_unstable(const xc_stability *s) {
  return s->known && s->lowest < -zero;
}

tsl_err xc_stability_follow(xc_scf *scf, xc_stability *s) {
  tsl_err err = TSL_OK;
  const int64_t nn = scf->n * scf->n;
  TSL_TRY(turn(scf, s, far_turn, s->davidson.best));
  for (int t = 0; t < scf->n_spin; t++) xc_matrix_copy(nn, scf->density[t], s->density + t * nn);
  s->follows++;
  s->known = false;
  const double *const density[2] = {s->density, s->density + (scf->n_spin - 1) * nn};
  TSL_TRY(xc_scf_restart(scf, density, scf->iteration));
done:
  return err;
}

void xc_stability_clear(xc_stability *s) {
  xc_davidson_clear(&s->davidson);
  TSL_FREE_ALL(s->xc, s->density, s->fock, s->base, s->image);
  for (int t = 0; t < 2; t++) TSL_FREE_ALL(s->orbitals[t], s->rows[t]);
  memset(s, 0, sizeof *s);
}
