/* Measurements of the strips: common subsequence, edit distance, alignment. */
#include "dp_bench.cuh"

typedef struct wave_case {
  const char *what;
  dp_problem problem;
  int64_t n, m;
  int letters;
  double goal;
  const char *published;
} wave_case;

static int64_t sized(const dp_bench_options *o, int64_t n) {
  return o->quick ? n / 16 : n;
}

/* Two random texts; free with tsl_free. */
static tsl_err make_texts(int64_t n, int64_t m, int letters, uint8_t **a, uint8_t **b) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(n, 1, "rows", (void **)a));
  TSL_TRY(tsl_alloc(m, 1, "columns", (void **)b));
  dp_bench_letters(*a, n, letters, 1);
  dp_bench_letters(*b, m, letters, 2);
done:
  return err;
}

static tsl_err bench_bits(dp_bench_options *o, const wave_case *c, int words) {
  tsl_err err = TSL_OK;
  const int64_t n = sized(o, c->n), m = sized(o, c->m);
  uint8_t *a = NULL, *b = NULL;
  dp_bits *band = NULL;
  double seconds = 0;
  TSL_TRY(make_texts(n, m, c->letters, &a, &b));
  TSL_TRY(dp_bits_open(&o->card, c->problem, a, n, b, m, words, &band));
  TSL_TRY(bench_best(
      &o->card, o->repeat,
      [=]() {
        const tsl_err failed = dp_bits_begin(band);
        return failed != TSL_OK ? failed : dp_bits_tile(band, 0, n, NULL, NULL, false);
      },
      &seconds));
  {
    const dp_bench_line line = {
        c->what, (double)n * (double)m / seconds, "cells/s", c->goal, false, seconds, c->published};
    dp_bench_print(o, &line);
  }
done:
  dp_bits_close(&band);
  tsl_free(a);
  tsl_free(b);
  return err;
}

static letters_scores dna_scores(int letters) {
  letters_scores s = {};
  s.open = 3;
  s.extend = 1;
  s.alphabet = letters;
  for (int x = 0; x < letters; x++)
    for (int y = 0; y < letters; y++) s.s[x][y] = x == y ? 1 : -1;
  return s;
}

/* bits: of a value, 0: chosen. */
static tsl_err bench_affine(dp_bench_options *o, const wave_case *c, int width, int bits,
                            bool keep) {
  tsl_err err = TSL_OK;
  const int64_t n = sized(o, c->n), m = sized(o, c->m);
  const letters_scores scores = dna_scores(c->letters);
  uint8_t *a = NULL, *b = NULL;
  dp_affine *band = NULL;
  double seconds = 0;
  char what[96] = "";
  TSL_TRY(make_texts(n, m, c->letters, &a, &b));
  TSL_TRY(dp_affine_open(&o->card, c->problem, &scores, a, n, b, m, m, 0, width, &band));
  if (bits != 0) dp_affine_force(band, bits);
  TSL_TRY(bench_best(
      &o->card, o->repeat,
      [=]() {
        const tsl_err failed = dp_affine_begin(band);
        return failed != TSL_OK ? failed : dp_affine_tile(band, 0, n, NULL, NULL, keep);
      },
      &seconds));
  (void)snprintf(what, sizeof what, "%s, %d bits", c->what, dp_affine_bits(band, keep));
  {
    const dp_bench_line line = {
        what, (double)n * (double)m / seconds, "cells/s", c->goal, false, seconds, c->published};
    dp_bench_print(o, &line);
  }
done:
  dp_affine_close(&band);
  tsl_free(a);
  tsl_free(b);
  return err;
}

