#include "tri_map.cuh"

template tri_map_pointer<float>::type tri_map_kernel_of<float>(int map, int function);
