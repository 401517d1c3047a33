/** @file xc_gauss.h  Points of Gauss and Legendre. */
#pragma once

/** int_0^1 f(x) dx = sum_k w_k f(x_k), exact for polynomials of degree below 2 n.
 *  @param[out] x,w  [n], x falling */
void xc_gauss_legendre(int n, long double *x, long double *w);
