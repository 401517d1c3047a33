/** @file fractal_kernels_any.c  Kernels for processors other than x86-64. */
#define FRACTAL_LEVEL 0
#define FRACTAL_TABLE fractal_kernels_any
#include "fractal_kernels.h"
