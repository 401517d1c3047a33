/* Sums over the structures of an RNA (McCaskill 1990): input, and what the root makes of the
 * probabilities of pairs: a list of those that count, letters, the centroid, a dot plot. */
#include "dp_family.h"
#include "files.h"
#include "letters_file.h"
#include "new_file.h"
#include "rna_mea.h"
#include "rna_params.h"
#include "rna_structure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** Gas constant in kcal/(mol K), as ViennaRNA has it. */
static const double gas_constant = 1.98717e-3, zero_celsius = 273.15;

/* ---- input */

tsl_err dp_load_partition(const tsl_deck *deck, dp_deck *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  dp_params *p = problem->params;
  dp_own *own = dp_own_of(problem);
  const dp_sequence_ask ask = {
      .key = "dp.a", .source = &s->a, .alphabet = s->alphabet, .keep = true};
  const rna_ask wanted = {.celsius = s->temperature, .dangles = (int32_t)s->dangles};
  rna_exact *energy = NULL;
  double *sizes = NULL;
  rna_file file = {.path = NULL};
  TSL_TRY(dp_load_sequence(deck, &ask, problem, &own->a, &p->n));
  p->m = p->n;
  p->threshold = s->threshold;
  own->gamma = s->gamma;
  p->kt = gas_constant * (s->temperature + zero_celsius);
  TSL_TRY(dp_energies_load(deck, s, problem, &file));
  TSL_TRY(tsl_alloc(1, sizeof *energy, "energies", (void **)&energy));
  TSL_TRY(tsl_alloc(p->n + 1, sizeof *sizes, "energies", (void **)&sizes));
  TSL_TRY(tsl_alloc(1, sizeof *own->energy, "energies", (void **)&own->energy));
  TSL_TRY(tsl_alloc(p->n + 1, sizeof *own->sizes, "energies", (void **)&own->sizes));
  TSL_TRY(tsl_deck_blame(deck, "dp.parameters",
                         rna_params_parse_exact(&file, &wanted, energy, p->n, sizes)));
  TSL_TRY(tsl_deck_blame(deck, "dp.parameters",
                         rna_params_parse(&file, &wanted, own->energy, p->n, own->sizes)));
  TSL_TRY(dp_add_input(problem, "energies", "Energies of loops, not rounded: rna_exact.", TSL_F64,
                       (int64_t)(sizeof *energy / sizeof(double)), energy));
  energy = NULL;
  TSL_TRY(
      dp_add_input(problem, "hairpins", "Energies of hairpins by size.", TSL_F64, p->n + 1, sizes));
  sizes = NULL;
done:
  TSL_FREE_ALL(energy, sizes, file.path, file.text);
  return err;
}

tsl_err dp_add_partition_outputs(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  const tsl_field pairs = {.type = TSL_I64, .combine = TSL_LIST, .rank = 2, .shape = {0, 2, 1}};
  const tsl_field values = {.type = TSL_F64, .combine = TSL_LIST, .rank = 1, .shape = {0, 1, 1}};
  const tsl_field text = {.type = TSL_U8, .combine = TSL_LIST, .rank = 1, .shape = {0, 1, 1}};
  if (p->mode != DP_RECOVER) return TSL_OK;
  TSL_TRY(dp_add_output(problem, &pairs, "pairs",
                        "Pairs (i, j) of letters whose probability is the threshold at least."));
  TSL_TRY(dp_add_output(problem, &values, "probabilities", "Their probabilities."));
  TSL_TRY(dp_add_output(problem, &values, "paired", "Of each letter, that it pairs."));
  TSL_TRY(dp_add_output(problem, &text, "accurate",
                        "The structure of maximum expected accuracy, as structure."));
done:
  return err;
}

/* ---- what is found of the probabilities */

typedef struct ensemble {
  tsl_problem *problem;
  int64_t n;
  const double *table; /* [n][n], above the diagonal */
  double *paired;      /* [n] */
  int64_t *partner;    /* [n] of the centroid */
  double distance;     /* expected number of pairs in which a structure differs from it */
} ensemble;

static double pair_of(const ensemble *e, int64_t i, int64_t j) {
  return e->table[i * e->n + j];
}

