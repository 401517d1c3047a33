/** @file xc_functional_v2.c  Loops over points for x86-64-v2. */
#define XC_KERNELS xc_kernels_v2
#include "xc_functional_kernels.h"
