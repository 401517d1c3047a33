/** @file xc_loops_v2.c  Loops of xc for x86-64-v2. */
#define XC_LEVEL 2
#define XC_LOOPS xc_loops_v2
#include "xc_loops_body.h"
