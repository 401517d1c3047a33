/* Parameter files of ViennaRNA: sections of numbers between comments, and hairpins by letters. */
#include "rna_params_own.h"

#include "memory.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  DEFAULT_MISMATCH = -50, /* the word DEF */
  LARGEST = 1 << 20
};

static const char first_line[] = "## RNAfold parameter file v2.0";

/* Sections that have no enthalpies of their own. */
typedef enum odd { ML_PARAMS, NINIO, MISC, HEXALOOPS, TETRALOOPS, TRILOOPS, N_ODD } odd;
static const char *const odd_names[] = {"ML_params", "NINIO",      "Misc",
                                        "Hexaloops", "Tetraloops", "Triloops"};

static tsl_err fail(const reader *r, const char *what) {
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__, "%s:%lld: section %s: %s", r->lines.path,
                  (long long)r->lines.number, r->name, what);
}

/* ---- words */

static void next_line(reader *r) {
  r->more = table_lines_next(&r->lines);
  r->at = r->lines.line;
}

static bool begins_section(const reader *r) {
  return r->lines.line < r->lines.line_end && *r->lines.line == '#';
}

/* Skip blanks and comments of the line. */
static void skip(reader *r) {
  const char *end = r->lines.line_end;
  while (r->at < end) {
    if (r->comment) {
      const bool closes = end - r->at >= 2 && r->at[0] == '*' && r->at[1] == '/';
      r->at += closes ? 2 : 1;
      r->comment = !closes;
    } else if (end - r->at >= 2 && r->at[0] == '/' && r->at[1] == '*') {
      r->at += 2;
      r->comment = true;
    } else if (isspace((unsigned char)*r->at)) {
      r->at++;
    } else {
      return;
    }
  }
}

/* Next word of the section. */
static bool next_word(reader *r) {
  while (!r->ended) {
    skip(r);
    if (r->at < r->lines.line_end) break;
    next_line(r);
    r->ended = !r->more || (!r->comment && begins_section(r));
  }
  if (r->ended) return false;
  r->word = r->at;
  while (r->at < r->lines.line_end && !isspace((unsigned char)*r->at) &&
         !(r->lines.line_end - r->at >= 2 && r->at[0] == '/' && r->at[1] == '*'))
    r->at++;
  r->stop = r->at;
  return true;
}

static bool is_word(const reader *r, const char *word) {
  return (size_t)(r->stop - r->word) == strlen(word) && memcmp(r->word, word, strlen(word)) == 0;
}

/* The word as an energy. */
static tsl_err energy_of(const reader *r, int32_t *energy) {
  tsl_err err = TSL_OK;
  double value = 0;
  char shown[48], what[128];
  if (is_word(r, "INF")) return *energy = RNA_FORBIDDEN, TSL_OK;
  if (is_word(r, "DEF")) return *energy = DEFAULT_MISMATCH, TSL_OK;
  if (is_word(r, "NST")) return *energy = 0, TSL_OK;
  if (table_number_parse(r->word, r->stop, &value) != TABLE_NUMBER || value != floor(value) ||
      fabs(value) > LARGEST) {
    (void)snprintf(what, sizeof what,
                   "'%s' where a whole number from -2^20 to 2^20, INF, DEF or NST is needed",
                   table_shown(r->word, r->stop, shown));
    err = fail(r, what);
    goto done;
  }
  *energy = (int32_t)value;
done:
  return err;
}

static tsl_err next_energies(reader *r, int32_t *list, int n) {
  tsl_err err = TSL_OK;
  char what[96];
  for (int k = 0; k < n; k++) {
    if (!next_word(r)) {
      (void)snprintf(what, sizeof what, "ends after %d of %d numbers", k, n);
      err = fail(r, what);
      goto done;
    }
    TSL_TRY(energy_of(r, &list[k]));
  }
done:
  return err;
}

static tsl_err expect_end(reader *r) {
  char shown[48], what[96];
  if (!next_word(r)) return TSL_OK;
  (void)snprintf(what, sizeof what, "'%s' after its last number",
                 table_shown(r->word, r->stop, shown));
  return fail(r, what);
}

/** Its n numbers and no more. */
static tsl_err all_energies(reader *r, int32_t *list, int n) {
  const tsl_err err = next_energies(r, list, n);
  return err != TSL_OK ? err : expect_end(r);
}

