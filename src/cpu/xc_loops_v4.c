/** @file xc_loops_v4.c  Loops of xc for x86-64-v4. */
#define XC_LEVEL 4
#define XC_LOOPS xc_loops_v4
#include "xc_loops_body.h"
