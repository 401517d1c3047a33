/* Instance of the default map for condensed and square output (tri_store_run.cuh) for fp32. */
#include "tri_store_run.cuh"

template tsl_err tri_store_run<float>(const tri_gpu *, const tri_args<float> *, const tri_slab *,
                                      int64_t, int64_t, float *, cudaStream_t);
