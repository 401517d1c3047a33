/** @file fractal_kernels_v4.c  Kernels for x86-64-v4. */
#define FRACTAL_LEVEL 4
#define FRACTAL_TABLE fractal_kernels_v4
#include "fractal_kernels.h"
