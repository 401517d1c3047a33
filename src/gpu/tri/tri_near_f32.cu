/* Instance of the kernels of near pairs (tri_near.cuh) for fp32. */
#include "tri_near.cuh"

template tsl_err tri_near_histogram<float>(const tri_gpu *, const tri_boxes<float> *,
                                           const tri_near_rows *);
template tsl_err tri_near_threshold<float>(const tri_gpu *, const tri_boxes<float> *,
                                           const tri_near_rows *, const tri_records<float> *);
template tsl_err tri_near_topk<float>(const tri_gpu *, const tri_boxes<float> *,
                                      const tri_near_rows *, const tri_nearest<float> *);
template tsl_err tri_near_fold<float>(const tri_gpu *, const tri_boxes<float> *,
                                      const tri_near_rows *, const tri_fold<float> *);