static tsl_err read_table(reader *r, int number, int side) {
  tsl_err err = TSL_OK;
  const int n = rna_params_count(&rna_sections[number]);
  if ((r->seen[side] >> number & 1) != 0) return fail(r, "is there twice");
  r->seen[side] |= UINT32_C(1) << number;
  TSL_TRY(tsl_alloc(n, sizeof(int32_t), "parameters", (void **)&r->numbers[side][number]));
  TSL_TRY(all_energies(r, r->numbers[side][number], n));
done:
  return err;
}

static tsl_err read_ml(reader *r) {
  tsl_err err = TSL_OK;
  int32_t x[6];
  TSL_TRY(all_energies(r, x, 6));
  r->energy->multi_base = rna_params_at(r, x[0], x[1]);
  r->energy->multi_closing = rna_params_at(r, x[2], x[3]);
  r->energy->multi_stem = rna_params_at(r, x[4], x[5]);
done:
  return err;
}

static tsl_err read_ninio(reader *r) {
  tsl_err err = TSL_OK;
  int32_t x[3];
  TSL_TRY(all_energies(r, x, 3));
  if (x[0] >= RNA_FORBIDDEN || x[1] >= RNA_FORBIDDEN) return fail(r, "INF is no cost of asymmetry");
  r->energy->ninio = rna_params_at(r, x[0], x[1]);
  r->energy->most_ninio = x[2];
done:
  return err;
}

/* Duplexes, which we do not have; pairs at the end of a helix; the logarithm and its enthalpy. */
static tsl_err read_misc(reader *r) {
  tsl_err err = TSL_OK;
  int32_t x[4], rest = 0;
  double logarithm = 107.856;
  TSL_TRY(next_energies(r, x, 4));
  r->energy->terminal = rna_params_at(r, x[2], x[3]);
  if (next_word(r)) {
    if (table_number_parse(r->word, r->stop, &logarithm) != TABLE_NUMBER || fabs(logarithm) > 1e4) {
      err = fail(r, "a factor from -10000 to 10000 is needed as its fifth number");
      goto done;
    }
    if (next_word(r)) TSL_TRY(energy_of(r, &rest));
  }
  r->logarithm = logarithm * rna_params_factor(r);
  TSL_TRY(expect_end(r));
done:
  return err;
}

static const char bases[] = "ACGU";
/* Hairpins by their letters: letters, energy, enthalpy; the first of equals counts. */
static tsl_err read_hairpins(reader *r, int letters, double *list) {
  tsl_err err = TSL_OK;
  while (next_word(r)) {
    int32_t word = 0, x[2];
    bool good = r->stop - r->word == letters;
    for (int k = 0; k < letters && good; k++) {
      const char c = r->word[k] == 'T' ? 'U' : r->word[k];
      const char *base = memchr(bases, c, 4);
      good = base != NULL;
      if (good) word = 4 * word + (int32_t)(base - bases);
    }
    if (!good) {
      char shown[48], what[128];
      (void)snprintf(what, sizeof what, "'%s' where %d letters A C G U are needed",
                     table_shown(r->word, r->stop, shown), letters);
      err = fail(r, what);
      goto done;
    }
    TSL_TRY(next_energies(r, x, 2));
    if (list[word] == RNA_NONE) list[word] = rna_params_at(r, x[0], x[1]);
  }
done:
  return err;
}

static tsl_err read_odd(reader *r, odd which) {
  if ((r->seen_odd >> which & 1) != 0) return fail(r, "is there twice");
  r->seen_odd |= UINT32_C(1) << which;
  switch (which) {
  case ML_PARAMS:
    return read_ml(r);
  case NINIO:
    return read_ninio(r);
  case MISC:
    return read_misc(r);
  case HEXALOOPS:
    return read_hairpins(r, 8, r->energy->hexaloop);
  case TETRALOOPS:
    return read_hairpins(r, 6, r->energy->tetraloop);
  default:
    return read_hairpins(r, 5, r->energy->triloop);
  }
}

/* Older files of this version write internal for interior. */
static bool same_name(const char *given, const char *name) {
  static const char old[] = "internal", now[] = "interior";
  const char *at = strstr(given, old);
  char text[64];
  if (at == NULL) return strcmp(given, name) == 0;
  (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - given), given, now, at + sizeof old - 1);
  return strcmp(text, name) == 0;
}

static tsl_err read_section(reader *r) {
  char name[64];
  for (int k = 0; k < N_TABLES; k++) {
    if (same_name(r->name, rna_sections[k].name)) return read_table(r, k, 0);
    (void)snprintf(name, sizeof name, "%s_enthalpies", rna_sections[k].name);
    if (same_name(r->name, name)) return read_table(r, k, 1);
  }
  for (int k = 0; k < N_ODD; k++)
    if (strcmp(r->name, odd_names[k]) == 0) return read_odd(r, (odd)k);
  return fail(r, "is none of format 2.0");
}

