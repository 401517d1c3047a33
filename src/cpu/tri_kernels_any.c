/** @file tri_kernels_any.c  Kernels for processors other than x86-64. */
#define TRI_LEVEL 0
#define TRI_TABLE tri_kernels_any
#include "tri_kernels.h"
