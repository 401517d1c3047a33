/**
 * @file tri_frames_own.h
 * What the files of frames share on the root, while a problem is made.
 */
#pragma once

#include "tri_frames.h"
#include "tri_marks.h"

/** Counts of a frame, pairs of classes times bins, at most. */
enum { TRI_FRAMES_MOST_CELLS = 1 << 24 };

/** Atoms of one kind, 0 where all are alike, and one weight. */
typedef struct tri_frames_class {
  int32_t kind;
  double weight;
} tri_frames_class;

/** What was read; tri_frames_input_clear frees it. */
typedef struct tri_frames_input {
  char *path; /**< of the file, for all ranks */
  trajectory t;
  tri_marks marks;     /**< kinds of the atoms, or none */
  int64_t (*pairs)[2]; /**< [n_pairs] of a list, or NULL */
  int64_t n_pairs;
  tri_frames_class *classes; /**< [n_classes], with weights, or NULL */
  int64_t n_classes;
  int32_t *class_of;      /**< [n] of each atom, likewise */
  trajectory_name *names; /**< [n] of the first frame, which all others must have; or NULL */
} tri_frames_input;

void tri_frames_input_clear(tri_frames_input *in);

/** Read the kinds of the atoms, if the deck has them, and set params.classes and slots.
 *  @return TSL_ERR_INPUT naming the file and the deck's key */
tsl_err tri_frames_kinds(const tsl_deck *deck, const tri_deck *s, tri_frames_input *in,
                         tri_params *p);

/** Read the weights of the atoms, if the deck has them, after the kinds, and set
 *  params.frames_weighted, and classes and slots of kinds and weights. @return likewise */
tsl_err tri_frames_weights(const tsl_deck *deck, const tri_deck *s, tri_frames_input *in,
                           tri_params *p);
/** Add the fields TRI_FRAMES_SLOT_OF and TRI_FRAMES_WEIGHTS; say in words what there is. */
tsl_err tri_frames_add_weights(const tri_frames_input *in, tsl_problem *problem);
void tri_frames_note_weights(const tri_frames_input *in, tri_own *own);

/** Read the list of pairs, if the deck has one, and set params.frames_pairs.
 *  @return TSL_ERR_INPUT naming the deck's key, the file and the line */
tsl_err tri_frames_pairs(const tsl_deck *deck, const tri_deck *s, tri_frames_input *in,
                         tri_params *p);

/** Data of a field that no unit fills, zeroed. @param[out] out  a pointer to them; NULL: there is
 *  no such field */
tsl_err tri_frames_derived(tsl_problem *problem, const char *name, void *out);

/** Part of the frames in which each pair of the list is a contact. */
tsl_err tri_frames_finish_pairs(tsl_problem *problem, const tsl_field_rows *store);

/** Keep the kinds' names and numbers of atoms in problem->own, and say so. */
tsl_err tri_frames_keep_kinds(tri_frames_input *in, tsl_problem *problem);

/** Add all fields. @param[in] unit  of lengths */
tsl_err tri_frames_fields(const tri_frames_input *in, const char *unit, tsl_problem *problem);
