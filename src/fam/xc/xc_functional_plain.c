/** @file xc_functional_plain.c  The same loops over points built scalar, to measure against. */
#define XC_KERNELS xc_kernels_plain
#include "xc_functional_kernels.h"
