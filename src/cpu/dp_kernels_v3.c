/** @file dp_kernels_v3.c  Kernels for x86-64-v3. */
#define DP_SIMD_LEVEL 3
#define DP_SIMD_TABLE dp_kernels_v3
#include "dp_kernels_body.h"
