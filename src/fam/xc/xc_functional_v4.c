/** @file xc_functional_v4.c  Loops over points for x86-64-v4. */
#define XC_KERNELS xc_kernels_v4
#include "xc_functional_kernels.h"
