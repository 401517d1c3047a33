/* Instance of the histogram kernels (tri_histogram.cuh) for fp32. */
#include "tri_histogram.cuh"

template tsl_err tri_histogram_rows<float>(const tri_gpu *, const tri_args<float> *, int64_t,
                                           int64_t);
