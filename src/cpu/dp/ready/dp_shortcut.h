/**
 * @file dp_shortcut.h
 * Sequences that are alike need only a band of the table's diagonals (dp_diagonals.h).
 *
 * The path of anchors (dp_anchors.h) proves which band is certain. Where its anchors are doubtful,
 * bands that double in width are computed first, for a better path: while one costs less than an
 * eighth of what it may save, and all together at most a 25th of what pays (narrow bands are up to
 * twice as slow). With the certain band they take at most what pays; else the table is computed as
 * a whole.
 */
#pragma once

#include "dp_backend.h"

/** tsl_backend.shortcut, shortcut_part. @param[in] w  open, of the root */
tsl_err dp_shortcut_cpu(tsl_worker *w, tsl_problem *problem, double most, const tsl_step *step,
                        bool *found);
double dp_shortcut_part_cpu(const tsl_worker *w, const tsl_problem *problem);
