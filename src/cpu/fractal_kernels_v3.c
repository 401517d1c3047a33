/** @file fractal_kernels_v3.c  Kernels for x86-64-v3. */
#define FRACTAL_LEVEL 3
#define FRACTAL_TABLE fractal_kernels_v3
#include "fractal_kernels.h"
