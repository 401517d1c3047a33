/* Folding of RNA: its input, and the structure from the table of pairs on the root (Zuker and
 * Stiegler 1981). What lies outside of pairs is found again for each loop. */
#include "dp_family.h"
#include "files.h"
#include "integers.h"
#include "letters_file.h"
#include "new_file.h"
#include "parallel.h"
#include "rna_params.h"
#include "rna_structure.h"
#include "table_read.h"

#include <stdio.h>
#include <string.h>

/* ---- input */

/** Energies of structures stay far from RNA_HIGH. */
static tsl_err check_energies(const tsl_deck *deck, const rna_energy *e, int64_t n) {
  tsl_err err = TSL_OK;
  const int32_t *list = (const int32_t *)(const void *)e;
  int64_t least = 0;
  for (size_t k = 0; k < sizeof *e / sizeof *list; k++)
    if (list[k] < least) least = list[k];
  if (-least * 4 * (n / 2 + 1) >= RNA_HIGH / 2)
    err = tsl_deck_fail(deck, TSL_ERR_NUMERIC, "dp.parameters", __FILE__, __LINE__,
                        "energies down to %lld (0.01 kcal/mol) of %lld letters may exceed 26 bits",
                        (long long)least, (long long)n);
  return err;
}

tsl_err dp_energies_load(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem,
                         rna_file *file) {
  tsl_err err = TSL_OK;
  char about[512], shown[104];
  if (s->dangles == 1) TSL_DECK_FAIL(deck, "dp.dangles", "0 or 2 is needed");
  (void)snprintf(about, sizeof about, "%s, %g degrees Celsius, dangles %d",
                 letters_shown_file(s->parameters, shown), s->temperature, (int)s->dangles);
  dp_note_input(dp_own_of(problem), "parameters", about);
  TSL_TRY(tsl_deck_path(deck, s->parameters, &file->path));
  TSL_TRY(tsl_deck_blame(deck, "dp.parameters",
                         table_file_load(file->path, &file->text, &file->bytes)));
done:
  return err;
}

static tsl_err load_energies(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const rna_ask ask = {.celsius = s->temperature, .dangles = (int32_t)s->dangles};
  rna_energy *energy = NULL;
  int32_t *sizes = NULL;
  rna_file file = {.path = NULL};
  TSL_TRY(dp_energies_load(deck, s, problem, &file));
  TSL_TRY(tsl_alloc(1, sizeof *energy, "energies", (void **)&energy));
  TSL_TRY(tsl_alloc(p->n + 1, sizeof *sizes, "energies", (void **)&sizes));
  TSL_TRY(
      tsl_deck_blame(deck, "dp.parameters", rna_params_parse(&file, &ask, energy, p->n, sizes)));
  TSL_TRY(check_energies(deck, energy, p->n));
  TSL_TRY(dp_add_input(problem, "energies", "Energies of loops, rna_energy.h.", TSL_I32,
                       (int64_t)(sizeof *energy / sizeof(int32_t)), energy));
  energy = NULL;
  TSL_TRY(
      dp_add_input(problem, "hairpins", "Energies of hairpins by size.", TSL_I32, p->n + 1, sizes));
  sizes = NULL;
done:
  TSL_FREE_ALL(energy, sizes, file.path, file.text);
  return err;
}

tsl_err dp_load_fold(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  const dp_sequence_ask ask = {
      .key = "dp.a", .source = &s->a, .alphabet = s->alphabet, .keep = true};
  TSL_TRY(dp_load_sequence(deck, &ask, problem, &dp_own_of(problem)->a, &p->n));
  p->m = p->n;
  TSL_TRY(load_energies(deck, s, problem));
done:
  return err;
}

/* ---- the table and what is found of it */

enum { STEM_ROWS = 512 /* letters of a multiloop that threads look at side by side */ };

/** Least energies with one stem, and with two. */
typedef struct stems {
  int32_t one, two;
} stems;

