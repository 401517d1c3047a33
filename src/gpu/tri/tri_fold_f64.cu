/* Instance of the kernels of row reductions (tri_fold.cuh) for fp64. */
#include "tri_fold.cuh"

template tsl_err tri_fold_rows<double>(const tri_gpu *, const tri_args<double> *, int64_t, int64_t,
                                       const tri_fold<double> *);
