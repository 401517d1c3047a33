/* A frame as it was read: fractions of its cell, a grid, and what its cells look at. */
#include "tri_frame.h"

#include "integers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double fraction = 0x1p-32; /* the unit of places */

tsl_err tri_frame_create(int64_t n, tri_frame *f) {
  tsl_err err = TSL_OK;
  *f = (tri_frame){.n = n};
  TSL_TRY(tsl_alloc(3 * n, sizeof *f->u[0], "places of a frame", (void **)&f->u[0]));
  f->u[1] = f->u[0] + n;
  f->u[2] = f->u[1] + n;
done:
  return err;
}

void tri_frame_clear(tri_frame *f) {
  tsl_free(f->u[0]);
  *f = (tri_frame){.n = 0};
}

/* -------------------------------------------------------------------- cells */

static void cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Rows of which the product with a place is its fraction. @return the volume, 0: none */
static double reciprocal(const double v[3][3], double r[3][3]) {
  for (int k = 0; k < 3; k++) cross(v[(k + 1) % 3], v[(k + 2) % 3], r[k]);
  const double volume = dot(v[0], r[0]);
  for (int k = 0; k < 3; k++)
    for (int c = 0; c < 3; c++) r[k][c] /= volume;
  return fabs(volume);
}

static double height(const double r[3][3], int k) {
  return 1 / sqrt(dot(r[k], r[k]));
}

double tri_cell_height(const trajectory_cell *cell) {
  double r[3][3], least = INFINITY;
  (void)reciprocal(cell->vectors, r);
  for (int k = 0; k < 3; k++)
    if (cell->periodic[k]) least = fmin(least, height(r, k));
  return least;
}

tsl_err tri_cell_check(const trajectory_cell *cell, double cut) {
  tsl_err err = TSL_OK;
  double r[3][3], longest = 0;
  if (!cell->given) goto done;
  for (int k = 0; k < 3; k++)
    longest = fmax(longest, sqrt(dot(cell->vectors[k], cell->vectors[k])));
  const double volume = reciprocal(cell->vectors, r);
  if (!(volume > 1e-9 * longest * longest * longest && longest < 1e30))
    TSL_FAIL(TSL_ERR_INPUT, "its cell has no volume");
  if (cut > tri_cell_height(cell) / 2)
    TSL_FAIL(TSL_ERR_INPUT,
             "the cut-off %g is above half of the cell's least height, %g; lower the range or the "
             "threshold",
             cut, tri_cell_height(cell) / 2);
done:
  return err;
}

/** The vectors to be used: the frame's, the deck's box, or none (unit vectors, not periodic). */
static trajectory_cell cell_of(const tri_params *p, const trajectory_frame *read) {
  trajectory_cell cell = read->cell;
  if (cell.given) return cell;
  for (int k = 0; k < 3; k++) {
    cell.vectors[k][k] = p->box[k] > 0 ? p->box[k] : 1;
    cell.periodic[k] = cell.given = p->box[k] > 0;
  }
  return cell;
}

void tri_images_of(const tri_params *p, const trajectory_frame *read, tri_images *images) {
  const trajectory_cell cell = cell_of(p, read);
  memcpy(images->v, cell.vectors, sizeof images->v);
  (void)reciprocal(images->v, images->r);
  for (int k = 0; k < 3; k++)
    images->height[k] = cell.given && cell.periodic[k] ? height(images->r, k) : INFINITY;
}

/** Is it not so flat that very many images of a pair would have to be looked at? */
static bool images_are_few(const tri_params *p, const trajectory_frame *read) {
  enum { MANY = 50 };
  tri_images m;
  double most = 0;
  tri_images_of(p, read, &m);
  for (int k = 0; k < 3; k++) most += sqrt(dot(m.v[k], m.v[k])) / 2;
  for (int k = 0; k < 3; k++)
    if (most > MANY * m.height[k]) return false;
  return true;
}

double tri_images_distance(const tri_images *m, const double d[3]) {
  double at[3] = {d[0], d[1], d[2]}, s[3] = {0, 0, 0};
  int reach[3] = {0, 0, 0};
  for (int k = 0; k < 3; k++) {
    if (m->height[k] == INFINITY) continue;
    s[k] = dot(m->r[k], d);
    for (int c = 0; c < 3; c++) at[c] -= nearbyint(s[k]) * m->v[k][c];
  }
  double best = dot(at, at);
  for (int k = 0; k < 3; k++) /* a nearer image is no farther along the height than it is away */
    reach[k] = (int)(sqrt(best) / m->height[k] + 0.5);
  for (int a = -reach[0]; a <= reach[0]; a++)
    for (int b = -reach[1]; b <= reach[1]; b++)
      for (int c = -reach[2]; c <= reach[2]; c++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = at[k] + a * m->v[0][k] + b * m->v[1][k] + c * m->v[2][k];
        best = fmin(best, dot(x, x));
      }
  return sqrt(best);
}

