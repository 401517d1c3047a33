/**
 * @file dp_shortcut.h
 * Sequences that are alike need only a band of the table's diagonals (dp_diagonals.h).
 *
 * The path of anchors (dp_anchors.h) proves which band is certain. Where its anchors are doubtful,
 * bands that double in width are computed first, for a better path: while one costs less than an
 * eighth of what it may save, and all together at most a fortieth of the cells that are this rank's
 * part of the table (which are up to twice as slow in narrow bands). The certain band takes at most
 * 0.6 of them with what was spent; else the table is computed as a whole. One rank computes bands,
 * so its part is by its threads; where a card takes part there are none.
 */
#pragma once

#include "dp_backend.h"

/** tsl_backend.shortcut. @param[in] w  open, of the root */
tsl_err dp_shortcut_cpu(tsl_worker *w, tsl_problem *problem, const tsl_device *devices, int n,
                        bool *found);
