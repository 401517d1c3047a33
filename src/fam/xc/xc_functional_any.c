/** @file xc_functional_any.c  Loops over points for processors other than x86-64. */
#define XC_KERNELS xc_kernels_any
#include "xc_functional_kernels.h"
