/** @file tri_cpu_forces.c  forces: accelerations and potentials of softened gravity, row by row. */
#include "tri_cpu.h"

#include <math.h>
#include <omp.h>

/** Bodies in fp32, in the units of tri_gravity_units. */
static void pack_f32(tsl_worker *w, const tsl_problem *problem, float *out) {
  const tri_params *p = w->p;
  const float *x = problem->fields[TRI_POINTS].data, *mass = problem->fields[TRI_EXTRAS].data;
  int length = 0, weight = 0;
  tri_gravity_units(problem, &length, &weight);
  const double softening = ldexp(p->softening, -length);
  for (int64_t i = 0; i < p->n; i++) {
    for (int k = 0; k < 3; k++) out[4 * i + k] = ldexpf(x[k * p->n_pad + i], -length);
    out[4 * i + 3] = w->bodies.equal ? 1 : ldexpf(mass[i], -weight);
  }
  w->bodies.softening2 = softening * softening;
  w->acceleration_factor = ldexp(w->acceleration_factor, weight - 2 * length);
  w->potential_factor = ldexp(w->potential_factor, weight - length);
}

static void pack_f64(tsl_worker *w, const tsl_problem *problem, double *out) {
  const tri_params *p = w->p;
  const double *x = problem->fields[TRI_POINTS].data, *mass = problem->fields[TRI_EXTRAS].data;
  for (int64_t i = 0; i < p->n; i++) {
    for (int k = 0; k < 3; k++) out[4 * i + k] = x[k * p->n_pad + i];
    out[4 * i + 3] = w->bodies.equal ? 1 : mass[i];
  }
  w->bodies.softening2 = p->softening * p->softening;
}

tsl_err tri_forces_prepare(tsl_worker *w, const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = w->p;
  void *packed = NULL;
  w->bodies.n = tri_columns_of(p);
  w->bodies.equal = p->mass != 0;
  w->acceleration_factor = w->bodies.equal ? p->constant * p->mass : p->constant;
  w->potential_factor = -w->acceleration_factor;
  TSL_TRY(tsl_alloc(4 * p->n, (size_t)w->value_bytes, "packed bodies", &packed));
  w->bodies.p = packed;
  if (w->t)
    pack_f64(w, problem, packed);
  else
    pack_f32(w, problem, packed);
done:
  return err;
}

/** Rows [i, i + rows) of the unit; of two sets they are bodies behind those that pull. */
static void forces_rows(const tsl_worker *w, const tsl_unit *unit, tsl_part *part, int64_t i,
                        int rows) {
  const int64_t d = w->p->d_read, at = i - unit->lo[0];
  double *const a = (double *)part->slab[TRI_OUT] + at * d;
  double *const potential = (double *)part->slab[TRI_OUT_2] + at;
  double sums[4][TRI_GRAVITY_ROWS];
  w->kernels->gravity[w->t](&w->bodies, w->p->first + i, rows, sums);
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
