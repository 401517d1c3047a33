/* Instance of the threshold kernels (tri_threshold.cuh) for fp64. */
#include "tri_threshold.cuh"

template tsl_err tri_threshold_rows<double>(const tri_gpu *, const tri_args<double> *, int64_t,
                                            int64_t, const tri_records<double> *);
