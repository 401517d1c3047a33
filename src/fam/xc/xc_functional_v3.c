/** @file xc_functional_v3.c  Loops over points for x86-64-v3. */
#define XC_KERNELS xc_kernels_v3
#include "xc_functional_kernels.h"
