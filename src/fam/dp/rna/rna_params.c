/* Parameter files of ViennaRNA: sections of numbers between comments, and hairpins by letters. */
#include "rna_params.h"

#include "memory.h"
#include "table_read.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
  FILE_PAIRS = 7, /* six and one that is none of them, which we do not use */
  MOST = 6 * 6 * 256 + 1,
  MOST_21 = FILE_PAIRS * FILE_PAIRS * 125,
  SECTION_NUMBERS = MOST > MOST_21 ? MOST : MOST_21,
  DEFAULT_MISMATCH = -50, /* the word DEF */
  LARGEST = 1 << 20
};

static const char first_line[] = "## RNAfold parameter file v2.0";
static const double zero_celsius = 273.15, measured = 310.15; /* kelvin */

/* A section of numbers. Sizes from the first index to the last; a skipped index begins at 1. */
typedef struct section {
  const char *name;
  size_t at;   /* in rna_exact; NOWHERE: read_odd knows */
  int dims[6]; /* as in the file */
  int room[6]; /* as in rna_exact */
  int skip[6]; /* first index */
  bool lowers; /* ends of stems: lowered() */
} section;

#define AT(member) offsetof(rna_exact, member)
#define NOWHERE ((size_t)-1)
#define MISMATCH                           \
  {FILE_PAIRS, 5, 5}, {RNA_PAIRS, 5, 5}, { \
    1                                      \
  }
#define BY_SIZE                     \
  {RNA_LOOP + 1}, {RNA_LOOP + 1}, { \
    0                               \
  }
static const section sections[] = {
    {"stack", AT(stack), {FILE_PAIRS, FILE_PAIRS}, {RNA_PAIRS, RNA_PAIRS}, {1, 1}, false},
    {"mismatch_hairpin", AT(hairpin_end), MISMATCH, false},
    {"mismatch_interior", AT(interior_end), MISMATCH, false},
    {"mismatch_interior_1n", AT(one_end), MISMATCH, false},
    {"mismatch_interior_23", AT(two_three_end), MISMATCH, false},
    {"mismatch_multi", AT(multi_end), MISMATCH, true},
    {"mismatch_exterior", AT(exterior_end), MISMATCH, true},
    {"dangle5", AT(dangle5), {FILE_PAIRS, 5}, {RNA_PAIRS, 5}, {1}, true},
    {"dangle3", AT(dangle3), {FILE_PAIRS, 5}, {RNA_PAIRS, 5}, {1}, true},
    {"int11",
     AT(int11),
     {FILE_PAIRS, FILE_PAIRS, 5, 5},
     {RNA_PAIRS, RNA_PAIRS, 5, 5},
     {1, 1},
     false},
    {"int21",
     AT(int21),
     {FILE_PAIRS, FILE_PAIRS, 5, 5, 5},
     {RNA_PAIRS, RNA_PAIRS, 5, 5, 5},
     {1, 1},
     false},
    {"int22",
     AT(int22),
     {6, 6, 4, 4, 4, 4},
     {RNA_PAIRS, RNA_PAIRS, 5, 5, 5, 5},
     {1, 1, 1, 1, 1, 1},
     false},
    {"hairpin", NOWHERE, BY_SIZE, false},
    {"bulge", AT(bulge), BY_SIZE, false},
    {"interior", AT(interior), BY_SIZE, false},
};
enum { N_TABLES = sizeof sections / sizeof sections[0] };

/* Sections that have no enthalpies of their own. */
typedef enum odd { ML_PARAMS, NINIO, MISC, HEXALOOPS, TETRALOOPS, TRILOOPS, N_ODD } odd;
static const char *const odd_names[] = {"ML_params", "NINIO",      "Misc",
                                        "Hexaloops", "Tetraloops", "Triloops"};

/* A file under way. */
typedef struct reader {
  table_lines lines;
  const char *at;          /* in the line */
  const char *word, *stop; /* the last word read */
  bool comment;            /* inside of one that began on an earlier line */
  char name[48];           /* of the section; empty before the first */
  bool more;               /* there is a line */
  bool ended;              /* of the section: the line is the next one's, or there is none */
  rna_exact *energy;
  const rna_ask *ask;
  bool smooth; /* see lowered() */
  double hairpin[RNA_LOOP + 1];
  double logarithm; /* of sizes above RNA_LOOP */
  /* [2] energies, enthalpies of a table, and which sections were read: a bit for each */
  int32_t *numbers[2][N_TABLES];
  uint32_t seen[2], seen_odd;
} reader;

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

/* ---- temperature */

static double at_temperature(const reader *r, int32_t energy, int32_t enthalpy) {
  const double factor = (r->ask->celsius + zero_celsius) / measured;
  if (energy >= RNA_FORBIDDEN || enthalpy >= RNA_FORBIDDEN) return RNA_FORBIDDEN;
  return enthalpy - (enthalpy - energy) * factor;
}

/* Letters next to a stem outside and in multiloops are no cost, and nothing without dangles. The
 * exact energies go to 0 along a sine, so that sums over structures are smooth in the temperature:
 * ViennaRNA's pf_smooth, whose constants these are. */