static void look_at_pairs(ensemble *e) {
  for (int64_t k = 0; k < e->n; k++) e->partner[k] = -1;
  for (int64_t i = 0; i < e->n; i++)
    for (int64_t j = i + 1; j < e->n; j++) {
      const double p = pair_of(e, i, j);
      e->paired[i] += p;
      e->paired[j] += p;
      e->distance += p > 0.5 ? 1 - p : p;
      if (p > 0.5) e->partner[i] = j, e->partner[j] = i;
    }
}

/** No letter pairs with more than one other, and pairs above one half do not cross. */
static void check_pairs(const ensemble *e, const uint8_t *letters) {
  dp_own *own = dp_own_of(e->problem);
  double most = 0;
  for (int64_t k = 0; k < e->n; k++)
    if (!(e->paired[k] <= most)) most = e->paired[k];
  if (!(most <= 1 + 1e-9))
    (void)snprintf(own->mismatch, sizeof own->mismatch,
                   "probabilities of the pairs of a letter add up to %.12g", most);
  else if (rna_structure_energy(own->energy, own->sizes, letters, e->n, e->partner,
                                &own->centroid) != 0)
    (void)snprintf(own->mismatch, sizeof own->mismatch, "the centroid is no structure");
}

static tsl_err store_pairs(const ensemble *e, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const tsl_problem *problem = e->problem;
  const double least = dp_params_of(problem)->threshold;
  int64_t(*pairs)[2] = NULL;
  double *values = NULL;
  TSL_TRY(tsl_alloc(e->n, sizeof *pairs, "pairs", (void **)&pairs));
  TSL_TRY(tsl_alloc(e->n, sizeof *values, "pairs", (void **)&values));
  for (int64_t i = 0; i < e->n; i++) {
    int64_t n = 0;
    for (int64_t j = i + 1; j < e->n; j++)
      if (pair_of(e, i, j) >= least && pair_of(e, i, j) > 0)
        pairs[n][0] = i, pairs[n][1] = j, values[n++] = pair_of(e, i, j);
    TSL_TRY(store->append(store->state, dp_field(problem, "pairs"), pairs, n));
    TSL_TRY(store->append(store->state, dp_field(problem, "probabilities"), values, n));
  }
  TSL_TRY(store->append(store->state, dp_field(problem, "paired"), e->paired, e->n));
done:
  TSL_FREE_ALL(pairs, values);
  return err;
}

/** The structure of maximum expected accuracy: stored, kept for the summary.
 *  @param[out] line  of the file, from tsl_alloc */
static tsl_err store_accurate(const ensemble *e, const uint8_t *letters, char **line,
                              const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  dp_own *own = dp_own_of(e->problem);
  int64_t *partner = NULL, energy = RNA_HIGH;
  const int64_t room = e->n + 64;
  TSL_TRY(tsl_alloc(e->n + 1, sizeof *partner, "structure", (void **)&partner));
  TSL_TRY(tsl_alloc(room, 1, "structure", (void **)line));
  TSL_TRY(rna_mea(e->n, e->table, e->paired, own->gamma, partner, &own->accuracy));
  if (rna_structure_energy(own->energy, own->sizes, letters, e->n, partner, &energy) != 0)
    (void)snprintf(own->mismatch, sizeof own->mismatch,
                   "what has the maximum expected accuracy is no structure");
  rna_structure_text(partner, e->n, *line);
  TSL_TRY(store->append(store->state, dp_field(e->problem, "accurate"), *line, e->n));
  if (energy < RNA_HIGH)
    (void)snprintf(*line + e->n, 64, " {%6.2f MEA=%.2f}", (double)energy / 100, own->accuracy);
  else
    (void)snprintf(*line + e->n, 64, " {MEA=%.2f}", own->accuracy);
  if (e->n > 0 && e->n <= DP_SHOWN_LETTERS)
    (void)snprintf(own->accurate, sizeof own->accurate, "%s", *line);
done:
  tsl_free(partner);
  return err;
}

/* ---- dot plot */