typedef struct folding {
  const tsl_problem *problem;
  int64_t n, posts;
  const int32_t *table; /* V: energies of what pairs enclose */
  const rna_energy *e;
  const int32_t *sizes;
  uint8_t *letters, *around;    /* letters[-1] and letters[n] are readable */
  int64_t *partner;             /* [n] */
  int64_t (*stack)[2], n_stack; /* pairs whose loops are not known yet */
  stems *far;                   /* [STEM_ROWS] */
  int32_t *one, *two, *any;     /* [n + 1] letters from here to a loop's end: stems in them */
  uint8_t *end;                 /* [posts] 5 letter b-1 + letter b: keys of ends of stems */
} folding;

static int32_t pair_value(const folding *f, int64_t i, int64_t j) {
  return f->table[i * f->posts + j + 1];
}

static void add_pair(folding *f, int64_t i, int64_t j) {
  f->partner[i] = j, f->partner[j] = i;
  f->stack[f->n_stack][0] = i, f->stack[f->n_stack++][1] = j;
}

static tsl_err lost(int64_t i, int64_t j) {
  return tsl_fail(TSL_ERR_INTERNAL, __FILE__, __LINE__,
                  "nothing attains the energy of letters %lld to %lld", (long long)i, (long long)j);
}

static int32_t exterior_value(const folding *f, int64_t i, int64_t j) {
  return pair_value(f, i, j) + rna_exterior_stem(f->e, rna_pair(f->letters[i], f->letters[j]),
                                                 i > 0 ? f->letters[i - 1] : -1,
                                                 j + 1 < f->n ? f->letters[j + 1] : -1);
}

/** Least energies of the letters before a post, f->any: those of [from, to) by a stem that
 *  begins with letter a, before which all is known. */
static void end_stems(folding *f, int64_t a, int64_t from, int64_t to) {
  const int64_t least = a + RNA_HAIRPIN + 1;
  int32_t *best = f->any;
  for (int64_t j = from > least ? from : least; j < to; j++) {
    if (pair_value(f, a, j) >= RNA_HIGH) continue;
    const int32_t value = best[a] + exterior_value(f, a, j);
    if (value < best[j + 1]) best[j + 1] = value;
  }
}

/** Letters lo..hi-1, and what ends behind all of them. */
typedef struct far_ends {
  folding *f;
  int64_t lo, hi;
} far_ends;

static tsl_err look_behind(void *context, int slot, int64_t from, int64_t to) {
  const far_ends *job = context;
  (void)slot;
  for (int64_t a = job->lo; a < job->hi; a++)
    end_stems(job->f, a, job->hi - 1 + from, job->hi - 1 + to);
  return TSL_OK;
}

/** f->any: of the letters before a post. Ends of stems do not need each other behind all begins. */
static tsl_err find_ends(folding *f) {
  tsl_err err = TSL_OK;
  int32_t *best = f->any;
  for (int64_t b = 0; b <= f->n; b++) best[b] = 0;
  for (int64_t lo = 0, hi; lo < f->n; lo = hi) {
    hi = tsl_min(f->n, lo + STEM_ROWS);
    for (int64_t a = lo; a < hi; a++) {
      if (a > 0 && best[a - 1] < best[a]) best[a] = best[a - 1];
      end_stems(f, a, 0, hi - 1);
    }
    far_ends job = {f, lo, hi};
    TSL_TRY(tsl_parallel(f->n - hi + 1, STEM_ROWS, look_behind, &job));
  }
  if (f->n > 0 && best[f->n - 1] < best[f->n]) best[f->n] = best[f->n - 1];
done:
  return err;
}

