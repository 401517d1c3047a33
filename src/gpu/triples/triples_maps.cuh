/**
 * @file triples_maps.cuh
 * Index arithmetic of the maps from thread blocks to tiles of a tetrahedron.
 *
 * Plain functions for host and device, so that a test without a card checks that each map meets
 * every tile exactly once. Tiles are (a, b, c), 0 <= c <= b <= a < t; with side B a tile holds the
 * triples (i, j, k) of a B + 0.., b B + 0.., c B + 0.., of which those with i > j > k count.
 *
 * Sources: box, the full cube; recursive, halves of a tetrahedron as in Navarro, Bustos and
 * Hitschfeld 2016 (two tetrahedra and two prisms of half the side; any t: bits of the indices);
 * linear, the number of a tile solved for its indices by cube and square root (Navarro and
 * Hitschfeld 2013) with an integer correction, exact for every t; planes, a linear map of the
 * triangle (a, b) whose blocks go through c.
 */
#pragma once

#include "tri_maps.cuh"

/** A tile of the tetrahedron, or none (a < 0). */
typedef struct triples_tile {
  int a, b, c;
} triples_tile;

TRI_MAP_FN triples_tile triples_tile_of(int a, int b, int c) {
  triples_tile tile;
  tile.a = a;
  tile.b = b;
  tile.c = c;
  return tile;
}

TRI_MAP_FN triples_tile triples_tile_cut(int a, int b, int c, int t) {
  return a < t && b <= a && c <= b ? triples_tile_of(a, b, c) : triples_tile_of(-1, -1, -1);
}

/** Tiles of a tetrahedron of side t; t <= 2^20. */
TRI_MAP_FN int64_t triples_tiles(int64_t t) {
  return t * (t + 1) / 2 * (t + 2) / 3;
}

/** Box: grid t x t x t. */
TRI_MAP_FN triples_tile triples_map_box(int x, int y, int z, int t) {
  return triples_tile_cut(z, y, x, t);
}

/** Linear: tile number w of triples_tiles(t). */
TRI_MAP_FN triples_tile triples_map_linear(int64_t w) {
  int64_t a = (int64_t)cbrtf(6.0f * (float)w);
  while (triples_tiles(a) > w) a--;
  while (triples_tiles(a + 1) <= w) a++;
  const int64_t rest = w - triples_tiles(a), b = tri_ltm_row(rest);
  return triples_tile_of((int)a, (int)b, (int)(rest - b * (b + 1) / 2));
}

/** Recursive: tetrahedra of side 2^(level + 1) that reach beyond their half, in t tile rows. */
TRI_MAP_FN int triples_nodes(int t, int level) {
  const int s = 1 << level;
  return t > s ? (t - 1 - s) / (2 * s) + 1 : 0;
}

/** Tiles of the triangle of side s = 2^level, folded to a rectangle without a gap. */
TRI_MAP_FN int triples_folded(int level) {
  return level == 0 ? 1 : (1 << (level - 1)) * ((1 << level) + 1);
}

/** Tile w of that rectangle as row >= column of the triangle. */
TRI_MAP_FN tri_cell triples_unfold(int w, int level) {
  const int s = 1 << level, half = s / 2;
  if (level == 0) return tri_cell_of(0, 0);
  const int y = w / half, x = w % half;
  return x < y ? tri_cell_of(y - 1, x) : tri_cell_of(s - 1 - y, s - 1 - x);
}

/** Recursive: grid triples_folded(level) x 2^level x 2 triples_nodes(t, level): of each node the
 *  prism with a in the upper half, and the one with a and b there. */
TRI_MAP_FN triples_tile triples_map_recursive(int x, int y, int z, int level, int t) {
  const int s = 1 << level, lower = (z / 2) * 2 * s, upper = lower + s;
  const tri_cell pair = triples_unfold(x, level);
  if (z % 2 == 0) return triples_tile_cut(upper + y, lower + pair.r, lower + pair.c, t);
  return triples_tile_cut(upper + pair.r, upper + pair.c, lower + y, t);
}