/* "# NAME"; more than one # begin a comment. */
static void take_name(reader *r) {
  const char *at = r->lines.line + 1, *end = r->lines.line_end;
  while (at < end && isspace((unsigned char)*at)) at++;
  const char *stop = at;
  while (stop < end && !isspace((unsigned char)*stop)) stop++;
  r->name[0] = '\0';
  if (at < end && *at != '#') (void)table_shown(at, stop, r->name);
}

static tsl_err read_all(reader *r) {
  tsl_err err = TSL_OK;
  const size_t length = sizeof first_line - 1;
  next_line(r);
  if (!r->more || (size_t)(r->lines.line_end - r->lines.line) < length ||
      memcmp(r->lines.line, first_line, length) != 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s:1: the first line is not '%s'; other versions are not read",
             r->lines.path, first_line);
  while (r->more) {
    r->ended = !begins_section(r);
    if (r->ended) skip(r);
    if (r->ended && r->at < r->lines.line_end)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: text outside of a section", r->lines.path,
               (long long)r->lines.number);
    if (!r->ended) take_name(r);
    if (!r->ended && strcmp(r->name, "END") == 0) break;
    if (r->ended || r->name[0] == '\0') {
      next_line(r);
      continue;
    }
    r->at = r->lines.line_end;
    TSL_TRY(read_section(r));
  }
done:
  return err;
}

/* ---- from what was read to energies */

static tsl_err check_complete(const reader *r) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < N_TABLES; k++)
    for (int side = 0; side < 2; side++)
      if ((r->seen[side] >> k & 1) == 0)
        TSL_FAIL(TSL_ERR_INPUT, "%s: section %s%s is missing", r->lines.path, rna_sections[k].name,
                 side == 1 ? "_enthalpies" : "");
  for (int k = 0; k < N_ODD; k++)
    if ((r->seen_odd >> k & 1) == 0)
      TSL_FAIL(TSL_ERR_INPUT, "%s: section %s is missing", r->lines.path, odd_names[k]);
done:
  return err;
}

static tsl_err parse(reader *r, const rna_file *file) {
  tsl_err err = TSL_OK;
  rna_exact *energy = r->energy;
  table_lines_open(file->path, file->text, file->bytes, 0, &r->lines);
  memset(energy, 0, sizeof *energy);
  for (int k = 0; k < 1 << 10; k++) energy->triloop[k] = RNA_NONE;
  for (int k = 0; k < 1 << 12; k++) energy->tetraloop[k] = RNA_NONE;
  for (int k = 0; k < 1 << 16; k++) energy->hexaloop[k] = RNA_NONE;
  TSL_TRY(read_all(r));
  TSL_TRY(check_complete(r));
  TSL_TRY(rna_params_settle(r));
done:
  for (int k = 0; k < N_TABLES; k++) TSL_FREE_ALL(r->numbers[0][k], r->numbers[1][k]);
  return err;
}

tsl_err rna_params_parse(const rna_file *file, const rna_ask *ask, rna_energy *energy, int64_t n,
                         int32_t *sizes) {
  tsl_err err = TSL_OK;
  reader r = {.ask = ask};
  int32_t *list = (int32_t *)(void *)energy;
  _Static_assert(sizeof(rna_exact) / sizeof(double) == sizeof(rna_energy) / sizeof(int32_t),
                 "the same numbers in both");
  TSL_TRY(tsl_alloc(1, sizeof *r.energy, "parameters", (void **)&r.energy));
  TSL_TRY(parse(&r, file));
  const double *exact = (const double *)(const void *)r.energy;
  for (size_t k = 0; k < sizeof *energy / sizeof *list; k++) list[k] = (int32_t)exact[k];
  for (int64_t k = 0; k <= n; k++)
    sizes[k] = (int32_t)r.hairpin[k < RNA_LOOP ? k : RNA_LOOP] + (int32_t)rna_params_beyond(&r, k);
done:
  tsl_free(r.energy);
  return err;
}

tsl_err rna_params_parse_exact(const rna_file *file, const rna_ask *ask, rna_exact *energy,
                               int64_t n, double *sizes) {
  tsl_err err = TSL_OK;
  reader r = {.energy = energy, .ask = ask, .smooth = true};
  TSL_TRY(parse(&r, file));
  for (int64_t k = 0; k <= n; k++)
    sizes[k] = r.hairpin[k < RNA_LOOP ? k : RNA_LOOP] + rna_params_beyond(&r, k);
done:
  return err;
}
