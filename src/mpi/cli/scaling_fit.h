/**
 * @file scaling_fit.h
 * Serial fractions that fit times on numbers of nodes. Pure functions, tested without MPI.
 */
#pragma once

#include <stdint.h>

/**
 * Amdahl 1967: T(N) = T(1) (s + (1 - s) / N), least squares of T(N) / T(1).
 * @param[in] nodes,seconds  shape [n]
 * @param[in] one            s on one node, positive
 * @return s, a part of the time on one node; NaN when no N is above 1
 */
double tsl_fit_amdahl(const int64_t *nodes, const double *seconds, int n, double one);

/**
 * Gustafson 1988: T(1) / T(N) = N - s (N - 1), least squares.
 * @return s, a part of the time on N nodes; NaN when no N is above 1
 */
double tsl_fit_gustafson(const int64_t *nodes, const double *seconds, int n, double one);
