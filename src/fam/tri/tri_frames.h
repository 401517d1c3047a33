/**
 * @file tri_frames.h
 * Frames of a trajectory: pairs of atoms within a cut-off, frame by frame.
 *
 * A unit is the frames [lo[0], hi[0]) of those that were chosen. Whoever computes it reads them
 * from the file, which all ranks must see, sorts the atoms and counts their pairs (tri_frame.h).
 * Counts are integers, and each frame has rows of its own in the results: they depend on nobody's
 * share.
 */
#pragma once

#include "tri_frame.h"

TSL_C_BEGIN

/**
 * Indices into problem->fields where params.frames > 0; F = params.frames, and [slots], pairs of
 * kinds, is there with kinds alone. Workers count pairs of classes: of kinds, or, with
 * frames_weighted, of kinds and weights, which tri_frames_put adds up.
 *   TRI_FRAMES_PATH     IN   u8 [.] of the file, zero-ended
 *   TRI_FRAMES_PLACES   IN   i64 [F][3] trajectory_place
 *   TRI_FRAMES_CLASSES  IN   i32 [n] or [0]  kind of each atom
 *   TRI_FRAMES_SLOTS    IN   i32 [classes][classes]  histogram that two kinds count into, symmetric
 *   TRI_FRAMES_PAIRS    IN   f64 [slots, at least 1]  pairs of atoms of each
 *   TRI_FRAMES_NAMES    IN   u8 [n][TRAJECTORY_NAME], with params.frames_named, else [0]
 *   TRI_FRAMES_LIST     IN   i64 [m][2] pairs of atoms, m = params.frames_pairs, else [0]
 *   TRI_FRAMES_SLOT_OF  IN   i32 [classes' slots] with params.frames_weighted, else [0]: pair of
 *                            kinds that a pair of classes is of
 *   TRI_FRAMES_WEIGHTS  IN   f64 [the same] product of the two classes' weights
 *   TRI_FRAMES_NUMBERS  OUT  "frames" GATHER i64 [F]
 *   TRI_FRAMES_ROWS     OUT  histogram: "counts_frames" GATHER stream u64 [F][slots][bins];
 *                            threshold: "contacts" GATHER u64 [F]
 *   TRI_FRAMES_VOLUMES  OUT  "volumes" GATHER f64 [F], 0 without a cell
 *   TRI_FRAMES_RDF      OUT  "rdf_frames" GATHER stream f64 [F][slots][bins], of a histogram of
 *                            frames with cells (tri_frames_has_rdf); behind it, or in its place,
 *                            with frames_weighted "weighted_counts_frames", likewise; or
 *   TRI_FRAMES_DISTANCES OUT "distances" GATHER stream f64 [F][m] of the pairs of a list, and
 *   TRI_FRAMES_IN_CONTACT OUT "in_contact" GATHER stream u8 [F][m], 1: within the threshold,
 * and what tri_frames_finish makes of them.
 */
enum {
  TRI_FRAMES_PATH,
  TRI_FRAMES_PLACES,
  TRI_FRAMES_CLASSES,
  TRI_FRAMES_SLOTS,
  TRI_FRAMES_PAIRS,
  TRI_FRAMES_NAMES,
  TRI_FRAMES_LIST,
  TRI_FRAMES_SLOT_OF,
  TRI_FRAMES_WEIGHTS,
  TRI_FRAMES_NUMBERS,
  TRI_FRAMES_ROWS,
  TRI_FRAMES_VOLUMES,
  TRI_FRAMES_RDF,
  TRI_FRAMES_DISTANCES = TRI_FRAMES_RDF,
  TRI_FRAMES_IN_CONTACT
};

/** Kinds, 0: all are alike; pairs of them, likewise; counts of a frame in the results. */
static inline int32_t tri_frames_n_kinds(const tri_params *p) {
  return p->frames_weighted ? p->frames_kinds : p->classes;
}
static inline int64_t tri_frames_slots(const tri_params *p) {
  return p->frames_weighted ? (int64_t)p->frames_kinds * (p->frames_kinds + 1) / 2 : p->slots;
}
static inline int64_t tri_frames_cells(const tri_params *p) {
  return tri_frames_slots(p) > 0 ? tri_frames_slots(p) * p->bins : p->bins;
}

/** Number of the pair (a, b), a <= b < n: (0, 0), (0, 1), .., (1, 1), .. */
static inline int64_t tri_frames_pair_of(int64_t n, int64_t a, int64_t b) {
  return a * n - a * (a - 1) / 2 + b - a;
}

/** What a thread needs to read frames; tri_frames_slot_clear() also after an error. */
typedef struct tri_frames_slot {
  trajectory_reader *reader;
  trajectory_frame read;
  tri_frame frame;
} tri_frames_slot;

tsl_err tri_frames_slot_create(const tsl_problem *problem, tri_frames_slot *slot);
void tri_frames_slot_clear(tri_frames_slot *slot);

/** Read and prepare frame k of those chosen, into slot->frame. */
tsl_err tri_frames_slot_read(const tsl_problem *problem, int64_t k, tri_frames_slot *slot);

/** Put the results of frame k of a unit where they belong. @param[in] counts  [pairs of classes, at
 *  least 1][bins] */
void tri_frames_put(const tsl_problem *problem, const tsl_unit *unit, int64_t k, double volume,
                    const uint64_t *counts, tsl_part *part);

/** The same of the pairs of a list, whose distances are worked out here. */
void tri_frames_put_pairs(const tsl_problem *problem, const tsl_unit *unit, int64_t k,
                          const tri_frames_slot *slot, tsl_part *part);

/** Of `pairs` in all, those that an ideal gas in a volume has in bin b. */
double tri_frames_ideal(const tri_params *p, double pairs, double volume, int64_t b);

/** g(r) of a frame in bin b; 0 without a volume or pairs. */
double tri_frames_rdf(const tri_params *p, uint64_t count, double pairs, double volume, int64_t b);

/** Is g(r) of frames a field? */
bool tri_frames_has_rdf(const tsl_problem *problem);

TSL_C_END
