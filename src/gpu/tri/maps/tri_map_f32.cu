/* Instance of the seed's maps (tri_map.cuh) for fp32. */
#include "tri_map.cuh"

template tri_map_pointer<float>::type tri_map_kernel_of<float>(int map, int function);
