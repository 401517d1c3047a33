/* Weights of a trajectory's atoms. Atoms of one kind and one weight are a class, whose pairs are
 * counted apart: sums of weights follow from counts, and are exact up to their last additions. */
#include "tri_frames_own.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tsl_err read_file(const tsl_deck *deck, const tri_deck *s, int64_t n, tri_marks *marks) {
  tri_deck alone = *s; /* columns are none of a trajectory's, kinds are read elsewhere */
  tri_input *in = &alone.input;
  in->kind_column = in->region_column = in->weight_column = -1;
  in->kind_file = in->region_file = NULL;
  in->symbols = false;
  return tri_marks_read(deck, &alone, TABLE_FORMAT_XYZ, n, marks);
}

static int compare(const void *a, const void *b) {
  const tri_frames_class *x = a, *y = b;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return (x->weight > y->weight) - (x->weight < y->weight);
}

/** The classes that occur, by kind and weight, and the class of each atom. */
static tsl_err find_classes(const double *weight, tri_frames_input *in) {
  tsl_err err = TSL_OK;
  const int64_t n = in->t.n_atoms;
  tri_frames_class *of = NULL;
  int64_t m = 0;
  TSL_TRY(tsl_alloc(n, sizeof *of, "classes of atoms", (void **)&of));
  TSL_TRY(tsl_alloc(n, sizeof *in->class_of, "classes of atoms", (void **)&in->class_of));
  for (int64_t i = 0; i < n; i++)
    of[i] = (tri_frames_class){in->marks.kind != NULL ? in->marks.kind[i] : 0, weight[i]};
  qsort(of, (size_t)n, sizeof *of, compare);
  for (int64_t i = 0; i < n; i++)
    if (i == 0 || compare(&of[i], &of[m - 1]) != 0) of[m++] = of[i];
  for (int64_t i = 0; i < n; i++) {
    const tri_frames_class mine = {in->marks.kind != NULL ? in->marks.kind[i] : 0, weight[i]};
    const tri_frames_class *found = bsearch(&mine, of, (size_t)m, sizeof *of, compare);
    in->class_of[i] = (int32_t)(found - of);
  }
  in->classes = of, in->n_classes = m;
  of = NULL;
done:
  tsl_free(of);
  return err;
}

static tsl_err check_sizes(const tsl_deck *deck, const tri_frames_input *in, const tri_params *p) {
  tsl_err err = TSL_OK;
  const double m = (double)in->n_classes, cells = m * (m + 1) / 2 * p->bins;
  if (in->n_classes > TRI_MAX_CLASSES || cells > TRI_FRAMES_MOST_CELLS)
    TSL_DECK_FAIL(deck, "tri.input.weight_file",
                  "%lld different weights of kinds; %d are possible, and %d pairs of them times "
                  "bins: round weights, or take fewer bins",
                  (long long)in->n_classes, (int)TRI_MAX_CLASSES, (int)TRI_FRAMES_MOST_CELLS);
  for (int64_t c = 0; c < in->n_classes; c++)
    if (fabs(in->classes[c].weight) > 0x1p400)
      TSL_DECK_FAIL(deck, "tri.input.weight_file", "a weight is %g; use another unit",
                    in->classes[c].weight);
done:
  return err;
}

tsl_err tri_frames_weights(const tsl_deck *deck, const tri_deck *s, tri_frames_input *in,
                           tri_params *p) {
  tsl_err err = TSL_OK;
  tri_marks marks = {.n = 0};
  if (s->input.weight_file == NULL) goto done;
  if (p->output != TRI_HISTOGRAM)
    TSL_DECK_FAIL(deck, "tri.input.weight_file", "weights are of output histogram; remove it");
  TSL_TRY(read_file(deck, s, in->t.n_atoms, &marks));
  TSL_TRY(find_classes(marks.weight, in));
  TSL_TRY(check_sizes(deck, in, p));
  p->frames_weighted = 1;
  p->frames_kinds = p->classes;
  p->classes = (int32_t)in->n_classes;
  p->slots = in->n_classes * (in->n_classes + 1) / 2;
done:
  tri_marks_clear(&marks);
  return err;
}

tsl_err tri_frames_add_weights(const tri_frames_input *in, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t slots = p->frames_weighted ? p->slots : 0;
  tsl_field *slot_of = NULL, *weights = NULL;
  TSL_TRY(tsl_problem_add_hidden(problem, "slot_of", "Pair of kinds of each pair of classes.",
                                 TSL_I32, slots, 1, &slot_of));
  TSL_TRY(tsl_problem_add_hidden(problem, "weights", "Weight of a pair of each pair of classes.",
                                 TSL_F64, slots, 1, &weights));
  for (int32_t a = 0; a < p->classes && slots > 0; a++)
    for (int32_t b = a; b < p->classes; b++) {
      const tri_frames_class *x = &in->classes[a], *y = &in->classes[b];
      const int64_t at = tri_frames_pair_of(p->classes, a, b);
      ((int32_t *)slot_of->data)[at] =
          (int32_t)tri_frames_pair_of(p->frames_kinds, x->kind, y->kind);
      ((double *)weights->data)[at] = x->weight * y->weight;
    }
done:
  return err;
}

void tri_frames_note_weights(const tri_frames_input *in, tri_own *own) {
  const size_t used = strlen(own->text);
  if (in->n_classes > 0)
    (void)snprintf(own->text + used, TRI_TEXT - used,
                   "weights: %lld different ones of kinds, whose pairs are counted apart\n",
                   (long long)in->n_classes);
}
