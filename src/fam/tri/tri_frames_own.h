/**
 * @file tri_frames_own.h
 * What the files of frames share on the root, while a problem is made.
 */
#ifndef TSL_FAM_TRI_FRAMES_OWN_H
#define TSL_FAM_TRI_FRAMES_OWN_H

#include "tri_frames.h"
#include "tri_marks.h"

/** What was read; tri_frames_input_clear frees it. */
typedef struct tri_frames_input {
  char *path; /**< of the file, for all ranks */
  trajectory t;
  tri_marks marks;     /**< kinds of the atoms, or none */
  int64_t (*pairs)[2]; /**< [n_pairs] of a list, or NULL */
  int64_t n_pairs;
  trajectory_name *names; /**< [n] of the first frame, which all others must have; or NULL */
} tri_frames_input;

void tri_frames_input_clear(tri_frames_input *in);

/** Read the kinds of the atoms, if the deck has them, and set params.classes and slots.
 *  @return TSL_ERR_INPUT naming the file and the deck's key */
tsl_err tri_frames_kinds(const tsl_deck *deck, const tri_deck *s, tri_frames_input *in,
                         tri_params *p);

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

#endif
