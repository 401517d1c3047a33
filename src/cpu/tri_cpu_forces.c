/** @file tri_cpu_forces.c  forces: accelerations and potentials of softened gravity, row by row. */
#include "tri_cpu.h"

#include <math.h>
#include <omp.h>

/** Exponent e with |value| < 2^e for all n values, 0 when all are 0. */
static int exponent_of(const float *values, int64_t n, double least) {
  double most = least;
  int e = 0;
  for (int64_t k = 0; k < n; k++) most = fabs(values[k]) > most ? fabs(values[k]) : most;
  if (most > 0) (void)frexp(most, &e);
  return e;
}

/**
 * Bodies in fp32, lengths and masses divided by powers of two so that the largest is near 1:
 * exact, and r^-3 stays in range whatever units the points have.
 */
static void pack_f32(tsl_worker *w, const float *x, const float *mass, float *out) {
  const tri_params *p = w->p;
  const int length = exponent_of(x, 3 * p->n_pad, p->softening);
  const int weight = w->bodies.equal ? 0 : exponent_of(mass, p->n, 0);
  const double softening = ldexp(p->softening, -length);
  for (int64_t i = 0; i < p->n; i++) {
    for (int k = 0; k < 3; k++) out[4 * i + k] = ldexpf(x[k * p->n_pad + i], -length);
    out[4 * i + 3] = w->bodies.equal ? 1 : ldexpf(mass[i], -weight);
  }
  w->bodies.softening2 = softening * softening;
  w->acceleration_factor = ldexp(w->acceleration_factor, weight - 2 * length);
  w->potential_factor = ldexp(w->potential_factor, weight - length);
}

static void pack_f64(tsl_worker *w, const double *x, const double *mass, double *out) {
  const tri_params *p = w->p;
  for (int64_t i = 0; i < p->n; i++) {
    for (int k = 0; k < 3; k++) out[4 * i + k] = x[k * p->n_pad + i];
    out[4 * i + 3] = w->bodies.equal ? 1 : mass[i];
  }
  w->bodies.softening2 = p->softening * p->softening;
}

tsl_err tri_forces_prepare(tsl_worker *w, const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = w->p;
  const void *x = problem->fields[TRI_POINTS].data, *mass = problem->fields[TRI_EXTRAS].data;
  void *packed = NULL;
  w->bodies.n = p->n;
  w->bodies.equal = p->mass != 0;
  w->acceleration_factor = w->bodies.equal ? p->constant * p->mass : p->constant;
  w->potential_factor = -w->acceleration_factor;
  TSL_TRY(tsl_alloc(4 * p->n, (size_t)w->value_bytes, "packed bodies", &packed));
  w->bodies.p = packed;
  if (w->t)
    pack_f64(w, x, mass, packed);
  else
    pack_f32(w, x, mass, packed);
done:
  return err;
}

/** Rows [i, i + rows) of the unit. */
static void forces_rows(const tsl_worker *w, const tsl_unit *unit, tsl_part *part, int64_t i,
                        int rows) {
  const int64_t d = w->p->d_read, at = i - unit->lo[0];
  double *const a = (double *)part->slab[TRI_OUT] + at * d;
  double *const potential = (double *)part->slab[TRI_OUT_2] + at;
  double sums[4][TRI_GRAVITY_ROWS];
  w->kernels->gravity[w->t](&w->bodies, i, rows, sums);
  for (int r = 0; r < rows; r++) {
    for (int64_t k = 0; k < d; k++) a[r * d + k] = w->acceleration_factor * sums[k][r];
    potential[r] = w->potential_factor * sums[3][r];
  }
}

tsl_err tri_run_forces(tsl_worker *w, const tsl_unit *unit, tsl_part *part) {
  const int64_t rows = unit->hi[0] - unit->lo[0];
  const int64_t groups = (rows + TRI_GRAVITY_ROWS - 1) / TRI_GRAVITY_ROWS;
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
  for (int64_t g = 0; g < groups; g++) {
    const int64_t i = unit->lo[0] + g * TRI_GRAVITY_ROWS;
    const int64_t left = unit->hi[0] - i;
    forces_rows(w, unit, part, i, (int)(left < TRI_GRAVITY_ROWS ? left : TRI_GRAVITY_ROWS));
  }
  return TSL_OK;
}
