/**
 * @file fractal_fill.cuh
 * exact = 0: tiles whose uniform borders are filled (Mariani-Silver), a tile to a warp.
 *
 * The image is cut into tiles of FRACTAL_TILE x FRACTAL_TILE at multiples of it; a tile is clipped
 * to the box of its unit. The rule: compute the border of a box; where it is uniform, fill the
 * inside with its value; else, where a side is at most FRACTAL_SMALL, compute the inside; else cut
 * rows and columns in the middle and do the same with the four. All boxes of one depth of a tile
 * are computed together. Filled pixels chosen by fractal_is_sampled are computed in the end.
 */
#pragma once

#include "fractal_rows.cuh"

enum {
  FRACTAL_SMALL = 4,
  FRACTAL_DEPTHS = 4,     /* sides 32, 16, 8, 4 */
  FRACTAL_MAX_BOXES = 64, /* of the last depth */
  FRACTAL_WARPS = FRACTAL_BLOCK / 32,
  FRACTAL_FILL_RESIDENT = 6 /* blocks on a multiprocessor: registers for the tile's state */
};
static_assert(FRACTAL_TILE == 32, "a lane is a column of a tile; depths follow from the side");

/** A part of a tile, tile coordinates. */
struct fractal_part {
  uint8_t row, column, rows, columns;
  uint8_t all; /* its inside is to be computed; else its border */
};

/** A tile in work, in shared memory of its warp. */
struct fractal_tile {
  uint32_t value[FRACTAL_TILE * FRACTAL_TILE];
  uint16_t list[FRACTAL_TILE * FRACTAL_TILE]; /* pixels to compute */
  uint32_t known[FRACTAL_TILE];               /* bit c of [r]: computed, filled or listed */
  uint32_t filled[FRACTAL_TILE];
  fractal_part parts[2][FRACTAL_MAX_BOXES];
};

/** Is the lane's column in the part's row r on its border, or anywhere when all? */
static __device__ __forceinline__ bool fractal_on_border(const fractal_part &part, int r, int lane,
                                                         bool all) {
  const int c = lane - part.column;
  if (c < 0 || c >= part.columns) return false;
  return all || r == 0 || r == part.rows - 1 || c == 0 || c == part.columns - 1;
}

/** SOURCE: a tile's list. The same in all lanes but for at and count. */
template <class R> struct fractal_tile_source {
  const fractal_args<R> &a;
  fractal_tile &tile;
  int64_t row, column; /* of the tile in the image */
  int next, n;
  bool checks; /* compare with the filled values instead of storing */
  bool dry;
  int at;
  unsigned long long wrong;

  __device__ __forceinline__ fractal_tile_source(const fractal_args<R> &args, fractal_tile &shared)
      : a(args), tile(shared), row(0), column(0), next(0), n(0), checks(false), dry(true), at(0),
        wrong(0) {
  }

  __device__ __forceinline__ bool empty() const {
    return dry;
  }

  __device__ __forceinline__ bool take(bool wanted, R *px, R *py) {
    const unsigned wants = __ballot_sync(FRACTAL_ALL, wanted);
    const int mine = next + __popc(wants & ((1u << (threadIdx.x % 32)) - 1));
    const bool got = wanted && mine < n;
    if (got) {
      at = tile.list[mine];
      *px = a.x[column + at % FRACTAL_TILE];
      *py = a.y[row + at / FRACTAL_TILE];
    }
    next = min(n, next + __popc(wants));
    dry = next == n;
    return got;
  }

  __device__ __forceinline__ void put(uint32_t value) {
    if (checks)
      wrong += tile.value[at] != value;
    else
      tile.value[at] = value;
  }
};

