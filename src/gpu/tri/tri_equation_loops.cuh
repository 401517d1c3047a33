/* Loops of a card around an equation: text that stands after the family's (tri_equation.h), for
 * NVRTC. No guard, no header. */

/** Rows [a, b) of a result, see tri_equation.cuh. */
struct tri_equation_rows {
  i64 n, a, b;
  i64 columns, origin, first;
  int square;
  R *out;
};

enum { TRI_BLOCK = 256, TRI_ROWS = 16 };

/** Place of (i, 0) in out. */
LANG_FN i64 tri_base(const tri_equation_rows &o, i64 i) {
  return o.square ? (i - o.a) * o.columns : i * o.n - i * (i + 1) / 2 - (i + 1) - o.origin;
}

/** Condensed and square: a thread has a column, and walks down TRI_ROWS rows. */
extern "C" __global__ void __launch_bounds__(TRI_BLOCK)
    tsl_tri_store(const tri_equation_args args, const tri_equation_rows o) {
  const tri_constants c = tri_numbers(&args);
  const R *const x = (const R *)args.x, *const q = (const R *)args.q;
  const i64 i0 = o.a + (i64)blockIdx.y * TRI_ROWS, i1 = i0 + TRI_ROWS < o.b ? i0 + TRI_ROWS : o.b;
  const i64 left = (i64)blockIdx.x * TRI_BLOCK, j = left + threadIdx.x;
  if (!o.square && left + TRI_BLOCK - 1 <= i0) return;
  if (j >= (o.square ? o.columns : o.n)) return;
  const tri_point b = tri_read(x, q, args.ld, j < o.n ? j : o.n - 1);
  for (i64 i = i0; i < i1; i++) {
    if (!o.square && j <= i) break;
    const R v = tri_value(tri_read(x, q, args.ld, i), b, c);
    o.out[tri_base(o, i) + j] = o.square && (j > i || (j == i && !TRI_KEEPS)) ? (R)0 : v;
  }
}

/** All values of rows [a, b) with columns [first, first + columns): out [b - a][columns]. */
extern "C" __global__ void __launch_bounds__(TRI_BLOCK)
    tsl_tri_strip(const tri_equation_args args, const tri_equation_rows o) {
  const tri_constants c = tri_numbers(&args);
  const R *const x = (const R *)args.x, *const q = (const R *)args.q;
  const i64 i0 = o.a + (i64)blockIdx.y * TRI_ROWS, i1 = i0 + TRI_ROWS < o.b ? i0 + TRI_ROWS : o.b;
  const i64 k = (i64)blockIdx.x * TRI_BLOCK + threadIdx.x;
  if (k >= o.columns) return;
  const tri_point b = tri_read(x, q, args.ld, o.first + k);
  for (i64 i = i0; i < i1; i++)
    o.out[(i - o.a) * o.columns + k] = tri_value(tri_read(x, q, args.ld, i), b, c);
}

/** Sums of rows [a, b) over chunks, see tri_equation.cuh. */
struct tri_equation_sums {
  i64 n, a, b;
  const R *w;
  double *partial;
  double *sums;
  i64 stride, chunks;
};

enum { TRI_SUM_BLOCK = 128, TRI_SUM_ROWS = sizeof(R) == 4 && TRI_TERMS == 1 ? 2 : 1 };

LANG_FN R tri_fold(R (&lane)[TRI_LANES]) {
#pragma unroll
  for (int h = TRI_LANES / 2; h > 0; h /= 2)
#pragma unroll
    for (int l = 0; l < TRI_LANES; l++)
      if (l < h) lane[l] = lane[l] + lane[l + h];
  return lane[0];
}

/** Columns of a chunk in shared memory. */
struct tri_tile {
  __align__(16) R x[TRI_D * TRI_CHUNK];
  __align__(16) R q[(TRI_Q > 0 ? TRI_Q : 1) * TRI_CHUNK];
  __align__(16) R w[TRI_CHUNK];
};

__device__ __forceinline__ void tri_load(tri_tile &t, const tri_equation_args &args, const R *w,
                                         const i64 j, const int m) {
  for (int k = threadIdx.x; k < TRI_CHUNK; k += TRI_SUM_BLOCK) {
    const bool in = k < m;
    for (int e = 0; e < TRI_D; e++)
      t.x[e * TRI_CHUNK + k] = in ? ((const R *)args.x)[e * args.ld + j + k] : (R)0;
    for (int e = 0; e < TRI_Q; e++)
      t.q[e * TRI_CHUNK + k] = in ? ((const R *)args.q)[e * args.ld + j + k] : (R)0;
    t.w[k] = in ? w[j + k] : (R)0;
  }
}

