/**
 * @file dp_shortcut.h
 * Sequences that are alike need only a band of the table's diagonals (dp_diagonals.h).
 *
 * Bands that double in width are computed until one is certain, or a path found in one of them
 * proves which band is. All that are not known to be certain beforehand take at most a twentieth of
 * the cells that are this rank's part of the table (which are up to twice as slow in narrow bands),
 * and end early where the rest would have to be much better than what was seen; the one that is
 * takes at most 0.6 of them with what was spent. Else the table is computed as a whole. One rank
 * computes bands, so its part is by its threads; where a card takes part there are no attempts.
 */
#pragma once

#include "dp_backend.h"

/** tsl_backend.shortcut. @param[in] w  open, of the root */
tsl_err dp_shortcut_cpu(tsl_worker *w, tsl_problem *problem, const tsl_device *devices, int n,
                        bool *found);
