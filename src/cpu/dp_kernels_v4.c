/** @file dp_kernels_v4.c  Kernels for x86-64-v4. */
#define DP_SIMD_LEVEL 4
#define DP_SIMD_TABLE dp_kernels_v4
#include "dp_kernels_body.h"
