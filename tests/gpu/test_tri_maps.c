/* unit.tri.maps: every map meets every cell of the triangle exactly once, without a card.
 * The grids below are those of src/gpu/tri/maps/tri_map.cu and tri_cdp.cu. */
#include "tri_maps.cuh"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BB, RB, REC, LTM, FRB, FR, CDP, N_MAPS };
static const char *const map_words[] = {"bb", "rb", "rec", "ltm", "frb", "fr", "cdp"};

/* Visits of the cells of a triangle of m rows. */
typedef struct visits {
  int m;
  int64_t outside; /* cells named that are not in the triangle */
  unsigned char *seen;
} visits;

static void visit(visits *v, tri_cell cell) {
  if (cell.r < 0) return;
  if (cell.r >= v->m || cell.c < 0 || cell.c > cell.r) {
    v->outside++;
    return;
  }
  unsigned char *const seen = &v->seen[(int64_t)cell.r * (cell.r + 1) / 2 + cell.c];
  if (*seen < 255) ++*seen;
}

/* One cell of a block (x, y), thread (tx, ty). */
typedef tri_cell (*cell_of)(const void *with, int x, int y, int tx, int ty, int side, int m);

static void grid(visits *v, cell_of f, const void *with, int64_t columns, int64_t rows, int side) {
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++)
      for (int ty = 0; ty < side; ty++)
        for (int tx = 0; tx < side; tx++) visit(v, f(with, x, y, tx, ty, side, v->m));
}

static tri_cell bb(const void *with, int x, int y, int tx, int ty, int side, int m) {
  (void)with;
  return tri_map_bb(x, y, tx, ty, side, m);
}
static tri_cell rb(const void *with, int x, int y, int tx, int ty, int side, int m) {
  (void)with;
  return tri_map_rb(x * side + tx, y * side + ty, m);
}
static tri_cell rec(const void *with, int x, int y, int tx, int ty, int side, int m) {
  const int level = *(const int *)with;
  return level < 0 ? tri_map_rec_diagonal(x, tx, ty, side, m)
                   : tri_map_rec(x, y, level, tx, ty, side, m);
}
static tri_cell ltm(const void *with, int x, int y, int tx, int ty, int side, int m) {
  (void)with, (void)y;
  return tri_map_ltm(x, tx, ty, side, m);
}
static tri_cell frb(const void *with, int x, int y, int tx, int ty, int side, int m) {
  return tri_map_flat(*(const tri_segment *)with, x, y, tri_log2_float((unsigned)y), tx, ty, side,
                      m);
}
static tri_cell fr(const void *with, int x, int y, int tx, int ty, int side, int m) {
  return tri_map_flat(*(const tri_segment *)with, x, y, tri_log2_clz((unsigned)y), tx, ty, side, m);
}
static tri_cell square(const void *with, int x, int y, int tx, int ty, int side, int m) {
  (void)m;
  return tri_map_square(*(const tri_node *)with, x, y, tx, ty, side);
}

static void run_rec(visits *v, int t, int side) {
  int level = 0;
  for (; (1 << level) < t; level++)
    grid(v, rec, &level, (int64_t)1 << level, tri_rec_rows(t, level), side);
  level = -1;
  grid(v, rec, &level, t, 1, side);
}

static void run_flat(visits *v, cell_of f, int t, int side) {
  for (int at = 0; at < t;) {
    const tri_segment s = tri_segment_at(at, t);
    for (int x = 0; x < tri_flat_columns(s); x++)
      for (int ty = 0; ty < side; ty++)
        for (int tx = 0; tx < side; tx++)
          for (int second = 0; second < 2; second++)
            visit(v, tri_flat_diagonal(s, x, tx, ty, side, v->m, second));
    for (int y = 1; y < tri_flat_rows(s); y++)
      for (int x = 0; x < tri_flat_columns(s); x++)
        for (int ty = 0; ty < side; ty++)
          for (int tx = 0; tx < side; tx++) visit(v, f(&s, x, y, tx, ty, side, v->m));
    at += s.p;
  }
}