/** Stems outside, from the last on; of equals the one that begins last. */
static tsl_err walk_exterior(folding *f) {
  const int32_t *best = f->any;
  const tsl_err err = find_ends(f);
  if (err != TSL_OK) return err;
  for (int64_t b = f->n; b > 0;) {
    int64_t a = b - RNA_HAIRPIN - 2;
    if (best[b] == best[b - 1]) {
      b--;
      continue;
    }
    while (a >= 0 && (pair_value(f, a, b - 1) >= RNA_HIGH ||
                      best[a] + exterior_value(f, a, b - 1) != best[b]))
      a--;
    if (a < 0) return lost(0, b - 1);
    add_pair(f, a, b - 1);
    b = a;
  }
  return TSL_OK;
}

/** Energies of stems that begin with letter k, by the key of their end. */
static void stems_at(const folding *f, int64_t k, int32_t stem[25]) {
  const int x = f->letters[k], before = f->letters[k - 1];
  for (int key = 0; key < 25; key++) {
    const int pair = rna_pair(x, key / 5);
    stem[key] = pair == 0 ? RNA_FORBIDDEN : rna_multi_stem(f->e, pair, before, key % 5);
  }
}

/** Of letters from k on to a loop's end, least energies with one stem and with two, where the first
 *  stem ends before letter m for an m in [from, to]. */
static stems stems_before(const folding *f, int64_t k, int64_t from, int64_t to) {
  const int32_t *row = f->table + k * f->posts;
  const int64_t least = k + RNA_HAIRPIN + 2;
  int32_t stem[25], one = RNA_HIGH, two = RNA_HIGH;
  stems_at(f, k, stem);
  for (int64_t m = from > least ? from : least; m <= to; m++) {
    const int32_t value = row[m] >= RNA_HIGH ? RNA_HIGH : row[m] + stem[f->end[m]];
    const int32_t first = value + f->any[m], second = value + f->one[m];
    one = first < one ? first : one;
    two = second < two ? second : two;
  }
  return (stems){one, two};
}

/** Rows lo.. of a loop that ends before `end`: their stems that end at hi or behind. */
typedef struct far_stems {
  const folding *f;
  int64_t lo, hi, end;
} far_stems;

static tsl_err look_far(void *context, int slot, int64_t from, int64_t to) {
  const far_stems *job = context;
  (void)slot;
  for (int64_t r = from; r < to; r++)
    job->f->far[r] = stems_before(job->f, job->lo + r, job->hi, job->end);
  return TSL_OK;
}

/** one, two and any of letter k, from those behind it. */
static void settle_stems(folding *f, int64_t k, stems far, int64_t hi, int64_t end) {
  const int32_t base = f->e->multi_base;
  const stems near = stems_before(f, k, 0, hi - 1);
  const int64_t none = (end - k) * (int64_t)base;
  const int64_t one = tsl_min(f->one[k + 1] + base, tsl_min(near.one, far.one));
  const int64_t two = tsl_min(f->two[k + 1] + base, tsl_min(near.two, far.two));
  f->one[k] = (int32_t)tsl_min(one, RNA_HIGH);
  f->two[k] = (int32_t)tsl_min(two, RNA_HIGH);
  f->any[k] = (int32_t)tsl_min(none, f->one[k]);
}

/** Letters k..end-1 of a multiloop: with a stem at least, with two, with any number. Rows do not
 *  need each other for stems that end behind all of them. */
static tsl_err find_stems(folding *f, int64_t begin, int64_t end) {
  tsl_err err = TSL_OK;
  f->one[end] = f->two[end] = RNA_HIGH, f->any[end] = 0;
  for (int64_t hi = end, lo; hi > begin; hi = lo) {
    lo = tsl_max(begin, hi - STEM_ROWS);
    far_stems job = {f, lo, hi, end};
    TSL_TRY(tsl_parallel(hi - lo, STEM_ROWS / 64, look_far, &job));
    for (int64_t k = hi - 1; k >= lo; k--) settle_stems(f, k, f->far[k - lo], hi, end);
  }
done:
  return err;
}