static double lowered(const reader *r, double energy) {
  const double tenth = energy / -10;
  if (r->ask->dangles == 0) return 0;
  if (!r->smooth) return energy < 0 ? energy : 0;
  if (tenth < -1.2283697) return 0;
  if (tenth > 0.8660254) return energy;
  const double wave = sin(tenth - 0.34242663) + 1;
  return -10 * 0.38490018 * wave * wave;
}

static int count_of(const section *s) {
  int count = 1;
  for (int d = 0; d < 6 && s->dims[d] > 0; d++) count *= s->dims[d];
  return count;
}

/* Place of number k of the file among those kept; -1: not kept. */
static int64_t place_of(const section *s, int k) {
  int64_t at = 0, step = 1;
  int last = 5;
  while (last > 0 && s->dims[last] == 0) last--;
  for (int d = last; d >= 0; d--) {
    const int index = k % s->dims[d] + s->skip[d];
    k /= s->dims[d];
    if (index >= s->room[d]) return -1;
    at += step * index;
    step *= s->room[d];
  }
  return at;
}

static tsl_err read_table(reader *r, int number, int side) {
  tsl_err err = TSL_OK;
  const int n = count_of(&sections[number]);
  if ((r->seen[side] >> number & 1) != 0) return fail(r, "is there twice");
  r->seen[side] |= UINT32_C(1) << number;
  TSL_TRY(tsl_alloc(n, sizeof(int32_t), "parameters", (void **)&r->numbers[side][number]));
  TSL_TRY(next_energies(r, r->numbers[side][number], n));
  TSL_TRY(expect_end(r));
done:
  return err;
}

static tsl_err read_ml(reader *r) {
  tsl_err err = TSL_OK;
  int32_t x[6];
  TSL_TRY(next_energies(r, x, 6));
  r->energy->multi_base = at_temperature(r, x[0], x[1]);
  r->energy->multi_closing = at_temperature(r, x[2], x[3]);
  r->energy->multi_stem = at_temperature(r, x[4], x[5]);
  TSL_TRY(expect_end(r));
done:
  return err;
}

static tsl_err read_ninio(reader *r) {
  tsl_err err = TSL_OK;
  int32_t x[3];
  TSL_TRY(next_energies(r, x, 3));
  if (x[0] >= RNA_FORBIDDEN || x[1] >= RNA_FORBIDDEN) return fail(r, "INF is no cost of asymmetry");
  r->energy->ninio = at_temperature(r, x[0], x[1]);
  r->energy->most_ninio = x[2];
  TSL_TRY(expect_end(r));
done:
  return err;
}

/* Duplexes, which we do not have; pairs at the end of a helix; the logarithm and its enthalpy. */
static tsl_err read_misc(reader *r) {
  tsl_err err = TSL_OK;
  int32_t x[4], rest = 0;
  double logarithm = 107.856;
  TSL_TRY(next_energies(r, x, 4));
  r->energy->terminal = at_temperature(r, x[2], x[3]);
  if (next_word(r)) {
    if (table_number_parse(r->word, r->stop, &logarithm) != TABLE_NUMBER || fabs(logarithm) > 1e4) {
      err = fail(r, "a factor from -10000 to 10000 is needed as its fifth number");
      goto done;
    }
    if (next_word(r)) TSL_TRY(energy_of(r, &rest));
  }
  r->logarithm = logarithm * ((r->ask->celsius + zero_celsius) / measured);
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
    if (list[word] == RNA_NONE) list[word] = at_temperature(r, x[0], x[1]);
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
    if (same_name(r->name, sections[k].name)) return read_table(r, k, 0);
    (void)snprintf(name, sizeof name, "%s_enthalpies", sections[k].name);
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
        TSL_FAIL(TSL_ERR_INPUT, "%s: section %s%s is missing", r->lines.path, sections[k].name,
                 side == 1 ? "_enthalpies" : "");
  for (int k = 0; k < N_ODD; k++)
    if ((r->seen_odd >> k & 1) == 0)
      TSL_FAIL(TSL_ERR_INPUT, "%s: section %s is missing", r->lines.path, odd_names[k]);
done:
  return err;
}

static void settle_table(reader *r, int number) {
  const section *s = &sections[number];
  double *to = s->at == NOWHERE ? r->hairpin : (double *)(void *)((char *)r->energy + s->at);
  const int n = count_of(s);
  for (int k = 0; k < n; k++) {
    const int64_t place = place_of(s, k);
    if (place < 0) continue;
    const double value = at_temperature(r, r->numbers[0][number][k], r->numbers[1][number][k]);
    to[place] = s->lowers ? lowered(r, value) : value;
  }
}

