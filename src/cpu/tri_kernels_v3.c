/** @file tri_kernels_v3.c  Kernels for x86-64-v3. */
#define TRI_LEVEL 3
#define TRI_TABLE tri_kernels_v3
#include "tri_kernels.h"
