/* Alignments of the pairs that are kept: the file's name, memory, and the fields. */
#include "letters_alignment.h"
#include "tri_letters.h"
#include "tri_streamed.h"
#include "tri_traceback.h"

#include "files.h"
#include "integers.h"
#include "tri_family.h"

#include <stdio.h>
#include <string.h>

/* ---- the pairs of a part */

int64_t tri_kept_pairs(const tri_params *p, int64_t lo, int64_t hi, const tsl_part *part) {
  if (p->output == TRI_THRESHOLD) return part->list[TRI_OUT].n;
  return p->output == TRI_TOPK ? (hi - lo) * p->k : hi - lo;
}

void tri_kept_pair(const tri_params *p, int64_t lo, const tsl_part *part, int64_t k,
                   int64_t place[2]) {
  place[0] = place[1] = lo + k;
  if (p->output == TRI_THRESHOLD)
    memcpy(place, ((const int64_t(*)[2])part->list[TRI_OUT].data)[k], 2 * sizeof *place);
  if (p->output == TRI_TOPK) {
    place[0] = lo + k / p->k;
    place[1] = ((const int64_t *)part->slab[TRI_OUT])[k];
  }
  place[0] += p->first;
}

/* ---- settle */

/** The pair that may be kept and needs the most memory, by bytes_of. */
static int64_t largest_table(const tri_params *p, const tri_sequences *s,
                             int64_t (*bytes_of)(int64_t n, int64_t m), int64_t pair[2]) {
  const int64_t rows = tri_rows_of(p);
  int64_t most = 0, column = 0;
  for (int64_t j = 1; j < tri_columns_of(p); j++)
    if (tri_sequence_length(s, j) > tri_sequence_length(s, column)) column = j;
  for (int64_t i = 0; i < rows; i++) {
    const int64_t j = p->output == TRI_PAIRED ? i : column;
    const int64_t bytes = bytes_of(tri_sequence_length(s, p->first + i), tri_sequence_length(s, j));
    if (bytes <= most) continue;
    most = bytes, pair[0] = i, pair[1] = j;
  }
  return most;
}

/** Bytes that a rank may use for one alignment: a thread's share, or three quarters of what the
 *  sequences leave of a card; the rest is for scores and the operations of others. */
static int64_t room_of(const tsl_device *device, const tri_params *p, const tri_sequences *s) {
  const int64_t held = p->streamed
                           ? 2 * tsl_max(TRI_WINDOW_BYTES, 2 * p->longest) /* two groups of units */
                           : s->starts[p->n_pad] + (p->n_pad + 1) * (int64_t)sizeof *s->starts;
  if (device->kind == TSL_GPU) return tsl_max(0, device->memory_limit - held) / 4 * 3;
  return device->memory_limit / tsl_max(1, device->threads);
}

/** Bytes of the largest alignment, on a socket and on a card, and its pair. */
static void find_largest(const tsl_problem *problem, int64_t most[2], int64_t pairs[2][2]) {
  const tri_own *own = problem->own;
  const tri_params *p = tri_params_of(problem);
  const tri_sequences s = tri_sequences_of(problem);
  const bool extension = p->function == TRI_EXTENSION;
  for (int k = 0; k < 2 && own->streamed != NULL; k++) {
    most[k] = own->streamed->most[k];
    pairs[k][0] = pairs[k][1] = own->streamed->pair[k];
  }
  if (own->streamed != NULL) return;
  most[0] = largest_table(p, &s, extension ? tri_extension_bytes : tri_traceback_bytes, pairs[0]);
  most[1] = largest_table(p, &s, extension ? tri_extension_card_bytes : tri_traceback_card_bytes,
                          pairs[1]);
}

