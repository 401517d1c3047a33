/* Instance of the threshold kernels (tri_threshold.cuh) for fp32. */
#include "tri_threshold.cuh"

template tsl_err tri_threshold_rows<float>(const tri_gpu *, const tri_args<float> *, int64_t,
                                           int64_t, const tri_records<float> *);
