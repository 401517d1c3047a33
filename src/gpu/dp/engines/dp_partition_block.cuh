/**
 * @file dp_partition_block.cuh
 * A block at work on a tile of sums: products of tiles, what lies around the tile, loops of two
 * pairs, and the parts of F and G that come with a tile.
 */
#pragma once

#include "dp_partition.cuh"
#include "dp_ptx.cuh"

enum {
  PART_THREADS = 256,
  PART_HALO = 32,                /**< rows and columns around a tile that loops reach */
  PART_LD = PART_HALO + DP_PART, /**< of the window around it */
  PART_RING = 36,                /**< its rows that are there at a time */
  PART_ROW = DP_PART + 1         /**< row length in shared memory */
};

struct dp_part_multiplying {
  double a[DP_PART][PART_ROW], b[DP_PART][PART_ROW];
};

/** Lists are by column of the tile. */
struct dp_part_joining {
  double ring[PART_RING]
             [PART_LD + 1];     /**< sums of other pairs, times 2^ of both tiles' exponents */
  double jj[DP_PART][PART_ROW]; /**< S of tile (J, J); outside transposed */
  rna_weights_costs costs;
  double generic[3][DP_PART]; /**< of the next rows */
  double one[DP_PART], two_three[DP_PART], bulge[DP_PART];
  double chain[DP_PART];               /**< sums over splits in the rows of tile (I, I) */
  double stem[DP_PART], rest[DP_PART]; /**< S, R; oS, oR */
  double below[DP_PART + 1];           /**< D of the row below, from the column before on */
  double left[DP_PART + 1];            /**< D of the column before, by row */
};

struct dp_part_adding {
  double product[DP_PART][PART_ROW], term[DP_PART];
};

union dp_part_shared {
  dp_part_multiplying multiplying;
  dp_part_joining joining;
  dp_part_adding adding;
};

