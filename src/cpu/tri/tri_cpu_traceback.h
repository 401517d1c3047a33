/**
 * @file tri_cpu_traceback.h
 * Alignments of the pairs of sequences that a unit keeps, on a socket (fam/tri/tri_traceback.h).
 */
#pragma once

#include "tri_extension.h"
#include "tri_traceback.h"

/** Planes of directions, after the bits of tri_extension.h. A LOCAL alignment ends where its value
 *  is 0, which the traceback counts. */
enum {
  TRI_PLANE_TOP = TRI_PLANE_UP_OPENED + 1, /**< side by side, LOCAL: larger than all before it in
                                                its row */
  TRI_N_PLANES
};

static inline int tri_planes(bool local) {
  return local ? TRI_N_PLANES : TRI_PLANE_TOP;
}

/** What the alignments of all units need: rules, and memory of each thread. */
typedef struct tri_tracer tri_tracer;
struct tri_cpu_letters;
struct tri_sequences;

/** tri_tracer_clear() also after an error. @param[in] letters  outlives it */
tsl_err tri_tracer_create(const struct tri_cpu_letters *letters, int threads, tri_tracer **tracer);
void tri_tracer_clear(tri_tracer **tracer);
/** Other sequences than those of `letters`. */
void tri_tracer_take(tri_tracer *tracer, const struct tri_sequences *sequences);
/** Cells that tracebacks have computed again, of stages but the last; NULL accepted. */
int64_t tri_tracer_again(const tri_tracer *tracer);

/** Memory for n elements of a table, of which none is kept. @param[in,out] had  what is there */
tsl_err tri_traceback_renew(int64_t n, size_t size, int64_t *had, void **memory);

/** Align the pairs of a part and fill its lists of spans and operations. PAIRED: its values too;
 *  else those, and which pairs they are of, are there. */
tsl_err tri_traceback_run(tsl_worker *worker, const tsl_unit *unit, tsl_part *part);
