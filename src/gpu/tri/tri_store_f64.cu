/* Instance of the default map for condensed and square output (tri_store_run.cuh) for fp64. */
#include "tri_store_run.cuh"

template tsl_err tri_store_run<double>(const tri_gpu *, const tri_args<double> *, const tri_slab *,
                                       int64_t, int64_t, double *, cudaStream_t);
