/**
 * @file progress.h
 * One line with ETA on a terminal, sparse lines otherwise. Rank 0 only; goes to stderr.
 */
#pragma once

#include <stdbool.h>

typedef struct tsl_progress {
  bool quiet, terminal, shown;
  double start, last;
  double first; /**< fraction 0..1 that was done at the start; 0 unless set after it */
} tsl_progress;

/** Begin the line; quiet: nothing is ever printed. */
void tsl_progress_start(tsl_progress *progress, bool quiet);

/** Show the fraction done (0..1) when it is time to. */
void tsl_progress_update(tsl_progress *progress, double fraction);

/** Is it time for an update? */
bool tsl_progress_due(const tsl_progress *progress);

/** End the line. */
void tsl_progress_end(tsl_progress *progress);
