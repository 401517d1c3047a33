/** @file xc_loops_v3.c  Loops of xc for x86-64-v3. */
#define XC_LEVEL 3
#define XC_LOOPS xc_loops_v3
#include "xc_loops_body.h"
