/**
 * @file xc_nonlocal.h
 * Non-local correlation (xc_vv10.h) on the root: its points, and what all ranks need of them.
 *
 * Its points are a grid of their own, coarser than that of the rest (xc.nonlocal), whose groups
 * follow those of the rest in the fields of the grid. An iteration takes two phases: in the first
 * units of kind XC_UNIT_NONLOCAL make the density at their points, which meet in
 * XC_SUM_NONLOCAL; the root turns it into sites; in the second each point of a unit meets all
 * sites, and adds to the exchange-correlation matrix and energy as a gradient-corrected functional
 * does. A point meets the sites in their order, whoever computes it.
 */
#pragma once

#include "xc_family.h"

/** The parameters: those of the functional, or the deck's beside a functional without. */
tsl_err xc_nonlocal_choose(const tsl_deck *deck, const xc_deck *s, xc_params *p);
/** Keys that do not go together with it, where there is any. */
tsl_err xc_nonlocal_check(const tsl_deck *deck, const xc_deck *s, const xc_params *p);
/** Append its points and groups to those of the rest; the partition of space is the same.
 *  @param[in,out] grid, own->groups, p  of the rest; p has its numbers */
tsl_err xc_nonlocal_grid(const tsl_deck *deck, const xc_deck *s, xc_own *own, xc_params *p,
                         xc_grid *grid);
/** The densities of all points are known: make sites of them. */
tsl_err xc_nonlocal_sites(tsl_problem *problem);
/** Add what the second phase has summed to the matrix and the energy of this iteration.
 *  @param[in,out] xc  [n_spin][n][n] */
tsl_err xc_nonlocal_add(const tsl_problem *problem, double *xc);
