/** @file tri_kernels_v2.c  Kernels for x86-64-v2. */
#define TRI_LEVEL 2
#define TRI_TABLE tri_kernels_v2
#include "tri_kernels.h"