/** Stems of the multiloop that (i, j) closes; the smallest first of equals. */
static tsl_err walk_multiloop(folding *f, int64_t i, int64_t j) {
  const uint8_t *s = f->letters;
  const int32_t base = f->e->multi_base;
  int need = 2;
  const tsl_err err = find_stems(f, i + 1, j);
  if (err != TSL_OK) return err;
  const int64_t whole = (int64_t)f->two[i + 1] + f->e->multi_closing +
                        rna_multi_stem(f->e, rna_pair(s[j], s[i]), s[j - 1], s[i + 1]);
  if (whole != pair_value(f, i, j)) return lost(i, j);
  for (int64_t k = i + 1; k < j;) {
    const int32_t *list = need == 2 ? f->two : need == 1 ? f->one : f->any;
    const int32_t *rest = need == 2 ? f->one : f->any;
    int32_t stem[25];
    int64_t m = k + RNA_HAIRPIN + 2;
    if (need == 0 && list[k] == (j - k) * (int64_t)base) break;
    if (list[k] == list[k + 1] + base) {
      k++;
      continue;
    }
    stems_at(f, k, stem);
    while (m <= j && (f->table[k * f->posts + m] >= RNA_HIGH ||
                      f->table[k * f->posts + m] + stem[f->end[m]] + rest[m] != list[k]))
      m++;
    if (m > j) return lost(k, j - 1);
    add_pair(f, k, m - 1);
    k = m;
    need = need > 0 ? need - 1 : 0;
  }
  return TSL_OK;
}

/** What the pair (i, j) closes: a hairpin, an interior loop, a multiloop. */
static tsl_err walk_loop(folding *f, int64_t i, int64_t j) {
  const int32_t value = pair_value(f, i, j);
  if (rna_hairpin(f->e, f->sizes, f->letters + i, j - i - 1) == value) return TSL_OK;
  for (int64_t n1 = 0; n1 <= RNA_LOOP; n1++)
    for (int64_t n2 = 0; n2 <= RNA_LOOP - n1 && j - n2 - i - n1 >= RNA_HAIRPIN + 3; n2++) {
      const int64_t p = i + n1 + 1, q = j - n2 - 1;
      const int32_t inner = pair_value(f, p, q);
      if (inner >= RNA_HIGH) continue;
      if (inner + rna_interior(f->e, f->letters + i, (int)n1, f->letters + q, (int)n2) == value)
        return add_pair(f, p, q), TSL_OK;
    }
  return walk_multiloop(f, i, j);
}

/* ---- all of it */

static tsl_err open_folding(const tsl_problem *problem, folding *f) {
  tsl_err err = TSL_OK;
  const int64_t n = dp_params_of(problem)->n;
  const uint8_t *codes = problem->fields[DP_A].data;
  *f = (folding){.problem = problem, .n = n, .posts = n + 1};
  f->table = problem->fields[dp_field(problem, "table")].data;
  f->e = problem->fields[DP_B].data;
  f->sizes = problem->fields[DP_C].data;
  TSL_TRY(tsl_alloc(n + 2, 1, "letters", (void **)&f->around));
  TSL_TRY(tsl_alloc(n + 1, 1, "letters", (void **)&f->end));
  TSL_TRY(tsl_alloc(n + 1, sizeof *f->partner, "structure", (void **)&f->partner));
  TSL_TRY(tsl_alloc(n + 1, sizeof *f->stack, "structure", (void **)&f->stack));
  TSL_TRY(tsl_alloc(STEM_ROWS, sizeof *f->far, "structure", (void **)&f->far));
  TSL_TRY(tsl_alloc(n + 1, sizeof(int32_t), "structure", (void **)&f->one));
  TSL_TRY(tsl_alloc(n + 1, sizeof(int32_t), "structure", (void **)&f->two));
  TSL_TRY(tsl_alloc(n + 1, sizeof(int32_t), "structure", (void **)&f->any));
  f->letters = f->around + 1;
  for (int64_t k = 0; k < n; k++) {
    f->letters[k] = codes[k] < 4 ? (uint8_t)(codes[k] + 1) : 0;
    f->partner[k] = -1;
  }
  for (int64_t b = 1; b <= n; b++) f->end[b] = (uint8_t)(5 * f->letters[b - 1] + f->letters[b]);
done:
  return err;
}

