/* Loops of a card around an equation of three points: text that stands after the family's
 * (triples_equation.h), for NVRTC. No guard, no header. */

enum { TRIPLES_BLOCK = 128, TRIPLES_ROW_LANES = 64 };

/** Rows from first on, one for each of gridDim.y: sums of their pairs, [row][ld], and of rows. */
struct triples_equation_rows {
  i64 first;
  double *pairs, *sums;
};

/** Third points of a chunk in shared memory, with their sides to point i. */
struct triples_tile {
  R x[TRIPLES_D * TRIPLES_CHUNK];
  R q[(TRIPLES_Q > 0 ? TRIPLES_Q : 1) * TRIPLES_CHUNK];
  R r2[TRIPLES_CHUNK], r[TRIPLES_CHUNK];
};

LANG_FN R triples_fold(R (&lane)[TRIPLES_LANES]) {
#pragma unroll
  for (int h = TRIPLES_LANES / 2; h > 0; h /= 2)
#pragma unroll
    for (int l = 0; l < TRIPLES_LANES; l++)
      if (l < h) lane[l] = lane[l] + lane[l + h];
  return lane[0];
}

LANG_FN void triples_load(triples_tile &t, const triples_equation_args &args,
                          const triples_point &a, const triples_constants &c, const i64 k,
                          const int m) {
  for (int l = threadIdx.x; l < TRIPLES_CHUNK; l += TRIPLES_BLOCK) {
    const i64 from = k + (l < m ? l : m - 1);
    for (int e = 0; e < TRIPLES_D; e++)
      t.x[e * TRIPLES_CHUNK + l] = ((const R *)args.x)[e * args.ld + from];
    for (int e = 0; e < TRIPLES_Q; e++)
      t.q[e * TRIPLES_CHUNK + l] = ((const R *)args.q)[e * args.ld + from];
    const triples_side s =
        triples_side_of(a, triples_read((const R *)args.x, (const R *)args.q, args.ld, from), c);
    t.r2[l] = s.r2, t.r[l] = s.r;
  }
}

/** Sum over the third points of a chunk. CHECKED: over [0, m) but skip. */
template <bool CHECKED>
__device__ __forceinline__ double
triples_sum(const triples_tile &t, const triples_point &a, const triples_point &b,
            const triples_side &ij, const triples_constants &c, const int m, const int skip) {
  R lane[TRIPLES_LANES] = {};
#pragma unroll 1
  for (int k = 0; k < (CHECKED ? m : TRIPLES_CHUNK); k += TRIPLES_LANES) {
#pragma unroll
    for (int l = 0; l < TRIPLES_LANES; l++) {
      const triples_point third = triples_read(t.x + k, t.q + k, TRIPLES_CHUNK, l);
      const triples_side ki = {t.r2[k + l], t.r[k + l]};
      const R v = triples_value(ij, triples_side_of(b, third, c), ki, a, b, third, c);
      const bool out = CHECKED && (k + l >= m || k + l == skip);
      lane[l] = out ? lane[l] : lane[l] + v;
    }
  }
  return (double)triples_fold(lane);
}

/** A block has a row i and TRIPLES_BLOCK columns j. */
extern "C" __global__ void __launch_bounds__(TRIPLES_BLOCK)
    tsl_triples_pairs(const triples_equation_args args, const triples_equation_rows o) {
  __shared__ triples_tile tile;
  const triples_constants c = triples_numbers(&args);
  const R *const x = (const R *)args.x, *const q = (const R *)args.q;
  const i64 i = o.first + blockIdx.y, columns = TRIPLES_ALL ? args.n : i;
  const i64 left = (i64)blockIdx.x * TRIPLES_BLOCK, j = left + threadIdx.x;
  const i64 end = left + TRIPLES_BLOCK < columns ? left + TRIPLES_BLOCK : columns;
  if (left >= columns) return;
  const triples_point a = triples_read(x, q, args.ld, i);
  const triples_point b = triples_read(x, q, args.ld, j < columns ? j : columns - 1);
  const triples_side ij = triples_side_of(a, b, c);
  const bool counts = j < columns && j != i && (!TRIPLES_CUTS || ij.r2 <= c.cutoff2);
  double sum = 0;
  for (i64 k = 0; k + 1 < end; k += TRIPLES_CHUNK) {
    const int all = args.n - k < TRIPLES_CHUNK ? (int)(args.n - k) : TRIPLES_CHUNK;
    const int skip = TRIPLES_ALL && i >= k && i < k + TRIPLES_CHUNK ? (int)(i - k) : -1;
    __syncthreads();
    triples_load(tile, args, a, c, k, all);
    __syncthreads();
    if (!counts || j <= k) continue;
    const int m = j - k < TRIPLES_CHUNK ? (int)(j - k) : TRIPLES_CHUNK;
    sum += m == TRIPLES_CHUNK && skip < 0 ? triples_sum<false>(tile, a, b, ij, c, m, skip)
                                          : triples_sum<true>(tile, a, b, ij, c, m, skip);
  }
  if (j < columns) o.pairs[blockIdx.y * args.ld + j] = sum;
}

/** A block has a row: lanes by column, then lane by lane. */
extern "C" __global__ void __launch_bounds__(TRIPLES_ROW_LANES)
    tsl_triples_rows(const triples_equation_args args, const triples_equation_rows o) {
  __shared__ double lane[TRIPLES_ROW_LANES];
  const i64 i = o.first + blockIdx.y, columns = TRIPLES_ALL ? args.n : i;
  const double *const pairs = o.pairs + blockIdx.y * args.ld;
  double sum = 0;
  for (i64 j = threadIdx.x; j < columns; j += TRIPLES_ROW_LANES) sum += pairs[j];
  lane[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  sum = 0;
  for (int l = 0; l < TRIPLES_ROW_LANES; l++) sum += lane[l];
  o.sums[blockIdx.y] = sum;
}