static void run_cdp(visits *v, tri_node node, int leaf, int side) {
  const int half = tri_node_half(node, side);
  if (node.size <= 0) return;
  if (node.size <= leaf) {
    const int t = (node.size + side - 1) / side;
    for (int y = 0; y < t; y++)
      for (int x = 0; x < t; x++)
        for (int ty = 0; ty < side; ty++)
          for (int tx = 0; tx < side; tx++) {
            tri_cell cell = tri_map_bb(x, y, tx, ty, side, node.size);
            if (cell.r >= 0) visit(v, tri_cell_of(cell.r + node.at, cell.c + node.at));
          }
    return;
  }
  grid(v, square, &node, half / side, (node.size - half + side - 1) / side, side);
  const tri_node upper = {node.at, half}, lower = {node.at + half, node.size - half};
  run_cdp(v, upper, leaf, side);
  run_cdp(v, lower, leaf, side);
}

static void run_map(visits *v, int map, int side) {
  const int m = v->m, t = (m + side - 1) / side;
  const tri_node root = {0, m};
  switch (map) {
  case BB:
    grid(v, bb, NULL, t, t, side);
    break;
  case RB:
    grid(v, rb, NULL, (tri_rb_columns(m) + side - 1) / side, (tri_rb_rows(m) + side - 1) / side,
         side);
    break;
  case REC:
    run_rec(v, t, side);
    break;
  case LTM:
    grid(v, ltm, NULL, (int64_t)t * (t + 1) / 2, 1, side);
    break;
  case FRB:
    run_flat(v, frb, t, side);
    break;
  case FR:
    run_flat(v, fr, t, side);
    break;
  default:
    run_cdp(v, root, tri_cdp_leaf(m, 4 * side, 1), side);
  }
}

/* Does the map meet each cell of m rows exactly once? */
static bool exactly_once(int map, int m, int side) {
  const int64_t cells = (int64_t)m * (m + 1) / 2;
  visits v = {.m = m, .outside = 0, .seen = calloc((size_t)cells, 1)};
  int64_t wrong = 0;
  if (v.seen == NULL) return false;
  run_map(&v, map, side);
  for (int64_t c = 0; c < cells; c++) wrong += v.seen[c] != 1;
  free(v.seen);
  if (wrong != 0 || v.outside != 0)
    printf("FAIL map %s, %d rows, block %d: %lld cells not met once, %lld outside\n",
           map_words[map], m, side, (long long)wrong, (long long)v.outside);
  return wrong == 0 && v.outside == 0;
}

/* Both ends of tile rows up to the last row that the integer correction promises. */
static bool ltm_ends(void) {
  for (int64_t r = 1; r < 8388608; r += r < 20000 ? 1 : 997) {
    const int64_t first = r * (r + 1) / 2;
    if (tri_ltm_row(first) != r || tri_ltm_row(first - 1) != r - 1) {
      printf("FAIL ltm row %lld\n", (long long)r);
      return false;
    }
  }
  return true;
}

/* floor(log2 y) by float around every power of two. */
static bool log2_agrees(void) {
  for (int e = 0; e < 31; e++)
    for (int64_t y = ((int64_t)1 << e) - 2; y <= ((int64_t)1 << e) + 2; y++)
      if (y >= 1 && tri_log2_float((unsigned)y) != tri_log2_clz((unsigned)y)) {
        printf("FAIL log2 of %lld\n", (long long)y);
        return false;
      }
  return true;
}

/* Rows of a leaf: the cut-off, what the levels leave, and never more than 512 leaves. */
static bool leaves(void) {
  static const struct {
    int m, cutoff;
    double depth;
    int leaf;
  } cases[] = {
      {4096, 1024, 1, 1024},  {4096, 64, 1, 64},  {4096, 64, 0.25, 512}, {4096, 1024, 0, 4096},
      {1 << 20, 64, 1, 4096}, {5000, 1, 0.5, 79}, {1, 1, 1, 1},          {0, 1, 1, 1}};
  bool good = true;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const int leaf = tri_cdp_leaf(cases[k].m, cases[k].cutoff, cases[k].depth);
    if (leaf == cases[k].leaf) continue;
    printf("FAIL leaf of %d rows: %d, not %d\n", cases[k].m, leaf, cases[k].leaf);
    good = false;
  }
  return good;
}

int main(void) {
  static const int sides[] = {8, 16, 32}, large[] = {1023, 1025, 2047, 3001, 4097};
  bool good = ltm_ends() && log2_agrees() && leaves();
  for (int map = 0; map < N_MAPS; map++)
    for (int s = 0; s < 3; s++) {
      for (int m = 1; m <= 300; m++) good = exactly_once(map, m, sides[s]) && good;
      for (size_t l = 0; l < sizeof large / sizeof *large; l++)
        good = exactly_once(map, large[l], sides[s]) && good;
    }
  printf("%s: maps meet every cell exactly once\n", good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