static void close_folding(folding *f) {
  TSL_FREE_ALL(f->around, f->end, f->partner, f->stack, f->far, f->one, f->two, f->any);
}

/** The structure's energy, loop by loop. */
static void check_structure(const folding *f) {
  dp_own *own = dp_own_of(f->problem);
  const int64_t goal = *(const int64_t *)f->problem->fields[DP_GOAL].data;
  int64_t energy = 0;
  if (rna_structure_energy(f->e, f->sizes, f->letters, f->n, f->partner, &energy) != 0)
    (void)snprintf(own->mismatch, sizeof own->mismatch, "the recovered structure is none");
  else if (energy != goal)
    (void)snprintf(own->mismatch, sizeof own->mismatch,
                   "the recovered structure has the energy %.2f kcal/mol, but the optimum is %.2f",
                   (double)energy / 100, (double)goal / 100);
}

/** FASTA with dots and brackets, and the energy in kcal/mol, as RNAfold writes it.
 *  @param[in] text  [n] */
static tsl_err write_structure(const dp_own *own, int64_t n, const char *text, double energy,
                               const char *more) {
  tsl_err err = TSL_OK;
  tsl_new_file file = {.stream = NULL};
  TSL_TRY(tsl_new_file_open(own->structure, &file));
  if (own->a.name[0] != '\0') fprintf(file.stream, ">%s\n", own->a.name);
  (void)fwrite(own->a.letters, 1, (size_t)n, file.stream);
  fputc('\n', file.stream);
  (void)fwrite(text, 1, (size_t)n, file.stream);
  if (energy < RNA_HIGH / 100) fprintf(file.stream, " (%6.2f)", energy);
  fputc('\n', file.stream);
  if (more != NULL) fprintf(file.stream, "%s\n", more);
done:
  return tsl_new_file_close(&file, err);
}

tsl_err dp_store_structure(const tsl_problem *problem, const int64_t *partner, double energy,
                           const char *more, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  dp_own *own = dp_own_of(problem);
  const int64_t n = dp_params_of(problem)->n;
  char *text = NULL;
  int64_t *path = NULL, pairs = 0;
  TSL_TRY(tsl_alloc(n, 2 * sizeof *path, "solution", (void **)&path));
  TSL_TRY(tsl_alloc(n, 1, "structure", (void **)&text));
  for (int64_t k = 0; k < n; k++)
    if (partner[k] > k) path[2 * pairs] = k, path[2 * pairs++ + 1] = partner[k];
  rna_structure_text(partner, n, text);
  if (n > 0 && n <= DP_SHOWN_LETTERS)
    (void)snprintf(own->shown, sizeof own->shown, "%.*s\n%.*s", (int)n,
                   (const char *)own->a.letters, (int)n, text);
  TSL_TRY(store->append(store->state, dp_field(problem, "path"), path, pairs));
  TSL_TRY(store->append(store->state, dp_field(problem, "structure"), text, n));
  if (own->structure != NULL)
    (void)tsl_files_lose("dp.structure", write_structure(own, n, text, energy, more));
done:
  TSL_FREE_ALL(text, path);
  return err;
}

tsl_err dp_recover_fold(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  folding f = {.problem = problem};
  TSL_TRY(open_folding(problem, &f));
  TSL_TRY(walk_exterior(&f));
  while (f.n_stack > 0) {
    f.n_stack--;
    TSL_TRY(walk_loop(&f, f.stack[f.n_stack][0], f.stack[f.n_stack][1]));
  }
  check_structure(&f);
  TSL_TRY(dp_store_structure(problem, f.partner,
                             (double)*(const int64_t *)problem->fields[DP_GOAL].data / 100, NULL,
                             store));
done:
  close_folding(&f);
  return err;
}
