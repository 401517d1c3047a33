/* The end of a type in dp_kernels_body.h: its kernels are there, its words are free. No guard. */
#undef E
#undef U
#undef V
#undef I
#undef ALL
#undef T
#undef DP_NARROW
#undef DP_WHOLE
#undef DP_CHAIN
#undef DP_BEST
