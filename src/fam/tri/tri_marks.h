/**
 * @file tri_marks.h
 * What a histogram keeps apart or weighs: kinds, regions and weights of points, from columns of the
 * points' file or from files of their own; and the classes of points that follow from them.
 *
 * A class is a kind in a region. Pairs of classes count into slots: one set has a slot for each
 * unordered pair of kinds (0-0, 0-1, .., 1-1, ..), two sets for each ordered one (row, column);
 * with regions each has regions x regions, of one kind the lower region first. One table of slots
 * serves partial histograms, data and random points, jackknife and bootstrap. See
 * docs/adr/0022-sets-and-classes.md.
 */
#pragma once

#include "tri_family.h"

enum { TRI_KIND_NAME = 24, TRI_MOST_KINDS = 64, TRI_MOST_REGIONS = 1024 };

/** Name of a kind, zero-filled to its end. */
typedef char tri_kind_name[TRI_KIND_NAME];

/** Marks of the rows of a table. */
typedef struct tri_marks {
  int64_t n;
  int32_t *kind;                /**< [n], or NULL: all alike */
  int32_t *region;              /**< [n], or NULL */
  double *weight;               /**< [n], or NULL: all 1 */
  int32_t kinds, regions;       /**< at least 1 */
  char (*names)[TRI_KIND_NAME]; /**< [kinds], or NULL */
} tri_marks;

/** Read the marks of the first n rows of a set's file. s: as tri_load has it */
tsl_err tri_marks_read(const tsl_deck *deck, const tri_deck *s, int32_t format, int64_t n,
                       tri_marks *marks);

/** Kinds by the names of n points; marks are empty before. @return TSL_ERR_INPUT: too many kinds */
tsl_err tri_marks_name(int64_t n, const tri_kind_name *names, tri_marks *marks);

/** Put the other set's marks before those of the first; self: kinds are the two sets. */
tsl_err tri_marks_join(const tsl_deck *deck, const tri_deck *s, const tri_marks *first,
                       const tri_marks *other, tri_marks *both);

void tri_marks_clear(tri_marks *marks);

/** Add the fields TRI_CLASSES, TRI_SLOTS, TRI_EDGES and TRI_WEIGHTS, set what params have of them,
 *  and keep what results need. Marks may be without regions: the deck's number of them is cut. */
tsl_err tri_classes_add(const tsl_deck *deck, const tri_deck *s, tri_marks *marks,
                        tsl_problem *problem);

/** Cut as many regions as the deck asks for, if it does. */
tsl_err tri_regions_cut(const tsl_deck *deck, const tri_deck *s, const tsl_problem *problem,
                        tri_marks *marks);

/** Slot that a row's class a and a column's class b count into. */
int64_t tri_slot_of(const tri_params *p, const tri_marks *marks, int32_t a, int32_t b);

/* -------------------------------------------- two kinds of one set as two */

/** Are the deck's keys of kinds in place? */
tsl_err tri_between_check(const tsl_deck *deck, const tri_deck *s);

/** Keep the points of the deck's two kinds, those of the other one first. */
tsl_err tri_between_split(const tsl_deck *deck, const tri_deck *s, tri_points *points,
                          tri_marks *marks);

/** Add, and after the units fill, the fields that say which points of the input these are. */
tsl_err tri_between_add(tri_points *points, tsl_problem *problem);
tsl_err tri_between_finish(tsl_problem *problem);

/* ------------------------------------------------------------- histograms */

/** Unit of a pair's value, from that of the coordinates. */
void tri_value_unit(const tri_params *p, const char *unit, char out[TSL_NAME]);

/** Add the output fields of a histogram; fill those that no unit does, after the units. */
tsl_err tri_histogram_add(tsl_problem *problem, const char *unit);
tsl_err tri_histogram_finish(tsl_problem *problem);

/** Pairs of kinds, and the kinds of one of them. */
int64_t tri_kind_pairs(const tri_params *p, const tri_own *own);
void tri_kinds_of_pair(const tri_params *p, const tri_own *own, int64_t pair, int64_t kinds[2]);

/** Pairs of points of these kinds. */
double tri_pairs_of_kinds(const tri_params *p, const tri_own *own, int64_t pair);

/** Part of all pairs that an ideal gas has in bin b. */
double tri_ideal_part(const tri_params *p, const tri_own *own, int64_t b);

/** Correlation of data and random points. @param[out] xi  [cells of one histogram]
 *  @param[out] covariance,error  [the same][the same] and [the same], with regions; else NULL */
tsl_err tri_estimate(const tsl_problem *problem, double *xi, double *covariance, double *error);

/** Count, or sum of weights, in a cell of the backends' counts. */
double tri_weighted_count(const tsl_problem *problem, int64_t cell);
