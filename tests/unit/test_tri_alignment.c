/* unit.tri.alignment: alignments that workers hand over are scored again from the letters; of wrong
 * ones the run is INVALID and says which pair it is. */
#include "must.h"

#include "files.h"
#include "letters.h"
#include "letters_alignment.h"
#include "tri_family.h"
#include "tri_letters.h"
#include "tri_traceback.h"

#include <unistd.h>

enum { FIRST = TRI_PAD, PLACES = 2 * TRI_PAD };

/** What a worker handed over of pair 0, and of pair 1, which is right. */
typedef struct handed {
  double values[2];
  int64_t spans[2][TRI_SPAN];
  uint32_t operations[8];
} handed;

static tsl_err read_rows(void *state, int field, int64_t lo, int64_t hi, void *rows) {
  const handed *h = state;
  const size_t n = (size_t)(hi - lo);
  if (field == TRI_OUT)
    memcpy(rows, h->values + lo, n * sizeof h->values[0]);
  else if (field == TRI_OUT_2)
    memcpy(rows, h->spans + lo, n * sizeof h->spans[0]);
  else
    memcpy(rows, h->operations + lo, n * sizeof h->operations[0]);
  return TSL_OK;
}

/** ACGT with AGT, and AC with AC; a match is 2, a mismatch -3, a gap -(5 + 2 letters). */
static void summarize(int function, handed h, tsl_summary *summary) {
  static uint8_t codes[] = {0, 2, 3, 0, 1, 0, 1, 2, 3, 0, 1};
  static char names[] = "r0\0r1\0q0\0q1";
  int64_t starts[PLACES + 1] = {0, 3}, name_at[] = {0, 3, 6, 9, 12};
  int32_t scores[16];
  char path[] = "/tmp/tsl_test_XXXXXX.tsv";
  tri_params p = {.function = function,
                  .output = TRI_PAIRED,
                  .type = TSL_F64,
                  .two = 1,
                  .columns = 2,
                  .first = FIRST,
                  .n = FIRST + 2,
                  .n_pad = PLACES,
                  .codes = 4,
                  .longest = 4,
                  .open = 5,
                  .extend = 2,
                  .aligned = 1};
  tri_own own = {.alignment = path, .format = LETTERS_AS_TABLE, .alphabet = LETTERS_DNA};
  tsl_problem problem = {.params = &p, .own = &own, .n_fields = TRI_OUT_3 + 1};
  const tsl_field_rows store = {.state = &h, .read = read_rows};
  for (int k = 2; k <= FIRST; k++) starts[k] = 5;
  starts[FIRST + 1] = 9;
  for (int k = FIRST + 2; k <= PLACES; k++) starts[k] = 11;
  for (int k = 0; k < 16; k++) scores[k] = k / 4 == k % 4 ? 2 : -3;
  own.letters = (letters_set){.n = 4, .name_at = name_at, .names = names};
  problem.fields[TRI_LETTERS].data = codes;
  problem.fields[TRI_STARTS].data = starts;
  problem.fields[TRI_SCORES].data = scores;
  problem.fields[TRI_OUT].shape[0] = 2;
  const int file = mkstemps(path, 4);
  assert_true(file >= 0);
  (void)close(file);
  (void)unlink(path);
  MUST(tri_alignment_write(&problem, &store));
  (void)unlink(path);
  MUST(tri_summary(&problem, summary));
}

/** A=, C is left out, GT=. */
static handed right(double value) {
  return (handed){.values = {value, value == 1 ? 0 : 4},
                  .spans = {{0, 4, 0, 3, 3}, {0, 2, 0, 2, 1}},
                  .operations = {1 << 4 | TRI_BAM_SAME, 1 << 4 | TRI_BAM_I, 2 << 4 | TRI_BAM_SAME,
                                 2 << 4 | TRI_BAM_SAME}};
}

static void is_invalid(int function, handed h, const char *why) {
  tsl_summary summary = {.valid = true};
  summarize(function, h, &summary);
  assert_false(summary.valid);
  if (strstr(summary.reason, why) == NULL) fail_msg("'%s' is not in '%s'", why, summary.reason);
}

static void right_ones(void **state) {
  const int functions[] = {TRI_EDIT, TRI_GLOBAL};
  (void)state;
  for (int f = 0; f < 2; f++) {
    tsl_summary summary = {.valid = false};
    summarize(functions[f], right(f == 0 ? 1 : -1), &summary);
    assert_true(summary.valid);
  }
}

static void other_values(void **state) {
  handed h = right(-1);
  (void)state;
  is_invalid(TRI_EDIT, right(2), "pair (0, 0): its alignment scores 1, but its value is 2");
  is_invalid(TRI_GLOBAL, right(1), "pair (0, 0): its alignment scores -1, but its value is 1");
  h.values[1] = 3;
  is_invalid(TRI_GLOBAL, h, "pair (1, 1): its alignment scores 4, but its value is 3");
}

