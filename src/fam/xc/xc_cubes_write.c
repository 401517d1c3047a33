/* Cubes are computed and written slab by slab: a few planes of one x, of all cubes at once, in
 * blocks of points that the same shells reach. Then rows of text, each where it belongs. */
#include "xc_cubes.h"

#include "xc_matrix.h"
#include "xc_potential.h"

#include "files.h"
#include "new_file.h"
#include "parallel.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Edge of a block, points; bytes of a number; numbers of a line; bytes of text at a time. */
enum { EDGE = XC_CUBE_SLAB, NUMBER = 13, LINE = 6, TEXT = 1 << 24 };

_Static_assert(EDGE *EDGE *EDGE <= XC_PLACES, "a block of a cube is a block of points");

/* Scratch of a slot. */
typedef struct scratch {
  xc_values values;
  int32_t *shells; /* [n_shells] */
} scratch;

typedef struct writing {
  const xc_scf *scf;
  const xc_molecule *molecule;
  const xc_basis *basis;
  xc_cubes *cubes;
  double *spin; /* [n][n] alpha's density less beta's, when it is asked for */
  xc_potential *potential;
  int64_t x, planes; /* the slab at hand */
  double *slab;      /* [cubes][planes][y][z] */
  char *text;
  const double *rows; /* of a cube, to be made text */
  int64_t row_bytes;
  tsl_new_file files[XC_CUBE_ORBITAL + XC_CUBE_ORBITALS]; /* stream NULL: lost */
  scratch of[TSL_PARALLEL_MOST];
} writing;

/* ------------------------------------------------------------------- values */

/* A block: points [lo, hi) along each axis. */
typedef struct block {
  int64_t lo[3], hi[3];
  double at[3][XC_PLACES];
  xc_places points;
} block;

static void set_block(const writing *w, int64_t number, block *b) {
  const xc_cubes *c = w->cubes;
  const int64_t across = (c->points[2] + EDGE - 1) / EDGE;
  const int64_t first[3] = {w->x, number / across * EDGE, number % across * EDGE};
  int64_t n = 0;
  for (int k = 0; k < 3; k++) {
    const int64_t end = k == 0 ? w->x + w->planes : c->points[k];
    b->lo[k] = first[k];
    b->hi[k] = first[k] + EDGE < end ? first[k] + EDGE : end;
  }
  for (int64_t x = b->lo[0]; x < b->hi[0]; x++)
    for (int64_t y = b->lo[1]; y < b->hi[1]; y++)
      for (int64_t z = b->lo[2]; z < b->hi[2]; z++, n++) {
        b->at[0][n] = c->origin[0] + (double)x * c->step;
        b->at[1][n] = c->origin[1] + (double)y * c->step;
        b->at[2][n] = c->origin[2] + (double)z * c->step;
      }
  b->points = (xc_places){b->at[0], b->at[1], b->at[2], n};
}

/* Values of a block to their places in the slab of cube k. */
static void put_block(const writing *w, int k, const block *b, const double *value) {
  const int64_t ny = w->cubes->points[1], nz = w->cubes->points[2];
  double *slab = w->slab + k * w->planes * ny * nz;
  for (int64_t x = b->lo[0]; x < b->hi[0]; x++)
    for (int64_t y = b->lo[1]; y < b->hi[1]; y++, value += b->hi[2] - b->lo[2])
      memcpy(slab + ((x - w->x) * ny + y) * nz + b->lo[2], value,
             (size_t)(b->hi[2] - b->lo[2]) * sizeof *value);
}

static void cube_values(const writing *w, const xc_cube *cube, const xc_values *values,
                        const xc_places *points, double *out) {
  if (cube->kind == XC_CUBE_DENSITY)
    xc_values_density(values, w->scf->total, out);
  else if (cube->kind == XC_CUBE_SPIN)
    xc_values_density(values, w->spin, out);
  else if (cube->kind == XC_CUBE_POTENTIAL)
    xc_potential_at(w->potential, points, out);
  else
    xc_values_orbital(values, w->scf->orbitals[cube->spin] + cube->orbital * w->scf->n, out);
}

