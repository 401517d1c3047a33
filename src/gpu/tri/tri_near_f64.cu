/* Instance of the kernels of near pairs (tri_near.cuh) for fp64. */
#include "tri_near.cuh"

template tsl_err tri_near_histogram<double>(const tri_gpu *, const tri_boxes<double> *,
                                            const tri_near_rows *);
template tsl_err tri_near_threshold<double>(const tri_gpu *, const tri_boxes<double> *,
                                            const tri_near_rows *, const tri_records<double> *);
template tsl_err tri_near_topk<double>(const tri_gpu *, const tri_boxes<double> *,
                                       const tri_near_rows *, const tri_nearest<double> *);
template tsl_err tri_near_fold<double>(const tri_gpu *, const tri_boxes<double> *,
                                       const tri_near_rows *, const tri_fold<double> *);
