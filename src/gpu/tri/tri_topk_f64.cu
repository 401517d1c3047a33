/* Instance of the k nearest kernels (tri_topk.cuh) for fp64. */
#include "tri_topk.cuh"

template tsl_err tri_topk_rows<double>(const tri_gpu *, const tri_args<double> *, int64_t, int64_t,
                                       const tri_nearest<double> *);