/** Make an axis that is not periodic so long that no image is within the cut-off.
 *  @param[out] origin  of its fractions */
static void stretch(const trajectory_frame *read, double cut, int k, double v[3][3], double r[3][3],
                    double *origin) {
  double least = INFINITY, most = -INFINITY;
  for (int64_t i = 0; i < read->n; i++) {
    const double s = dot(r[k], read->at + 3 * i);
    least = fmin(least, s), most = fmax(most, s);
  }
  const double reach = cut / height(r, k), extent = most - least;
  const double factor = (fmax(extent, reach) + reach) * (1 + 1e-6);
  for (int c = 0; c < 3; c++) v[k][c] *= factor, r[k][c] /= factor;
  *origin = least / factor;
}

/** Turned, so that the matrix of the vectors is lower triangular. */
static void turn(const double v[3][3], double m[6]) {
  const double a = sqrt(dot(v[0], v[0])), bx = dot(v[1], v[0]) / a;
  const double by = sqrt(fmax(0, dot(v[1], v[1]) - bx * bx));
  const double cx = dot(v[2], v[0]) / a, cy = (dot(v[2], v[1]) - bx * cx) / by;
  const double cz = sqrt(fmax(0, dot(v[2], v[2]) - cx * cx - cy * cy));
  const double all[6] = {a, bx, by, cx, cy, cz};
  for (int k = 0; k < 6; k++) m[k] = all[k] * fraction;
}

static void set_places(const trajectory_frame *read, const double r[3][3], const double origin[3],
                       tri_frame *f) {
  for (int k = 0; k < 3; k++)
    for (int64_t i = 0; i < read->n; i++) {
      const double s = dot(r[k], read->at + 3 * i) - origin[k];
      f->u[k][i] = (uint32_t)(uint64_t)((s - floor(s)) / fraction + 0.5); /* 2^32 is 0 again */
    }
}

/* --------------------------------------------------------------------- grid */

/** Cells with about eight atoms, but a quarter of the cut-off to all of it long. */
static void set_cells(const double r[3][3], double cut, tri_frame *f) {
  enum { ATOMS = 8, MOST = 1024, SPARE = 64 };
  const double volume = 1 / fabs(r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                                 r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                                 r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]));
  const double wanted = cbrt(ATOMS * volume / (double)f->n);
  double side = fmin(fmax(wanted, cut / 4), cut);
  for (;; side *= 1.25) {
    for (int k = 0; k < 3; k++)
      f->cells[k] = (int32_t)fmax(1, fmin(MOST, floor(height(r, k) / side)));
    if ((int64_t)f->cells[0] * f->cells[1] * f->cells[2] <= 2 * f->n + SPARE) return;
  }
}

/** Least distance from 0 of an interval. */
static double gap(double lo, double hi) {
  return lo > 0 ? lo : hi < 0 ? -hi : 0;
}

/** What cells at distance (o2, o3) must look at along the first axis. @return false: nothing */
static bool reach_of(const double m[6], const int32_t cells[3], double cut, int o2, int o3,
                     tri_step *s) {
  const double a2 = (double)(o2 - 1) / cells[1], b2 = (double)(o2 + 1) / cells[1];
  const double a3 = (double)(o3 - 1) / cells[2], b3 = (double)(o3 + 1) / cells[2];
  const double cy_lo = fmin(m[4] * a3, m[4] * b3), cy_hi = fmax(m[4] * a3, m[4] * b3);
  const double y = gap(m[2] * a2 + cy_lo, m[2] * b2 + cy_hi), z = gap(m[5] * a3, m[5] * b3);
  const double rest = cut * cut - y * y - z * z;
  if (rest < 0) return false;
  const double x = sqrt(rest);
  const double lo = fmin(m[1] * a2, m[1] * b2) + fmin(m[3] * a3, m[3] * b3);
  const double hi = fmax(m[1] * a2, m[1] * b2) + fmax(m[3] * a3, m[3] * b3);
  s->lo = (int32_t)floor((-x - hi) / m[0] * cells[0]) - 1;
  s->hi = (int32_t)floor((x - lo) / m[0] * cells[0]) + 1;
  return true;
}

