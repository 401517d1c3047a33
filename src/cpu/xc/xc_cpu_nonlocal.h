/**
 * @file xc_cpu_nonlocal.h
 * Groups of non-local correlation on a socket (xc_nonlocal.h).
 */
#pragma once

#include "xc_cpu_groups.h"

/** The first phase: density and its gradient at the points of groups, into w->densities. Each point
 *  is one thread's. @param[out] parts  [n] seconds are set */
tsl_err xc_nonlocal_densities(tsl_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts);

/**
 * The second: the piece's points meet all sites, which sets the arrays of energy, derivatives and
 * the gradient of the density as xc_work_evaluate does; the spins have equal derivatives, and half
 * of the gradient each.
 * @param[out] force  [3][n] dE/dr of the points, and the energies then are dE/dw; NULL: neither
 */
void xc_nonlocal_evaluate(const xc_work *k, double *const force[3]);
