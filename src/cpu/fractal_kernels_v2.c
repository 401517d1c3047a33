/** @file fractal_kernels_v2.c  Kernels for x86-64-v2. */
#define FRACTAL_LEVEL 2
#define FRACTAL_TABLE fractal_kernels_v2
#include "fractal_kernels.h"
