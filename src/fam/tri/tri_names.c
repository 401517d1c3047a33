/* The result with the names of sequences, as a table with tabs: pairs of topk, threshold and
 * paired, or a line for each sequence of components and dbscan. */
#include "letters_alignment.h"
#include "tri_letters.h"

#include "files.h"
#include "integers.h"
#include "new_file.h"
#include "tri_family.h"

#include <stdio.h>

enum { BLOCK = 8192 /* rows read at once */ };

tsl_err tri_names_settle(const tsl_deck *deck, const tri_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tri_own *own = problem->own;
  if (s->tsv == NULL) goto done;
  TSL_TRY(tsl_deck_blame(deck, "tri.tsv", tsl_files_write(TSL_FILE_BESIDE, "tri.tsv", s->tsv)));
  own->tsv = s->tsv;
done:
  return err;
}

/** Name of the sequence at a place, its number where it has none; one more tab or line end behind.
 */
static void write_name(const tsl_problem *problem, bool row, int64_t number, char after,
                       FILE *file) {
  const char *name = tri_name_at(problem, row, number);
  if (*name == '\0') letters_write_number(number, file);
  while (*name != '\0') putc_unlocked(*name++, file); /* ferror tells */
  putc_unlocked(after, file);
}

/** Values are whole numbers. */
static int64_t value_at(const tsl_problem *problem, const void *values, int64_t k) {
  const bool wide = tri_params_of(problem)->type == TSL_F64;
  return wide ? (int64_t)((const double *)values)[k] : (int64_t)((const float *)values)[k];
}

/** Rows of TRI_OUT and TRI_OUT_2: neighbours of a sequence, or pairs. */
static void write_pairs(const tsl_problem *problem, int64_t first, int64_t n, const int64_t *out,
                        const void *values, FILE *file) {
  const tri_params *p = tri_params_of(problem);
  const int64_t each = p->output == TRI_TOPK ? p->k : 1;
  for (int64_t k = 0; k < n * each; k++) {
    const bool listed = p->output == TRI_THRESHOLD, paired = p->output == TRI_PAIRED;
    write_name(problem, true, listed ? out[2 * k] : first + k / each, '\t', file);
    write_name(problem, !p->two, listed ? out[2 * k + 1] : paired ? first + k : out[k], '\t', file);
    letters_write_number(value_at(problem, values, k), file);
    putc_unlocked('\n', file);
  }
}

static tsl_err write_all_pairs(const tsl_problem *problem, const tsl_field_rows *store,
                               FILE *file) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t rows = problem->fields[TRI_OUT].shape[0];
  const int64_t each = p->output == TRI_TOPK ? p->k : 2;
  const bool paired = p->output == TRI_PAIRED;
  int64_t *out = NULL;
  void *values = NULL;
  TSL_TRY(tsl_alloc(BLOCK * each, sizeof *out, "rows of the table", (void **)&out));
  TSL_TRY(tsl_alloc(BLOCK * each, sizeof(double), "rows of the table", &values));
  fprintf(file, "%s\t%s\n", p->two ? "query\ttarget" : "a\tb",
          tri_is_scored(p) ? "score" : "distance");
  for (int64_t a = 0; a < rows; a += BLOCK) {
    const int64_t b = tsl_min(a + BLOCK, rows);
    if (!paired) TSL_TRY(store->read(store->state, TRI_OUT, a, b, out));
    TSL_TRY(store->read(store->state, paired ? TRI_OUT : TRI_OUT_2, a, b, values));
    if (paired) TSL_TRY(tri_letters_window(problem, a, b));
    write_pairs(problem, a, b - a, out, values, file);
  }
done:
  TSL_FREE_ALL(out, values);
  return err;
}

static void write_labels(const tsl_problem *problem, FILE *file) {
  const int64_t *labels = tsl_problem_data(problem, "labels");
  fputs("sequence\tlabel\n", file);
  for (int64_t i = 0; i < tri_rows_of(tri_params_of(problem)); i++) {
    write_name(problem, true, i, '\t', file);
    fprintf(file, "%lld\n", (long long)labels[i]);
  }
}

static tsl_err write_file(const tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const tri_own *own = problem->own;
  tsl_new_file file = {.stream = NULL};
  TSL_TRY(tsl_new_file_open(own->tsv, &file));
  if (tri_is_graph(tri_params_of(problem)))
    write_labels(problem, file.stream);
  else
    TSL_TRY(write_all_pairs(problem, store, file.stream));
done:
  return tsl_new_file_close(&file, err);
}

tsl_err tri_names_write(const tsl_problem *problem, const tsl_field_rows *store) {
  const tri_own *own = problem->own;
  if (own->tsv != NULL) (void)tsl_files_lose("tri.tsv", write_file(problem, store));
  return TSL_OK;
}
