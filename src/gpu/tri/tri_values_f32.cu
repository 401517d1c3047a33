/* Strips of values of many dimensions (tri_values.cuh) for fp32. */
#include "tri_values.cuh"

template tsl_err tri_values_rows<float>(const tri_gpu *, int64_t, int64_t, int64_t, int64_t,
                                        float *);