/** One chunk of a thread's rows; own[r]: the column that is row r itself. CHECKED: m columns only,
 *  and own ones do not count. */
template <bool CHECKED>
__device__ __forceinline__ void
tri_chunk(const tri_tile &t, const tri_point (&a)[TRI_SUM_ROWS], const tri_constants &c,
          const int m, const int (&own)[TRI_SUM_ROWS], double (&sum)[TRI_SUM_ROWS][TRI_TERMS]) {
  R lane[TRI_SUM_ROWS][TRI_TERMS][TRI_LANES] = {};
#pragma unroll 1
  for (int k = 0; k < (CHECKED ? m : TRI_CHUNK); k += TRI_LANES) {
#pragma unroll
    for (int l = 0; l < TRI_LANES; l++) {
      const tri_point b = tri_read(t.x + k, t.q + k, TRI_CHUNK, l);
      const R w = t.w[k + l];
#pragma unroll
      for (int r = 0; r < TRI_SUM_ROWS; r++) {
        const tri_terms v = tri_all(a[r], b, c);
        const bool out = CHECKED && !TRI_KEEPS && k + l == own[r], end = CHECKED && k + l >= m;
#define TRI_ADD(e)                                                  \
  {                                                                 \
    const R next = LANG_FMA(out ? (R)0 : v.t##e, w, lane[r][e][l]); \
    lane[r][e][l] = end ? lane[r][e][l] : next;                     \
  }
        TRI_EACH(TRI_ADD)
      }
    }
  }
#pragma unroll
  for (int r = 0; r < TRI_SUM_ROWS; r++)
#pragma unroll
    for (int e = 0; e < TRI_TERMS; e++) sum[r][e] = (double)tri_fold(lane[r][e]);
}

/** Block (x, y): rows a + x BLOCK ROWS .., chunks y, y + gridDim.y, ... With partial each chunk's
 *  sum goes there, [chunk][term][rows of the batch]; else gridDim.y is 1 and the sums are added in
 *  order. */
extern "C" __global__ void __launch_bounds__(TRI_SUM_BLOCK)
    tsl_tri_sum(const tri_equation_args args, const tri_equation_sums o) {
  __shared__ tri_tile tile;
  const tri_constants c = tri_numbers(&args);
  const i64 first = o.a + (i64)blockIdx.x * TRI_SUM_BLOCK * TRI_SUM_ROWS;
  tri_point a[TRI_SUM_ROWS];
  i64 row[TRI_SUM_ROWS];
  int own[TRI_SUM_ROWS];
  double total[TRI_SUM_ROWS][TRI_TERMS] = {}, sum[TRI_SUM_ROWS][TRI_TERMS];
#pragma unroll
  for (int r = 0; r < TRI_SUM_ROWS; r++) {
    row[r] = first + r * TRI_SUM_BLOCK + threadIdx.x;
    a[r] = tri_read((const R *)args.x, (const R *)args.q, args.ld, row[r] < o.b ? row[r] : o.b - 1);
  }
  for (i64 chunk = blockIdx.y; chunk < o.chunks; chunk += gridDim.y) {
    const i64 j = chunk * TRI_CHUNK;
    const int m = o.n - j < TRI_CHUNK ? (int)(o.n - j) : TRI_CHUNK;
    const bool apart = j + TRI_CHUNK <= first || j >= first + TRI_SUM_BLOCK * TRI_SUM_ROWS;
    __syncthreads();
    tri_load(tile, args, o.w, j, m);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < TRI_SUM_ROWS; r++)
      own[r] = row[r] >= j && row[r] < j + TRI_CHUNK ? (int)(row[r] - j) : -1;
    if (m == TRI_CHUNK && (TRI_KEEPS || apart))
      tri_chunk<false>(tile, a, c, m, own, sum);
    else
      tri_chunk<true>(tile, a, c, m, own, sum);
#pragma unroll
    for (int r = 0; r < TRI_SUM_ROWS; r++)
#pragma unroll
      for (int e = 0; e < TRI_TERMS; e++) {
        total[r][e] += sum[r][e];
        if (o.partial && row[r] < o.b)
          o.partial[(chunk * TRI_TERMS + e) * (o.b - o.a) + row[r] - o.a] = sum[r][e];
      }
  }
#pragma unroll
  for (int r = 0; r < TRI_SUM_ROWS; r++)
#pragma unroll
    for (int e = 0; e < TRI_TERMS; e++)
      if (!o.partial && row[r] < o.b) o.sums[(row[r] - o.a) * o.stride + e] = total[r][e];
}
