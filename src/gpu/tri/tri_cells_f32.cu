/* Instance of the kernels of cells (tri_cells.cuh) for fp32. */
#include "tri_cells.cuh"

template tsl_err tri_cells_rows<float>(const tri_gpu *, const tri_args<float> *, int64_t, int64_t);
template tsl_err tri_near_cells<float>(const tri_gpu *, const tri_boxes<float> *,
                                       const tri_near_rows *);