static const char plot_begin[] = "%%!PS-Adobe-3.0 EPSF-3.0\n"
                                 "%%%%Title: pairs of %s\n"
                                 "%%%%Creator: tesela\n"
                                 "%%%%BoundingBox: 66 211 518 662\n"
                                 "%%%%EndComments\n"
                                 "%% Lines \"i j sqrt(p) ubox\" above the diagonal: probabilities "
                                 "p; \"i j 0.95 lbox\" below it: the\n"
                                 "%% centroid. Letters count from 1.\n"
                                 "/len %lld def\n"
                                 "/sequence (\\\n";
static const char plot_middle[] =
    ") def\n"
    "/box { moveto dup 2 div neg dup rmoveto dup 0 rlineto dup 0 exch rlineto neg 0\n"
    "  rlineto closepath fill } bind def\n"
    "/ubox { 3 1 roll exch len exch sub 1 add box } bind def\n"
    "/lbox { 3 1 roll len exch sub 1 add box } bind def\n"
    "72 216 translate 440 len 1 add div dup scale\n"
    "0.01 setlinewidth 0.5 0.5 moveto 0 len rlineto len 0 rlineto 0 len neg rlineto closepath "
    "stroke\n"
    "0.5 len 0.5 add moveto len neg len exch rlineto stroke\n";

static tsl_err write_plot(const ensemble *e) {
  tsl_err err = TSL_OK;
  const dp_own *own = dp_own_of(e->problem);
  const double least = dp_params_of(e->problem)->threshold;
  tsl_new_file file = {.stream = NULL};
  TSL_TRY(tsl_new_file_open(own->dot_plot, &file));
  fprintf(file.stream, plot_begin, own->a.name[0] != '\0' ? own->a.name : "a", (long long)e->n);
  for (int64_t k = 0; k < e->n; k += 100)
    fprintf(file.stream, "%.*s\\\n", (int)(e->n - k < 100 ? e->n - k : 100),
            (const char *)own->a.letters + k);
  fputs(plot_middle, file.stream);
  for (int64_t i = 0; i < e->n; i++)
    for (int64_t j = i + 1; j < e->n; j++)
      if (pair_of(e, i, j) >= least && pair_of(e, i, j) > 0)
        fprintf(file.stream, "%lld %lld %.9f ubox\n", (long long)i + 1, (long long)j + 1,
                sqrt(pair_of(e, i, j)));
  for (int64_t i = 0; i < e->n; i++)
    if (e->partner[i] > i)
      fprintf(file.stream, "%lld %lld 0.95 lbox\n", (long long)i + 1, (long long)e->partner[i] + 1);
  fputs("showpage\n%%EOF\n", file.stream);
done:
  return tsl_new_file_close(&file, err);
}

/* ---- all of it */

tsl_err dp_recover_partition(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  dp_own *own = dp_own_of(problem);
  ensemble e = {.problem = problem, .n = dp_params_of(problem)->n};
  const uint8_t *codes = problem->fields[DP_A].data;
  uint8_t *around = NULL;
  char *accurate = NULL;
  e.table = problem->fields[dp_field(problem, "table")].data;
  TSL_TRY(tsl_alloc(e.n + 1, sizeof *e.paired, "probabilities", (void **)&e.paired));
  TSL_TRY(tsl_alloc(e.n + 1, sizeof *e.partner, "structure", (void **)&e.partner));
  TSL_TRY(tsl_alloc(e.n + 2, 1, "letters", (void **)&around));
  for (int64_t k = 0; k < e.n; k++) around[k + 1] = codes[k] < 4 ? (uint8_t)(codes[k] + 1) : 0;
  look_at_pairs(&e);
  check_pairs(&e, around + 1);
  own->distance = e.distance;
  TSL_TRY(store_pairs(&e, store));
  TSL_TRY(store_accurate(&e, around + 1, &accurate, store));
  TSL_TRY(dp_store_structure(problem, e.partner, (double)own->centroid / 100, accurate, store));
  if (own->dot_plot != NULL) (void)tsl_files_lose("dp.dot_plot", write_plot(&e));
done:
  TSL_FREE_ALL(e.paired, e.partner, around, accurate);
  return err;
}