/** A warp that fills tiles. Members are the same in all lanes but for the sums. */
template <class W, bool PERIODIC> struct fractal_filler {
  typedef typename W::R R;
  const fractal_args<R> &a;
  fractal_tile &tile;
  fractal_tile_source<R> source;
  fractal_part whole; /* the tile's part of the unit */
  int lane, n_parts;
  unsigned long long filled, sampled; /* of this lane */

  __device__ __forceinline__ fractal_filler(const fractal_args<R> &args, fractal_tile &shared)
      : a(args), tile(shared), source(args, shared), whole(), lane((int)threadIdx.x % 32),
        n_parts(0), filled(0), sampled(0) {
  }

  /* Append the wanting lanes' columns of row r to the list. */
  __device__ __forceinline__ void append(int r, bool wanted) {
    const unsigned wants = __ballot_sync(FRACTAL_ALL, wanted);
    if (wanted)
      tile.list[source.n + __popc(wants & ((1u << lane) - 1))] =
          (uint16_t)(r * FRACTAL_TILE + lane);
    source.n += __popc(wants);
  }

  /* The list: what the parts need and is not known. */
  __device__ void list_parts(const fractal_part *parts) {
    for (int p = 0; p < n_parts; p++) {
      const fractal_part part = parts[p];
      for (int r = 0; r < part.rows; r++) {
        const uint32_t known = tile.known[part.row + r];
        const bool wanted =
            fractal_on_border(part, r, lane, part.all) && ((known >> lane) & 1u) == 0;
        append(part.row + r, wanted);
        const unsigned wants = __ballot_sync(FRACTAL_ALL, wanted);
        __syncwarp();
        if (lane == 0) tile.known[part.row + r] = known | wants;
        __syncwarp();
      }
    }
  }

  /* The list: filled pixels of the sample. */
  __device__ void list_sample() {
    for (int r = 0; r < FRACTAL_TILE; r++) {
      const bool mine = ((tile.filled[r] >> lane) & 1u) != 0;
      const bool chosen = mine && fractal_is_sampled(source.row + r, source.column + lane);
      filled += mine;
      sampled += chosen;
      append(r, chosen);
    }
  }

  /* Has the border of the part one value? */
  __device__ bool is_uniform(const fractal_part &part) const {
    const uint32_t value = tile.value[part.row * FRACTAL_TILE + part.column];
    bool differs = false;
    for (int r = 0; r < part.rows; r++)
      if (fractal_on_border(part, r, lane, false))
        differs |= tile.value[(part.row + r) * FRACTAL_TILE + lane] != value;
    return !__any_sync(FRACTAL_ALL, differs);
  }

  __device__ void fill(const fractal_part &part) {
    const uint32_t value = tile.value[part.row * FRACTAL_TILE + part.column];
    for (int r = 1; r < part.rows - 1; r++) {
      const bool inside = lane > part.column && lane < part.column + part.columns - 1;
      const unsigned mask = __ballot_sync(FRACTAL_ALL, inside);
      if (inside) tile.value[(part.row + r) * FRACTAL_TILE + lane] = value;
      if (lane == 0) {
        tile.known[part.row + r] |= mask;
        tile.filled[part.row + r] |= mask;
      }
    }
  }

  /* Four quarters of a part to parts[n..]; lane 0 writes. */
  __device__ __forceinline__ void quarter(const fractal_part &part, fractal_part *parts) const {
    const int rows = part.rows / 2, columns = part.columns / 2;
    for (int q = 0; q < 4 && lane == 0; q++) {
      const bool low = q / 2 != 0, right = q % 2 != 0;
      parts[q].row = (uint8_t)(part.row + (low ? rows : 0));
      parts[q].column = (uint8_t)(part.column + (right ? columns : 0));
      parts[q].rows = (uint8_t)(low ? part.rows - rows : rows);
      parts[q].columns = (uint8_t)(right ? part.columns - columns : columns);
      parts[q].all = 0;
    }
  }

  /* What is to be done next, from parts whose borders are known. */
  __device__ void divide(const fractal_part *parts, fractal_part *next) {
    int n = 0;
    for (int p = 0; p < n_parts; p++) {
      const fractal_part part = parts[p];
      if (part.all) continue;
      if (is_uniform(part)) {
        fill(part);
      } else if (part.rows <= FRACTAL_SMALL || part.columns <= FRACTAL_SMALL) {
        if (lane == 0) {
          next[n] = part;
          next[n].all = 1;
        }
        n++;
      } else {
        quarter(part, next + n);
        n += 4;
      }
    }
    n_parts = n;
    __syncwarp();
  }

  /* All depths, the insides of the last one, and then the sample. */
  __device__ void compute() {
    for (int depth = 0; depth < FRACTAL_DEPTHS + 2; depth++) {
      source.checks = depth == FRACTAL_DEPTHS + 1;
      source.next = source.n = 0;
      if (source.checks)
        list_sample();
      else
        list_parts(tile.parts[depth % 2]);
      __syncwarp();
      source.dry = source.n == 0;
      if (!source.dry) fractal_lanes<W, PERIODIC>(a, source);
      __syncwarp();
      if (!source.checks) divide(tile.parts[depth % 2], tile.parts[(depth + 1) % 2]);
    }
  }

  /* The part of tile t that lies in its unit. */
  __device__ void begin(const fractal_box &box, int64_t t) {
    const int64_t first = box.column / FRACTAL_TILE;
    const int64_t across = tsl_ceil_div(box.column + box.columns, FRACTAL_TILE) - first;
    source.row = (box.row / FRACTAL_TILE + t / across) * FRACTAL_TILE;
    source.column = (first + t % across) * FRACTAL_TILE;
    const int64_t top = max(box.row - source.row, (int64_t)0);
    const int64_t left = max(box.column - source.column, (int64_t)0);
    const int64_t bottom = min(box.row + box.rows - source.row, (int64_t)FRACTAL_TILE);
    const int64_t right = min(box.column + box.columns - source.column, (int64_t)FRACTAL_TILE);
    whole.row = (uint8_t)top;
    whole.column = (uint8_t)left;
    whole.rows = (uint8_t)(bottom - top);
    whole.columns = (uint8_t)(right - left);
    whole.all = 0;
    __syncwarp();
    tile.known[lane] = 0;
    tile.filled[lane] = 0;
    if (lane == 0) tile.parts[0][0] = whole;
    n_parts = 1;
    __syncwarp();
  }

  /* The tile to the unit's values. */
  __device__ void store(const fractal_box &box, fractal_count *count) const {
    for (int r = whole.row; r < whole.row + whole.rows; r++) {
      if (lane < whole.column || lane >= whole.column + whole.columns) continue;
      const uint32_t value = tile.value[r * FRACTAL_TILE + lane];
      const int64_t at =
          (source.row + r - box.row) * box.columns + source.column + lane - box.column;
      if (a.p.value_type == TSL_U32)
        ((uint32_t *)box.out)[at] = value;
      else
        ((uint16_t *)box.out)[at] = (uint16_t)value;
      count->add(value);
    }
    __syncwarp();
  }
};

