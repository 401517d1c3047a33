/* Scores of alignments on a card: memory, the launches for a list and for a strip. */
#include "tri_couples.cuh"

#include <algorithm>

typedef void (*couples_kernel)(tri_letters_args, tri_pairs, unsigned *);
typedef void (*again_kernel)(tri_letters_args, tri_pairs, int64_t, unsigned *);

template <bool LIST> static couples_kernel couples_kernel_of(int function) {
  return function == TRI_LOCAL       ? tri_couples_kernel<LIST, TRI_LOCAL>
         : function == TRI_EXTENSION ? tri_couples_kernel<LIST, TRI_EXTENSION>
                                     : tri_couples_kernel<LIST, TRI_GLOBAL>;
}

static couples_kernel couples_kernel_of(const tri_params *p) {
  return p->output == TRI_PAIRED ? couples_kernel_of<true>(p->function)
                                 : couples_kernel_of<false>(p->function);
}

/* Bytes of shared memory of a warp. */
static int shared_of(const tri_params *p) {
  const bool whole = p->longest > TRI_COUPLE_SHORT;
  return p->output == TRI_PAIRED ? tri_couple_shared<true>(p->codes, whole)
                                 : tri_couple_shared<false>(p->codes, whole);
}

static again_kernel again_kernel_of(const tri_params *p) {
  return p->function == TRI_LOCAL       ? tri_pairs_again<TRI_LOCAL>
         : p->function == TRI_EXTENSION ? tri_pairs_again<TRI_EXTENSION>
                                        : tri_pairs_again<TRI_GLOBAL>;
}

/* May there be tables that 16 bits do not hold? */
static bool may_be_wide(const tri_params *p) {
  typedef tri_couple_shape<false, true> largest;
  const int64_t n = p->longest, most = n * (p->most > 0 ? p->most : 0);
  if (!tri_couple_fits(p)) return true;
  if (p->function == TRI_LOCAL) return most > tri_couple_largest<TRI_LOCAL>(p);
  return p->function == TRI_GLOBAL ? !tri_is_narrow(n, n, p)
                                   : most > tri_couple_largest<TRI_EXTENSION>(p) ||
                                         !tri_couple_deep<largest>(p, (int)n, (int)n);
}

tri_pairs tri_pairs_of(const tri_gpu *w) {
  tri_pairs pairs = {};
  pairs.longest = (int)std::max<int64_t>(w->p.longest, 1);
  pairs.most = std::min<int>(pairs.longest, TRI_COUPLE_SHORT);
  pairs.wide = w->p.type == TSL_F64;
  return pairs;
}

tsl_err tri_align_open(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  const tri_pairs pairs = tri_pairs_of(w);
  const int64_t couples = tri_couple_edges(&pairs) * (int64_t)sizeof(uint2);
  const int64_t again = TRI_LETTERS_THREADS / 32 * pairs.longest * (int64_t)sizeof(int2);
  int blocks = 0;
  TSL_CUDA_TRY(cudaFuncSetAttribute(couples_kernel_of(&w->p),
                                    cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared));
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, couples_kernel_of(&w->p), 32,
                                                             (size_t)shared_of(&w->p)));
  l->resident = tri_letters_at_once(w, couples, blocks);
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, again_kernel_of(&w->p),
                                                             TRI_LETTERS_THREADS, 0));
  l->resident_again = may_be_wide(&w->p) ? tri_letters_at_once(w, again, blocks) : 0;
  TSL_TRY(tri_letters_below(w, std::max(l->resident * couples, l->resident_again * again),
                            "gaps between tiles of patterns"));
done:
  return err;
}

tsl_err tri_align_run(tri_gpu *w, const tri_pairs *pairs, int64_t n, unsigned *counters) {
  tsl_err err = TSL_OK;
  const tri_letters_state *const l = w->letters;
  const int warps = TRI_LETTERS_THREADS / 32;
  const int64_t value = pairs->wide ? 8 : 4;
  const int64_t wanted = tsl_ceil_div(n, 2), again = tsl_ceil_div(n, (int64_t)32 * warps);
  TSL_CUDA_TRY(cudaMemsetAsync(counters, 0, 2 * sizeof *counters, w->stream));
  if (tri_couple_fits(&w->p))
    TSL_LAUNCH(couples_kernel_of(&w->p), dim3((unsigned)std::min<int64_t>(wanted, l->resident)), 32,
               shared_of(&w->p), w->stream, tri_letters_args_of(w), *pairs, &counters[0]);
  else /* no value is a number */
    TSL_CUDA_TRY(cudaMemsetAsync(pairs->out, 0xff, (size_t)(n * value), w->stream));
  if (l->resident_again > 0)
    TSL_LAUNCH(again_kernel_of(&w->p), dim3((unsigned)std::min<int64_t>(again, l->resident_again)),
               TRI_LETTERS_THREADS, 0, w->stream, tri_letters_args_of(w), *pairs, n, &counters[1]);
done:
  return err;
}

template <class R>
tsl_err tri_align_rows(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1, R *out) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  tri_letters_set *const set = l->sets;
  tri_pairs pairs = tri_pairs_of(w);
  TSL_TRY(tri_letters_order(w, a, b, &set->rows, TRI_COUPLE_SHORT, &pairs.long_rows));
  TSL_TRY(tri_letters_order(w, c0, c1, &l->columns, TRI_COUPLE_SHORT, &pairs.long_columns));
  pairs.rows = (const int *)set->rows.data, pairs.columns = (const int *)l->columns.data;
  pairs.n_rows = (int)(b - a), pairs.n_columns = pairs.ld = (int)(c1 - c0);
  pairs.lo = (int)a, pairs.first = (int)c0;
  pairs.out = out;
  TSL_TRY(tri_align_run(w, &pairs, (b - a) * (c1 - c0), (unsigned *)set->counter.data));
done:
  return err;
}

template tsl_err tri_align_rows<float>(tri_gpu *, int64_t, int64_t, int64_t, int64_t, float *);
template tsl_err tri_align_rows<double>(tri_gpu *, int64_t, int64_t, int64_t, int64_t, double *);