static tsl_err do_blocks(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  writing *w = context;
  scratch *s = &w->of[slot];
  double out[XC_PLACES];
  block b;
  if (s->shells == NULL)
    TSL_TRY(
        tsl_alloc(w->basis->n_shells, sizeof *s->shells, "shells of a block", (void **)&s->shells));
  for (int64_t number = lo; number < hi; number++) {
    set_block(w, number, &b);
    const int64_t last = b.points.n - 1;
    const int64_t n =
        xc_values_shells(w->basis, (const double[3]){b.at[0][0], b.at[1][0], b.at[2][0]},
                         (const double[3]){b.at[0][last], b.at[1][last], b.at[2][last]}, s->shells);
    TSL_TRY(xc_values_fill(w->basis, s->shells, n, &b.points, &s->values));
    for (int k = 0; k < w->cubes->n; k++) {
      if (w->files[k].stream == NULL) continue;
      cube_values(w, &w->cubes->list[k], &s->values, &b.points, out);
      put_block(w, k, &b, out);
    }
  }
done:
  return err;
}

/* --------------------------------------------------------------------- text */

static void write_head(const writing *w, const xc_cube *cube, FILE *file) {
  static const char *const titles[XC_N_CUBE_KINDS] = {
      "electron density, electrons/bohr^3", "spin density (alpha - beta), electrons/bohr^3",
      "electrostatic potential, hartree/e", "orbital, bohr^-3/2"};
  const xc_cubes *c = w->cubes;
  const xc_molecule *m = w->molecule;
  const bool orbital = cube->kind == XC_CUBE_ORBITAL;
  (void)fprintf(file, "tesela: %s\n", titles[cube->kind]);
  if (orbital)
    (void)fprintf(file, "orbital %lld of %s, %.10g hartree; bohr; x outermost, z innermost\n",
                  (long long)cube->orbital + 1, cube->spin == 0 ? "alpha" : "beta",
                  w->scf->levels[cube->spin][cube->orbital]);
  else
    (void)fprintf(file, "bohr; x outermost, z innermost\n");
  (void)fprintf(file, "%5lld%12.6f%12.6f%12.6f\n", (long long)(orbital ? -m->n_atoms : m->n_atoms),
                c->origin[0], c->origin[1], c->origin[2]);
  for (int k = 0; k < 3; k++)
    (void)fprintf(file, "%5lld%12.6f%12.6f%12.6f\n", (long long)c->points[k],
                  k == 0 ? c->step : 0.0, k == 1 ? c->step : 0.0, k == 2 ? c->step : 0.0);
  for (int64_t a = 0; a < m->n_atoms; a++)
    (void)fprintf(file, "%5d%12.6f%12.6f%12.6f%12.6f\n", (int)m->atoms[a].z,
                  (double)xc_nuclear(&m->atoms[a]), m->atoms[a].at[0], m->atoms[a].at[1],
                  m->atoms[a].at[2]);
  if (orbital) (void)fprintf(file, "%5d%5lld\n", 1, (long long)cube->orbital + 1);
}

/* Rows of z [lo, hi), each of row_bytes. */
static tsl_err do_rows(void *context, int slot, int64_t lo, int64_t hi) {
  const writing *w = context;
  const int64_t nz = w->cubes->points[2];
  (void)slot;
  for (int64_t r = lo; r < hi; r++) {
    char *to = w->text + r * w->row_bytes;
    for (int64_t z = 0; z < nz; z++) {
      char number[32];
      const double value = w->rows[r * nz + z];
      /* smaller ones have three digits of exponent and would touch their neighbours */
      (void)snprintf(number, sizeof number, "%13.5E", fabs(value) < 1e-99 ? 0.0 : value);
      memcpy(to, number, NUMBER);
      to += NUMBER;
      if (z % LINE == LINE - 1 || z == nz - 1) *to++ = '\n';
    }
  }
  return TSL_OK;
}

static tsl_err write_slab(writing *w, int k) {
  tsl_err err = TSL_OK;
  const int64_t nz = w->cubes->points[2], rows = w->planes * w->cubes->points[1];
  const int64_t some = w->row_bytes < TEXT ? TEXT / w->row_bytes : 1;
  FILE *file = w->files[k].stream;
  for (int64_t first = 0; first < rows; first += some) {
    const int64_t n = rows - first < some ? rows - first : some;
    w->rows = w->slab + (k * rows + first) * nz;
    TSL_TRY(tsl_parallel(n, 16, do_rows, w));
    if (fwrite(w->text, (size_t)w->row_bytes, (size_t)n, file) != (size_t)n)
      TSL_FAIL(TSL_ERR_IO, "'%s' cannot be written: %s", w->cubes->list[k].file, strerror(errno));
  }
done:
  return err;
}

/* Close the file of cube k; with an error it is lost. */
static void end_cube(writing *w, int k, tsl_err err) {
  if (w->files[k].stream != NULL) err = tsl_new_file_close(&w->files[k], err);
  (void)tsl_files_lose(xc_cube_key(&w->cubes->list[k]), err);
}

