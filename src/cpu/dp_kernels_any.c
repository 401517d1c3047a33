/** @file dp_kernels_any.c  Kernels for processors other than x86-64. */
#define DP_SIMD_LEVEL 0
#define DP_SIMD_TABLE dp_kernels_any
#include "dp_kernels_body.h"