/* Alignments in the bits that are chosen, which are 16 here where the card has them, and in 32. */
static tsl_err bench_alignments(dp_bench_options *o) {
  static const wave_case cases[] = {
      {"local affine DNA 1M x 1M", DP_LOCAL, 1 << 20, 1 << 20, 4, 0.8e12,
       "0.16e12 per V100 (MASA-CUDAlign), 5.7e12 H100 database (CUDASW++4)"},
      {"local affine DNA 200K x 200K", DP_LOCAL, 200000, 200000, 4, 0, ""},
      {"local affine 24 letters 1M x 1M", DP_LOCAL, 1 << 20, 1 << 20, 24, 0, ""},
      {"global affine DNA 1M x 1M", DP_GLOBAL, 1 << 20, 1 << 20, 4, 0, ""}};
  static const wave_case widths = {
      "local affine DNA 1M x 1M, 8 columns a lane", DP_LOCAL, 1 << 20, 1 << 20, 4, 0, ""};
  static const wave_case ways = {
      "local affine DNA 128K x 128K, directions", DP_LOCAL, 1 << 17, 1 << 17, 4, 0, ""};
  tsl_err err = TSL_OK;
  for (const wave_case &c : cases)
    for (int bits : {0, 32})
      if (dp_bench_wants(o, c.what)) TSL_TRY(bench_affine(o, &c, 0, bits, false));
  for (int bits : {0, 32}) {
    if (dp_bench_wants(o, widths.what)) TSL_TRY(bench_affine(o, &widths, 8, bits, false));
    if (dp_bench_wants(o, ways.what)) TSL_TRY(bench_affine(o, &ways, 0, bits, true));
  }
done:
  return err;
}

/* Bits of all cells kept, and the walk back. */
static tsl_err bench_way(dp_bench_options *o) {
  tsl_err err = TSL_OK;
  const int64_t n = sized(o, 1 << 19);
  uint8_t *a = NULL, *b = NULL;
  dp_pair *pairs = NULL;
  dp_bits *band = NULL;
  double keep = 0, walk = 0;
  TSL_TRY(make_texts(n, n, 4, &a, &b));
  TSL_TRY(tsl_alloc(n, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(dp_bits_open(&o->card, DP_LCS, a, n, b, n, 0, &band));
  TSL_TRY(bench_best(
      &o->card, o->repeat,
      [=]() {
        const tsl_err failed = dp_bits_begin(band);
        return failed != TSL_OK ? failed : dp_bits_tile(band, 0, n, NULL, NULL, true);
      },
      &keep));
  TSL_TRY(bench_best(
      &o->card, o->repeat,
      [=]() {
        int64_t row = n, column = n, count = 0;
        return dp_bits_trace(band, &row, &column, pairs, n, &count);
      },
      &walk));
  {
    const dp_bench_line lines[] = {
        {"LCS DNA 512K x 512K with bits of all cells", (double)n * (double)n / keep, "cells/s", 0,
         false, keep, ""},
        {"LCS DNA 512K x 512K walk back", 2.0 * (double)n / walk, "steps/s", 0, false, walk, ""}};
    for (const dp_bench_line &line : lines) dp_bench_print(o, &line);
  }
done:
  dp_bits_close(&band);
  tsl_free(pairs);
  tsl_free(a);
  tsl_free(b);
  return err;
}

tsl_err dp_bench_wave(dp_bench_options *o) {
  static const wave_case bits[] = {
      {"LCS DNA 4M x 4M", DP_LCS, 1 << 22, 1 << 22, 4, 20e12,
       "5.9e12 H100 batches of 1 KB, 0.65e12 H100 one pair 200K (StringZilla)"},
      {"LCS DNA 1M x 1M", DP_LCS, 1 << 20, 1 << 20, 4, 0, ""},
      {"LCS 200 letters 4M x 4M", DP_LCS, 1 << 22, 1 << 22, 200, 0, ""},
      {"edit distance DNA 4M x 4M", DP_EDIT, 1 << 22, 1 << 22, 4, 0,
       "5.9e12 H100 batches of 1 KB (StringZilla)"},
      {"edit distance DNA 1M x 1M", DP_EDIT, 1 << 20, 1 << 20, 4, 0, ""}};
  static const wave_case words = {
      "LCS DNA 4M x 4M, 2 words a lane", DP_LCS, 1 << 22, 1 << 22, 4, 0, ""};
  tsl_err err = TSL_OK;
  for (const wave_case &c : bits)
    if (dp_bench_wants(o, c.what)) TSL_TRY(bench_bits(o, &c, 0));
  if (dp_bench_wants(o, words.what)) TSL_TRY(bench_bits(o, &words, 2));
  TSL_TRY(bench_alignments(o));
  if (dp_bench_wants(o, "LCS DNA 512K x 512K walk back")) TSL_TRY(bench_way(o));
done:
  return err;
}