template <class W, bool PERIODIC>
static __global__ void __launch_bounds__(FRACTAL_BLOCK, FRACTAL_FILL_RESIDENT)
    fractal_fill_kernel(const __grid_constant__ fractal_args<typename W::R> a) {
  __shared__ fractal_tile tiles[FRACTAL_WARPS];
  fractal_filler<W, PERIODIC> filler(a, tiles[threadIdx.x / 32]);
  fractal_count count = {};
  for (;;) {
    const int64_t t = fractal_draw(a.ticket, 1);
    if (t >= a.n_pieces) break;
    const fractal_box box = a.boxes[fractal_box_of(a.boxes, a.n_boxes, t)];
    filler.begin(box, t - box.first);
    filler.compute();
    filler.store(box, &count);
  }
  if (a.sums) fractal_add_total(a.totals + FRACTAL_TOTAL_VALUES, count.values);
  fractal_add_total(a.totals + FRACTAL_TOTAL_INSIDE, count.inside);
  fractal_add_total(a.totals + FRACTAL_TOTAL_FILLED, filler.filled);
  fractal_add_total(a.totals + FRACTAL_TOTAL_SAMPLED, filler.sampled);
  fractal_add_total(a.totals + FRACTAL_TOTAL_WRONG, filler.source.wrong);
}