typedef int32_t table22[RNA_PAIRS][RNA_PAIRS][5][5][5][5];
/* Two letters on each side, others than A C G U among them: the worst of what they may be. */
static void complete_int22(table22 table) {
  for (int x = 1; x < RNA_PAIRS; x++)
    for (int y = 1; y < RNA_PAIRS; y++)
      for (int k = 0; k < 625; k++) {
        const int at[4] = {k / 125, k / 25 % 5, k / 5 % 5, k % 5};
        int32_t worst = INT32_MIN;
        for (int m = 0; m < 256; m++) {
          int as[4] = {m / 64 + 1, m / 16 % 4 + 1, m / 4 % 4 + 1, m % 4 + 1};
          for (int d = 0; d < 4; d++)
            if (at[d] != 0) as[d] = at[d];
          const int32_t value = table[x][y][as[0]][as[1]][as[2]][as[3]];
          if (value > worst) worst = value;
        }
        table[x][y][at[0]][at[1]][at[2]][at[3]] = worst;
      }
}

/* Energies and enthalpies are completed before they are combined. */
static tsl_err settle_int22(const reader *r, int number) {
  tsl_err err = TSL_OK;
  int32_t *both[2] = {NULL, NULL};
  const int64_t n = sizeof(table22) / sizeof(int32_t);
  double *to = &r->energy->int22[0][0][0][0][0][0];
  for (int side = 0; side < 2; side++) {
    TSL_TRY(tsl_alloc(n, sizeof(int32_t), "parameters", (void **)&both[side]));
    for (int k = 0; k < count_of(&sections[number]); k++)
      both[side][place_of(&sections[number], k)] = r->numbers[side][number][k];
    complete_int22((int32_t(*)[RNA_PAIRS][5][5][5][5])(void *)both[side]);
  }
  for (int64_t k = 0; k < n; k++) to[k] = at_temperature(r, both[0][k], both[1][k]);
done:
  TSL_FREE_ALL(both[0], both[1]);
  return err;
}

static tsl_err settle(reader *r) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < N_TABLES; k++)
    if (sections[k].at == AT(int22))
      TSL_TRY(settle_int22(r, k));
    else
      settle_table(r, k);
done:
  return err;
}

/* What hairpins of more than RNA_LOOP letters cost more. */
static double beyond(const reader *r, int64_t size) {
  return size > RNA_LOOP ? r->logarithm * log((double)size / RNA_LOOP) : 0;
}

static tsl_err parse(reader *r, const char *path, const char *text, int64_t bytes) {
  tsl_err err = TSL_OK;
  rna_exact *energy = r->energy;
  table_lines_open(path, text, bytes, 0, &r->lines);
  memset(energy, 0, sizeof *energy);
  for (int k = 0; k < 1 << 10; k++) energy->triloop[k] = RNA_NONE;
  for (int k = 0; k < 1 << 12; k++) energy->tetraloop[k] = RNA_NONE;
  for (int k = 0; k < 1 << 16; k++) energy->hexaloop[k] = RNA_NONE;
  TSL_TRY(read_all(r));
  TSL_TRY(check_complete(r));
  TSL_TRY(settle(r));
done:
  for (int k = 0; k < N_TABLES; k++) TSL_FREE_ALL(r->numbers[0][k], r->numbers[1][k]);
  return err;
}

tsl_err rna_params_parse(const char *path, const char *text, int64_t bytes, const rna_ask *ask,
                         rna_energy *energy, int64_t n, int32_t *sizes) {
  tsl_err err = TSL_OK;
  reader r = {.ask = ask};
  int32_t *list = (int32_t *)(void *)energy;
  _Static_assert(sizeof(rna_exact) / sizeof(double) == sizeof(rna_energy) / sizeof(int32_t),
                 "the same numbers in both");
  TSL_TRY(tsl_alloc(1, sizeof *r.energy, "parameters", (void **)&r.energy));
  TSL_TRY(parse(&r, path, text, bytes));
  const double *exact = (const double *)(const void *)r.energy;
  for (size_t k = 0; k < sizeof *energy / sizeof *list; k++) list[k] = (int32_t)exact[k];
  for (int64_t k = 0; k <= n; k++)
    sizes[k] = (int32_t)r.hairpin[k < RNA_LOOP ? k : RNA_LOOP] + (int32_t)beyond(&r, k);
done:
  tsl_free(r.energy);
  return err;
}

tsl_err rna_params_read(const char *path, const rna_ask *ask, rna_energy *energy, int64_t n,
                        int32_t *sizes) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t bytes = 0;
  TSL_TRY(table_file_load(path, &text, &bytes));
  TSL_TRY(rna_params_parse(path, text, bytes, ask, energy, n, sizes));
done:
  tsl_free(text);
  return err;
}

tsl_err rna_params_read_exact(const char *path, const rna_ask *ask, rna_exact *energy, int64_t n,
                              double *sizes) {
  tsl_err err = TSL_OK;
  reader r = {.energy = energy, .ask = ask, .smooth = true};
  char *text = NULL;
  int64_t bytes = 0;
  TSL_TRY(table_file_load(path, &text, &bytes));
  TSL_TRY(parse(&r, path, text, bytes));
  for (int64_t k = 0; k <= n; k++)
    sizes[k] = r.hairpin[k < RNA_LOOP ? k : RNA_LOOP] + beyond(&r, k);
done:
  tsl_free(text);
  return err;
}
