/* Instance of the k nearest kernels (tri_topk.cuh) for fp32. */
#include "tri_topk.cuh"

template tsl_err tri_topk_rows<float>(const tri_gpu *, const tri_args<float> *, int64_t, int64_t,
                                      const tri_nearest<float> *);
