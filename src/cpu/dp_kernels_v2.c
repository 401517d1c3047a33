/** @file dp_kernels_v2.c  Kernels for x86-64-v2. */
#define DP_SIMD_LEVEL 2
#define DP_SIMD_TABLE dp_kernels_v2
#include "dp_kernels_body.h"
