/** @file tri_kernels_v4.c  Kernels for x86-64-v4. */
#define TRI_LEVEL 4
#define TRI_TABLE tri_kernels_v4
#include "tri_kernels.h"
