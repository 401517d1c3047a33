/* The kernels of xc for processors other than x86-64. */
#define XC_LOOPS xc_loops_any
#define XC_LEVEL 0
#include "xc_loops_body.h"
