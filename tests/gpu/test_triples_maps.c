/* unit.triples.maps: every map meets every tile of the tetrahedron exactly once, without a card;
 * the linear one at the edges of its planes far beyond what a float holds. */
#include "triples_maps.cuh"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };

static int failures;
static unsigned char seen[MOST][MOST][MOST];

static void visit(triples_tile tile, int t, const char *map) {
  if (tile.a < 0) return;
  if (tile.a >= t || tile.b > tile.a || tile.c > tile.b || tile.c < 0) {
    printf("FAILED %s, t = %d: (%d, %d, %d) is outside\n", map, t, tile.a, tile.b, tile.c);
    failures++;
    return;
  }
  seen[tile.a][tile.b][tile.c]++;
}

static void check_once(int t, const char *map) {
  for (int a = 0; a < t; a++)
    for (int b = 0; b <= a; b++)
      for (int c = 0; c <= b; c++) {
        if (seen[a][b][c] == 1) continue;
        printf("FAILED %s, t = %d: (%d, %d, %d) %d times\n", map, t, a, b, c, seen[a][b][c]);
        failures++;
      }
  memset(seen, 0, sizeof seen);
}

static void box(int t) {
  for (int z = 0; z < t; z++)
    for (int y = 0; y < t; y++)
      for (int x = 0; x < t; x++) visit(triples_map_box(x, y, z, t), t, "box");
  check_once(t, "box");
}

static void linear(int t) {
  for (int64_t w = 0; w < triples_tiles(t); w++) visit(triples_map_linear(w), t, "linear");
  check_once(t, "linear");
}

static void recursive(int t) {
  for (int level = 0; (1 << level) < t; level++)
    for (int z = 0; z < 2 * triples_nodes(t, level); z++)
      for (int y = 0; y < 1 << level; y++)
        for (int x = 0; x < triples_folded(level); x++)
          visit(triples_map_recursive(x, y, z, level, t), t, "recursive");
  for (int a = 0; a < t; a++) visit(triples_tile_of(a, a, a), t, "recursive");
  check_once(t, "recursive");
}

static void check_tile(int64_t w, int a, int b, int c) {
  const triples_tile tile = triples_map_linear(w);
  if (tile.a == a && tile.b == b && tile.c == c) return;
  printf("FAILED linear: tile %lld is (%d, %d, %d), expected (%d, %d, %d)\n", (long long)w, tile.a,
         tile.b, tile.c, a, b, c);
  failures++;
}

/* First and last tile of planes. */
static void edges(void) {
  for (int64_t a = 1; a < 1 << 20; a = a * 9 / 8 + 1) {
    const int64_t first = triples_tiles(a), rows = a + 1;
    check_tile(first, (int)a, 0, 0);
    check_tile(first - 1, (int)a - 1, (int)a - 1, (int)a - 1);
    check_tile(first + rows * (rows + 1) / 2 - 1, (int)a, (int)a, (int)a);
    check_tile(first + a * (a + 1) / 2, (int)a, (int)a, 0);
  }
}

int main(void) {
  for (int t = 1; t <= MOST; t++) {
    box(t);
    linear(t);
    recursive(t);
  }
  edges();
  printf("%s\n", failures == 0 ? "every tile once" : "FAILED");
  return failures != 0;
}