static tsl_err check_memory(const tsl_deck *deck, const tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const tri_sequences s = tri_sequences_of(problem);
  int64_t pairs[2][2] = {{0}}, most[2] = {0};
  const bool extension = p->function == TRI_EXTENSION;
  find_largest(problem, most, pairs);
  for (int r = 0; r < problem->n_devices; r++) {
    const tsl_device *device = &problem->devices[r];
    const bool card = device->kind == TSL_GPU;
    const int64_t each = room_of(device, p, &s), bytes = most[card], *const pair = pairs[card];
    if (device->memory_limit <= 0 || bytes <= each) continue;
    TSL_TRY(tri_letters_window(problem, pair[0], pair[0] + 1));
    TSL_DECK_FAIL(deck, "tri.alignment",
                  "the alignment of '%.80s' with '%.80s' takes %lld bytes, and a %s has %lld%s; "
                  "use %s%s",
                  tri_name_at(problem, true, pair[0]), tri_name_at(problem, !p->two, pair[1]),
                  (long long)bytes, card ? "card" : "thread", (long long)each,
                  card ? " for it beside the sequences" : "",
                  card ? "sockets, or a larger run.device_memory" : "fewer threads",
                  extension ? "" : ", or family dp for this pair");
  }
done:
  return err;
}

/** References are told apart by names, which SAM writes in fewer characters than files have. */
static tsl_err check_names(const tsl_deck *deck, const tsl_problem *problem) {
  enum { SHOWN = 256 };
  tsl_err err = TSL_OK;
  tri_own *own = problem->own;
  const tri_params *p = tri_params_of(problem);
  int64_t same[2] = {0};
  char names[2][SHOWN];
  if (own->format != LETTERS_AS_SAM) return TSL_OK;
  if (own->streamed != NULL)
    memcpy(same, own->streamed->same, sizeof same);
  else
    TSL_TRY(letters_sam_same(&own->letters, tri_columns_of(p), same));
  if (same[0] < 0) goto done;
  for (int k = 0; k < 2; k++) {
    TSL_TRY(tri_letters_window(problem, same[k], same[k] + 1));
    (void)snprintf(names[k], SHOWN, "%s", tri_name_at(problem, !p->two, same[k]));
  }
  TSL_DECK_FAIL(deck, "tri.alignment",
                "references %lld '%s' and %lld '%s' would have the same name: SAM does not "
                "allow all of their characters, which are written as '_'; rename one, or ask for "
                ".paf or .tsv",
                (long long)same[0], names[0], (long long)same[1], names[1]);
done:
  return err;
}

tsl_err tri_alignment_settle(const tsl_deck *deck, const tri_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_own *own = problem->own;
  tri_params *p = problem->params;
  if (s->alignment == NULL) goto done;
  if (letters_alignments_as(s->alignment) == LETTERS_AS_NONE)
    TSL_DECK_FAIL(deck, "tri.alignment",
                  "the name must end with .sam, .paf or .tsv, which says what is written");
  TSL_TRY(tsl_deck_blame(deck, "tri.alignment",
                         tsl_files_write(TSL_FILE_BESIDE, "tri.alignment", s->alignment)));
  TSL_TRY(check_memory(deck, problem));
  own->alignment = s->alignment;
  own->alphabet = s->input.alphabet;
  own->format = (int32_t)letters_alignments_as(s->alignment);
  TSL_TRY(check_names(deck, problem));
  p->aligned = 1;
done:
  return err;
}

tsl_err tri_alignment_memory(tsl_deck *deck, tsl_problem *problem) {
  return tri_params_of(problem)->aligned ? check_memory(deck, problem) : TSL_OK;
}

tsl_err tri_alignment_add(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tsl_field *added = NULL;
  tsl_field field = {
      .role = TSL_OUT, .type = TSL_I64, .combine = TSL_LIST, .rank = 2, .shape = {0, TRI_SPAN, 1}};
  if (!tri_params_of(problem)->aligned) return TSL_OK;
  tsl_field_label(&field, "spans", "1",
                  "Of each pair kept: begin and end of its alignment in the row's sequence and in "
                  "the column's, and its operations.");
  TSL_TRY(tsl_problem_add(problem, &field, &added));
  field.type = TSL_U32;
  field.rank = 1;
  tsl_field_label(&field, "operations", "1",
                  "Of all alignments one after another, as BAM has them: letters * 16 + 1 (I), 2 "
                  "(D), 7 (=) or 8 (X).");
  TSL_TRY(tsl_problem_add(problem, &field, &added));
done:
  return err;
}