/** STEP as that of dp_partition_row: 1 inside, -1 outside. */
template <int STEP> struct dp_part_block {
  static const bool IN = STEP > 0;
  const dp_part_args &g;
  dp_part_shared &shared;
  dp_part_joining &s;
  int I, J, thread, column, group; /* group of 64 threads, one a column */
  int E;                           /* the tile's exponent */
  int rows;                        /* posts among its rows */

  __device__ dp_part_block(const dp_part_args &args, int i, int j)
      : g(args), shared(*(dp_part_shared *)dp_shared()), s(shared.joining), I(i), J(j),
        thread((int)threadIdx.x), column(thread % DP_PART), group(thread / DP_PART) {
    E = g.e(I, J);
    rows = min(g.posts - I * DP_PART, (int)DP_PART);
  }

  /* ---- products */

  __device__ void load(double (*to)[PART_ROW], const double *from, bool turned) {
    for (int w = thread; w < DP_PART_CELLS; w += PART_THREADS) {
      const int r = w / DP_PART, q = w % DP_PART;
      to[turned ? q : r][turned ? r : q] = from[w];
    }
  }

  /** c += scale a b; the product of a row and a column is summed first. */
  __device__ void multiply(double (&c)[4][4], double scale) {
    const dp_part_multiplying &from = shared.multiplying;
    const int row = thread / 16, col = thread % 16;
    double sum[4][4] = {};
#pragma unroll 4
    for (int m = 0; m < DP_PART; m++) {
      double a[4], b[4];
#pragma unroll
      for (int x = 0; x < 4; x++) a[x] = from.a[row + 16 * x][m], b[x] = from.b[m][col + 16 * x];
#pragma unroll
      for (int x = 0; x < 4; x++)
#pragma unroll
        for (int y = 0; y < 4; y++) sum[x][y] += a[x] * b[y];
    }
#pragma unroll
    for (int x = 0; x < 4; x++)
#pragma unroll
      for (int y = 0; y < 4; y++) c[x][y] += sum[x][y] * scale;
  }

  __device__ int64_t place(int x, int y) const {
    return (thread / 16 + 16 * x) * DP_PART + thread % 16 + 16 * y;
  }

  /** c += the product of tiles. */
  __device__ void meet(double (&c)[4][4], const double *a, bool turn_a, const double *b,
                       bool turn_b, int64_t e) {
    __syncthreads();
    load(shared.multiplying.a, a, turn_a);
    load(shared.multiplying.b, b, turn_b);
    __syncthreads();
    multiply(c, rna_weights_power(e));
  }

  __device__ void take(double (&c)[4][4], const double *tile) const {
    for (int x = 0; x < 4; x++)
      for (int y = 0; y < 4; y++) c[x][y] = tile[place(x, y)];
  }

  __device__ void put(const double (&c)[4][4], double *tile) const {
    for (int x = 0; x < 4; x++)
      for (int y = 0; y < 4; y++) tile[place(x, y)] = c[x][y];
    __syncthreads();
  }

  /* ---- what lies around */

  /** 2^ of what takes numbers of tile (k, l) to those of this one. */
  __device__ double scale_of(int k, int l) const {
    const int64_t more = (int64_t)g.e(k, l) - E;
    return rna_weights_power(IN ? more : -more);
  }

  /** A cell of the window around the tile; its own are not there yet. */
  __device__ double around(int row, int c) const {
    const int a = I * DP_PART + row - (IN ? 0 : PART_HALO);
    const int b = J * DP_PART + c - (IN ? PART_HALO : 0);
    if (a < 0 || a >= g.posts || b < 0) return 0;
    const int i = a / DP_PART, j = b / DP_PART;
    if (i > j || j >= g.tiles || (i == I && j == J)) return 0;
    return g.at(IN ? PART_V : PART_OUT_V, i, j)[a % DP_PART * DP_PART + b % DP_PART] *
           scale_of(i, j);
  }

  __device__ void fill_rows(int first, int n) {
    for (int w = thread; w < n * PART_LD; w += PART_THREADS)
      s.ring[(first + w / PART_LD) % PART_RING][w % PART_LD] =
          around(first + w / PART_LD, w % PART_LD);
  }

  __device__ void gather_costs(void) {
    const double *from = (const double *)g.costs;
    double *to = (double *)&s.costs;
    for (int w = thread; w < (int)(sizeof s.costs / sizeof(double)); w += PART_THREADS)
      to[w] = from[w];
  }

  /** The row of the window in which row r of the tile is, and the column of its first. */
  __device__ __forceinline__ int window_row(int r) const {
    return IN ? r : r + PART_HALO;
  }
  static const int FIRST = STEP > 0 ? PART_HALO : 0;

  /* ---- loops of two pairs */

  /** A row of the window, where the other pair has n1 letters before it. */
  struct other {
    const double *sums, *adds; /* from the column of this pair on */
  };
  __device__ __forceinline__ other other_of(int kind, int r, int n1) const {
    const int row = window_row(r) + STEP * (1 + n1);
    const int a = I * DP_PART + row - (IN ? 0 : PART_HALO);
    const int first = FIRST + column;
    const int which = (IN ? RNA_INNER_GENERIC : RNA_OUTER_GENERIC) + kind;
    return {s.ring[row % PART_RING] + first, g.list(which, g.letters[a], g.letters[a - STEP],
                                                    J * DP_PART - (IN ? PART_HALO : 0) + first)};
  }
  static __device__ __forceinline__ double look(const other &o, int n2) {
    return o.sums[-STEP * (1 + n2)] * o.adds[-STEP * (1 + n2)];
  }

  __device__ double sum_generic(int r) const {
    double sum = 0;
    for (int n1 = 2; n1 <= RNA_LOOP - 2; n1++) {
      const other o = other_of(DP_FOLD_GENERIC, r, n1);
#pragma unroll 4
      for (int n2 = n1 < 4 ? 6 - n1 : 2; n2 <= RNA_LOOP - n1; n2++)
        sum += look(o, n2) * s.costs.generic[n1][n2];
    }
    return sum;
  }

  __device__ double sum_one(int r) const {
    const other beside = other_of(DP_FOLD_ONE, r, 1);
    double sum = 0;
#pragma unroll 4
    for (int n = 3; n < RNA_LOOP; n++) {
      sum += look(beside, n) * s.costs.one[n];
      sum += look(other_of(DP_FOLD_ONE, r, n), 1) * s.costs.one[n];
    }
    return sum;
  }

  __device__ double sum_two_three(int r) const {
    double sum = 0;
    sum += look(other_of(DP_FOLD_TWO_THREE, r, 2), 3) * s.costs.two_three;
    sum += look(other_of(DP_FOLD_TWO_THREE, r, 3), 2) * s.costs.two_three;
    return sum;
  }

  __device__ double sum_bulge(int r) const {
    const other beside = other_of(DP_FOLD_BULGE, r, 0);
    double sum = 0;
#pragma unroll 4
    for (int n = 2; n <= RNA_LOOP; n++) {
      sum += look(beside, n) * s.costs.bulge[n];
      sum += look(other_of(DP_FOLD_BULGE, r, n), 0) * s.costs.bulge[n];
    }
    return sum;
  }

  /** All loops of row r, whose generic ones are in that list; added to v. */
  __device__ double add_loops(int r, int generic, double v) const {
    const int a = I * DP_PART + r, b = J * DP_PART + column;
    const uint8_t *x = g.letters + a;
    for (int k = 0; k < DP_FOLD_NEAR; k++) {
      const int n1 = g.near_letters[k][0], n2 = g.near_letters[k][1];
      const int row = window_row(r) + STEP * (1 + n1);
      const int key = rna_list_key(IN ? x : x - 1 - n1, 1);
      v += s.ring[row % PART_RING][FIRST + column - STEP * (1 + n2)] *
           g.near[((int64_t)k * RNA_KEYS + key) * RNA_KEYS + g.key[IN ? b : b + 1 + n2]];
    }
    const int own = IN ? RNA_OUTER_GENERIC : RNA_INNER_GENERIC;
    v += s.generic[generic][column] * *g.list(own + DP_FOLD_GENERIC, x[0], x[STEP], b);
    v += s.one[column] * *g.list(own + DP_FOLD_ONE, x[0], x[STEP], b);
    v += s.two_three[column] * *g.list(own + DP_FOLD_TWO_THREE, x[0], x[STEP], b);
    v += s.bulge[column] * *g.list(own + DP_FOLD_BULGE, x[0], x[STEP], b);
    return v;
  }

  /** Largest of all threads' values. */
  __device__ double largest(double value) {
    double *most = shared.adding.term;
    for (int d = DP_WARP / 2; d > 0; d /= 2)
      value = fmax(value, __shfl_xor_sync(DP_ALL_LANES, value, d));
    __syncthreads();
    if (thread % DP_WARP == 0) most[thread / DP_WARP] = value;
    __syncthreads();
    value = most[0];
    for (int k = 1; k < PART_THREADS / DP_WARP; k++) value = fmax(value, most[k]);
    __syncthreads();
    return value;
  }
};