static void no_alignments(void **state) {
  const char *const none = "pair (0, 0): what was recovered is no alignment of both";
  handed h = right(1);
  (void)state;
  h.operations[2] = 2 << 4 | TRI_BAM_OTHER; /* equal letters as other ones */
  is_invalid(TRI_EDIT, h, none);
  h = right(1), h.operations[1] = 1 << 4 | TRI_BAM_D; /* more letters than the column has */
  is_invalid(TRI_EDIT, h, none);
  h = right(1), h.operations[2] = 1 << 4 | TRI_BAM_SAME; /* ends before its end */
  is_invalid(TRI_EDIT, h, none);
  h = right(1), h.spans[0][0] = 1, h.spans[0][2] = 1; /* begins late */
  is_invalid(TRI_EDIT, h, none);
}

/** Extensions end before the sequences do, but begin with them. */
static void early_ends(void **state) {
  tsl_summary summary = {.valid = false};
  handed h = right(2);
  (void)state;
  h.spans[0][1] = h.spans[0][3] = h.spans[0][4] = 1; /* A= */
  h.operations[1] = h.operations[3];
  summarize(TRI_EXTENSION, h, &summary);
  if (!summary.valid) fail_msg("%s", summary.reason);
  is_invalid(TRI_GLOBAL, h, "pair (0, 0): what was recovered is no alignment of both");
  h.spans[0][0] = 2, h.spans[0][1] = 4, h.spans[0][2] = 1, h.spans[0][3] = 3; /* GT= */
  h.values[0] = 4, h.operations[0] = h.operations[3];
  is_invalid(TRI_EXTENSION, h, "pair (0, 0): what was recovered is no alignment of both");
}

/** Names of references that SAM writes alike. */
static void same_names(void **state) {
  char names[] = "a,b\0a_b\0a(b\0\0002";
  int64_t name_at[] = {0, 4, 8, 12, 13, 15}, same[2] = {0};
  letters_set set = {.n = 5, .names = names, .name_at = name_at};
  (void)state;
  MUST(letters_sam_same(&set, 1, same));
  assert_int_equal(same[0], -1);
  MUST(letters_sam_same(&set, 5, same));
  assert_int_equal(same[0], 0);
  assert_int_equal(same[1], 1);
  memcpy(names, "a,c\0a_b\0=_b\0\0003", 14); /* '=' may not come first, record 3 is "3" */
  MUST(letters_sam_same(&set, 5, same));
  assert_int_equal(same[0], 3);
  assert_int_equal(same[1], 4);
  MUST(letters_sam_same(&set, 4, same));
  assert_int_equal(same[0], -1);
}

/** q, 3000 letters, with r, 5000, beside a short pair, on a device with so much memory; the table
 *  of directions has half a byte for each cell. */
static tsl_err settle(int32_t kind, int64_t memory) {
  tsl_err err = TSL_OK;
  const char text[] = "family: tri\ntri:\n  alignment: x.paf\n";
  static char names[] = "r0\0r1\0q0\0q1";
  int64_t starts[PLACES + 1] = {0, 10, 5010}, name_at[] = {0, 3, 6, 9, 12};
  const tsl_device device = {.kind = kind, .memory_limit = memory};
  tri_params p = {.function = TRI_LOCAL, .output = TRI_PAIRED, .two = 1, .columns = 2};
  tri_own own = {.letters = {.n = 4, .name_at = name_at, .names = names}};
  tsl_problem problem = {.params = &p, .own = &own, .devices = &device, .n_devices = 1};
  tri_deck section = {.alignment = "x.paf"};
  tsl_deck *deck = NULL;
  p.first = FIRST, p.n = FIRST + 2, p.n_pad = PLACES;
  for (int k = 2; k <= FIRST; k++) starts[k] = 5010;
  starts[FIRST + 1] = 5020;
  for (int k = FIRST + 2; k <= PLACES; k++) starts[k] = 8020;
  problem.fields[TRI_STARTS].data = starts;
  TSL_TRY(tsl_deck_parse(text, strlen(text), "d.yaml", NULL, 0, &deck));
  err = tri_alignment_settle(deck, &section, &problem);
  assert_int_equal(p.aligned, err == TSL_OK);
done:
  tsl_files_clear();
  tsl_deck_destroy(&deck);
  return err;
}

/** 3000 x 5000 cells of half a byte, and steps of lanes that wait: 7.5 MB to 8.2 MB; all of it is
 *  three quarters of what a card has beside 20 kB of sequences. */
static void little_memory(void **state) {
  const char *const why[] = {"d.yaml:3: tri.alignment: the alignment of 'q1' with 'r1' takes ",
                             "a card has 749",
                             " for it beside the sequences; use sockets, or a "
                             "larger run.device_memory"};
  (void)state;
  MUST(settle(TSL_GPU, 0)); /* not known */
  MUST(settle(TSL_GPU, 11 << 20));
  assert_int_equal(settle(TSL_GPU, 10000000), TSL_ERR_INPUT);
  for (int k = 0; k < 3; k++)
    if (strstr(tsl_err_message(), why[k]) == NULL)
      fail_msg("'%s' is not in '%s'", why[k], tsl_err_message());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_ones),    cmocka_unit_test(other_values),
      cmocka_unit_test(no_alignments), cmocka_unit_test(same_names),
      cmocka_unit_test(little_memory), cmocka_unit_test(early_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
