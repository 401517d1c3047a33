/* Instance of the histogram kernels (tri_histogram.cuh) for fp64. */
#include "tri_histogram.cuh"

template tsl_err tri_histogram_rows<double>(const tri_gpu *, const tri_args<double> *, int64_t,
                                            int64_t);
