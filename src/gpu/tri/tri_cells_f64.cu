/* Instance of the kernels of cells (tri_cells.cuh) for fp64. */
#include "tri_cells.cuh"

template tsl_err tri_cells_rows<double>(const tri_gpu *, const tri_args<double> *, int64_t,
                                        int64_t);
template tsl_err tri_near_cells<double>(const tri_gpu *, const tri_boxes<double> *,
                                        const tri_near_rows *);
