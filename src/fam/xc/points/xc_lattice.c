/* Where blocks of a lattice are, and the places of their numbers in the text of a cube file. */
#include "xc_lattice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a number; numbers of a line; bytes of text of a slab, about. */
enum { NUMBER = 13, LINE = 6, SLAB = 1 << 26 };

_Static_assert(XC_CUBE_EDGE *XC_CUBE_EDGE *XC_CUBE_EDGE <= XC_PLACES,
               "a block of a cube is a block of points");

bool xc_lattice_has(const xc_lattice *lattice, xc_cube_kind kind) {
  for (int64_t k = 0; k < lattice->n; k++)
    if (lattice->cubes[k].kind == (int32_t)kind) return true;
  return false;
}

int64_t xc_lattice_row(const xc_lattice *lattice, int64_t k) {
  int64_t row = 0;
  for (int64_t i = 0; i < k; i++) row += lattice->cubes[i].kind == XC_CUBE_ORBITAL;
  return row;
}

/* --------------------------------------------------------------------- text */

int64_t xc_lattice_row_bytes(const xc_lattice *l) {
  return NUMBER * l->points[2] + (l->points[2] + LINE - 1) / LINE;
}

int64_t xc_lattice_bytes(const xc_lattice *l) {
  return l->planes * l->points[1] * xc_lattice_row_bytes(l);
}

/* Numbers of a row from z = lo on, each with the end of the line that it is the last of. */
static void row_text(const xc_lattice *l, int64_t lo, int64_t n, const double *values, char *row) {
  for (int64_t z = lo; z < lo + n; z++) {
    char number[32], *to = row + NUMBER * z + z / LINE;
    const double value = values[z - lo];
    /* smaller ones have three digits of exponent and would touch their neighbours */
    (void)snprintf(number, sizeof number, "%13.5E", fabs(value) < 1e-99 ? 0.0 : value);
    memcpy(to, number, NUMBER);
    if (z % LINE == LINE - 1 || z == l->points[2] - 1) to[NUMBER] = '\n';
  }
}

void xc_lattice_text(const xc_lattice *l, const xc_block *b, int64_t k, const double *values,
                     char *text) {
  const int64_t bytes = xc_lattice_row_bytes(l), n = b->hi[2] - b->lo[2];
  text += k * xc_lattice_bytes(l);
  for (int64_t x = b->lo[0]; x < b->hi[0]; x++)
    for (int64_t y = b->lo[1]; y < b->hi[1]; y++, values += n)
      row_text(l, b->lo[2], n, values, text + (x % l->planes * l->points[1] + y) * bytes);
}

/* -------------------------------------------------------------------- slabs */

void xc_lattice_cut(xc_lattice *l) {
  const int64_t nx = l->points[0];
  l->planes = 1;
  l->planes = SLAB / (l->n * xc_lattice_bytes(l));
  if (l->planes > XC_CUBE_EDGE) l->planes -= l->planes % XC_CUBE_EDGE;
  if (l->planes > nx) l->planes = nx;
  if (l->planes < 1) l->planes = 1;
}

int64_t xc_lattice_slabs(const xc_lattice *l) {
  return (l->points[0] + l->planes - 1) / l->planes;
}

int64_t xc_lattice_planes(const xc_lattice *l, int64_t slab) {
  const int64_t left = l->points[0] - slab * l->planes;
  return left < l->planes ? left : l->planes;
}

static int64_t blocks_along(int64_t points) {
  return (points + XC_CUBE_EDGE - 1) / XC_CUBE_EDGE;
}

int64_t xc_lattice_blocks(const xc_lattice *l) {
  return blocks_along(l->planes) * blocks_along(l->points[1]) * blocks_along(l->points[2]);
}

void xc_lattice_block(const xc_lattice *l, int64_t slab, int64_t number, xc_block *b) {
  const int64_t ny = blocks_along(l->points[1]), nz = blocks_along(l->points[2]);
  const int64_t first = slab * l->planes, end = first + xc_lattice_planes(l, slab);
  const int64_t lo[3] = {first + number / (ny * nz) * XC_CUBE_EDGE, number / nz % ny * XC_CUBE_EDGE,
                         number % nz * XC_CUBE_EDGE};
  const int64_t ends[3] = {end, l->points[1], l->points[2]};
  int64_t n = 0;
  for (int k = 0; k < 3; k++) {
    b->lo[k] = lo[k];
    b->hi[k] = lo[k] + XC_CUBE_EDGE < ends[k] ? lo[k] + XC_CUBE_EDGE : ends[k];
  }
  for (int64_t x = b->lo[0]; x < b->hi[0]; x++)
    for (int64_t y = b->lo[1]; y < b->hi[1]; y++)
      for (int64_t z = b->lo[2]; z < b->hi[2]; z++, n++) {
        b->at[0][n] = l->origin[0] + (double)x * l->step;
        b->at[1][n] = l->origin[1] + (double)y * l->step;
        b->at[2][n] = l->origin[2] + (double)z * l->step;
      }
  b->points = (xc_places){b->at[0], b->at[1], b->at[2], n};
}

bool xc_block_meets(const xc_block *b, const xc_shell *shell) {
  double d2 = 0;
  for (int k = 0; k < 3; k++) {
    const double lo = b->at[k][0], hi = b->at[k][b->points.n - 1];
    const double d = fmax(0, fmax(lo - shell->at[k], shell->at[k] - hi));
    d2 += d * d;
  }
  return d2 <= shell->radius * shell->radius;
}
