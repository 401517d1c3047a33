/* All bodies of xc_fn.h for one type, in their order. No guard: included by xc_fn.h for double and
 * float. */
#include "xc_fn_math_body.h"

#include "xc_fn_lda_body.h"

#include "xc_fn_gga_body.h"

#include "xc_fn_mgga_body.h"

#include "xc_fn_point_body.h"

#include "xc_fn_undef.h"