/** Steps that lead to the same row become one. @return false: no room */
static bool add_step(const tri_step *s, tri_frame *f) {
  for (int k = 0; k < f->n_steps; k++) {
    tri_step *t = &f->steps[k];
    if (t->d2 != s->d2 || t->d3 != s->d3) continue;
    t->lo = s->lo < t->lo ? s->lo : t->lo;
    t->hi = s->hi > t->hi ? s->hi : t->hi;
    return true;
  }
  if (f->n_steps == TRI_STEPS) return false;
  f->steps[f->n_steps++] = *s;
  return true;
}

/** Into -cells .. cells - 1, as tri_step_run takes it; a row at most. */
static void trim(int32_t cells, tri_step *s) {
  if (s->hi - s->lo + 1 >= cells) s->lo = 0, s->hi = cells - 1;
  while (s->lo < -cells) s->lo += cells, s->hi += cells;
  while (s->lo >= cells) s->lo -= cells, s->hi -= cells;
}

/** @param[in] h  heights. @return false: too many steps for so small cells */
static bool set_steps(const double m[6], const double h[3], double cut, tri_frame *f) {
  const int32_t *n = f->cells;
  const int r2 = (int)fmin(n[1], ceil(cut / h[1] * n[1]) + 1);
  const int r3 = (int)fmin(n[2], ceil(cut / h[2] * n[2]) + 1);
  tri_step s = {.d2 = 0};
  f->n_steps = 0;
  if (!reach_of(m, n, cut, 0, 0, &s) || !add_step(&s, f)) return false;
  for (int o3 = -r3; o3 <= r3; o3++)
    for (int o2 = -r2; o2 <= r2; o2++) {
      s = (tri_step){.d2 = (o2 + n[1]) % n[1], .d3 = (o3 + n[2]) % n[2]};
      if (reach_of(m, n, cut, o2, o3, &s) && !add_step(&s, f)) return false;
    }
  for (int k = 0; k < f->n_steps; k++) trim(n[0], &f->steps[k]);
  return true;
}

/** The grid, and what is to be looked at; cells grow until it is few steps. */
static void set_grid(const double r[3][3], double cut, tri_frame *f) {
  const double h[3] = {height(r, 0), height(r, 1), height(r, 2)};
  double m[6], margin = 0;
  for (int k = 0; k < 6; k++) m[k] = f->m[k] / fraction, margin += 1e-6 * fabs(m[k]);
  set_cells(r, cut, f);
  while (!set_steps(m, h, cut + margin, f))
    for (int k = 0; k < 3; k++) f->cells[k] = (int32_t)tsl_max(1, f->cells[k] * 3 / 4);
}

tsl_err tri_frame_prepare(const tri_params *p, const char *name, int64_t number,
                          const trajectory_frame *read, tri_frame *f) {
  tsl_err err = TSL_OK;
  trajectory_cell cell = cell_of(p, read);
  double r[3][3], origin[3] = {0, 0, 0};
  const double cut = p->frames_pairs > 0 ? 0 : p->range_hi;
  char why[256];
  if (read->cell.given != p->frames_boxed)
    TSL_FAIL(TSL_ERR_INPUT, "%s: frame %lld has %s, the first one has %s", name, (long long)number,
             read->cell.given ? "a cell" : "no cell", read->cell.given ? "none" : "one");
  if (tri_cell_check(&cell, cut) != TSL_OK) {
    (void)snprintf(why, sizeof why, "%s", tsl_err_message());
    TSL_FAIL(TSL_ERR_INPUT, "%s: frame %lld: %s", name, (long long)number, why);
  }
  for (int64_t k = 0; k < 3 * read->n; k++)
    if (!(fabs(read->at[k]) <= 1e9))
      TSL_FAIL(TSL_ERR_INPUT, "%s: frame %lld: atom %lld is at %g, beyond 1e9", name,
               (long long)number, (long long)k / 3 + 1, read->at[k]);
  const double volume = reciprocal(cell.vectors, r);
  const bool whole = cell.periodic[0] && cell.periodic[1] && cell.periodic[2];
  f->volume = whole ? volume : 0;
  if (p->frames_pairs > 0 && !images_are_few(p, read))
    TSL_FAIL(TSL_ERR_INPUT, "%s: frame %lld: its cell is too flat", name, (long long)number);
  if (p->frames_pairs > 0) goto done;
  for (int k = 0; k < 3; k++)
    if (!cell.periodic[k]) stretch(read, cut, k, cell.vectors, r, &origin[k]);
  turn(cell.vectors, f->m);
  set_places(read, r, origin, f);
  set_grid(r, cut, f);
done:
  return err;
}
