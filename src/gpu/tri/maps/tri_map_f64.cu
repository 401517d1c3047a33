/* Instance of the seed's maps (tri_map.cuh) for fp64. */
#include "tri_map.cuh"

template tri_map_pointer<double>::type tri_map_kernel_of<double>(int map, int function);
