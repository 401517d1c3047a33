#include "tri_store.cuh"

template tsl_err tri_store_run<float>(const tri_gpu *, const tri_args<float> *, const tri_slab *, float *,
                                   cudaStream_t);