/* ------------------------------------------------------------------- slabs */

static tsl_err do_slab(writing *w) {
  tsl_err err = TSL_OK;
  const int64_t *n = w->cubes->points, plane = n[1] * n[2];
  const int64_t blocks = (n[1] + EDGE - 1) / EDGE * ((n[2] + EDGE - 1) / EDGE);
  const double volume = w->cubes->step * w->cubes->step * w->cubes->step;
  TSL_TRY(tsl_parallel(blocks, 1, do_blocks, w));
  for (int k = 0; k < w->cubes->n; k++) {
    if (w->files[k].stream == NULL) continue;
    double sum = 0;
    for (int64_t i = 0; i < w->planes * plane; i++) sum += w->slab[k * w->planes * plane + i];
    if (w->cubes->list[k].kind == XC_CUBE_DENSITY) w->cubes->electrons += sum * volume;
    const tsl_err written = write_slab(w, k);
    if (written == TSL_OK) continue;
    if (w->cubes->list[k].kind == XC_CUBE_DENSITY) w->cubes->electrons = -1;
    end_cube(w, k, written);
  }
done:
  return err;
}

static tsl_err prepare(writing *w) {
  tsl_err err = TSL_OK;
  const xc_cubes *c = w->cubes;
  const int64_t nz = c->points[2], plane = c->points[1] * nz, nn = w->scf->n * w->scf->n;
  bool spin = false, potential = false;
  for (int k = 0; k < c->n; k++) {
    spin = spin || c->list[k].kind == XC_CUBE_SPIN;
    potential = potential || c->list[k].kind == XC_CUBE_POTENTIAL;
  }
  w->row_bytes = NUMBER * nz + (nz + LINE - 1) / LINE;
  TSL_TRY(tsl_alloc(c->n * EDGE * plane, sizeof *w->slab, "planes of cubes", (void **)&w->slab));
  TSL_TRY(
      tsl_alloc(w->row_bytes < TEXT ? TEXT : w->row_bytes, 1, "text of cubes", (void **)&w->text));
  if (potential) TSL_TRY(xc_potential_create(w->molecule, w->basis, w->scf->total, &w->potential));
  if (!spin) goto done;
  TSL_TRY(xc_matrix_create(w->scf->n, w->scf->n, "spin density", &w->spin));
  xc_matrix_copy(nn, w->scf->density[0], w->spin);
  xc_matrix_add(nn, -1, w->scf->density[1], w->spin);
done:
  return err;
}

static tsl_err do_cubes(writing *w) {
  tsl_err err = TSL_OK;
  TSL_TRY(prepare(w));
  for (int k = 0; k < w->cubes->n; k++) {
    const tsl_err opened = tsl_new_file_open(w->cubes->list[k].file, &w->files[k]);
    if (opened != TSL_OK) {
      end_cube(w, k, opened);
      continue;
    }
    write_head(w, &w->cubes->list[k], w->files[k].stream);
    if (w->cubes->list[k].kind == XC_CUBE_DENSITY) w->cubes->electrons = 0;
  }
  for (w->x = 0; w->x < w->cubes->points[0]; w->x += EDGE) {
    const int64_t left = w->cubes->points[0] - w->x;
    w->planes = left < EDGE ? left : EDGE;
    TSL_TRY(do_slab(w));
  }
done:
  return err;
}

void xc_cubes_write(const xc_scf *scf, const xc_molecule *molecule, const xc_basis *basis,
                    xc_cubes *cubes) {
  writing *w = NULL;
  if (cubes->n == 0) return;
  tsl_err err = tsl_alloc(1, sizeof *w, "cubes", (void **)&w);
  if (err != TSL_OK) {
    (void)tsl_files_lose("xc.cube", err);
    return;
  }
  w->scf = scf, w->molecule = molecule, w->basis = basis, w->cubes = cubes;
  err = do_cubes(w);
  if (err != TSL_OK) cubes->electrons = -1;
  bool open = false;
  for (int k = 0; k < cubes->n; k++) {
    if (w->files[k].stream == NULL) continue;
    open = true;
    end_cube(w, k, err);
  }
  if (!open && err != TSL_OK) (void)tsl_files_lose("xc.cube", err);
  for (int slot = 0; slot < TSL_PARALLEL_MOST; slot++) {
    xc_values_clear(&w->of[slot].values);
    tsl_free(w->of[slot].shells);
  }
  xc_potential_destroy(&w->potential);
  TSL_FREE_ALL(w->slab, w->text, w->spin, w);
}
