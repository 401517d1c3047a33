/* Instance of the kernels of row reductions (tri_fold.cuh) for fp32. */
#include "tri_fold.cuh"

template tsl_err tri_fold_rows<float>(const tri_gpu *, const tri_args<float> *, int64_t, int64_t,
                                      const tri_fold<float> *);
