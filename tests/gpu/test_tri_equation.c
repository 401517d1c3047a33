/* gpu.tri.equation: equations of decks, sums, and the outputs of two sets give on a card the bits
 * of a socket, however rows are cut; gravity of two sets what a socket gives, but for rounding.
 * Exit status 77: no card, no compiler or no NVRTC. */
#include "contract.h"
#include "tri.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 700, M = 650, TEXT = 4096 }; /* points; of the other set */

static int n_failed, n_done;

#define GAUSS "exp(-r2 / (2 * s * s)) * q_i * q_j"
#define CASES "r < 0.3 && !(r <= 0.1) || q_i + q_j > 2 ? pow(r, 3) : log(1 + r) / (1 + sqrt(r))"
#define LOPSIDED "exp(-r / s) * (1 + q_j) / (0.1 + r) + x_j[2]"
#define EWALD "q_i * q_j * (1 - erf(r / s)) / (0.01 + r) + cos(40 * dx[0]) * sin(r2 / s)"
#define EQUATION(value, more)                                   \
  "  function:\n    value: \"" value "\"\n    symmetric: yes\n" \
  "    quantities: [{name: q, column: 3}]\n    parameters: [{name: s, value: 0.2}]\n" more
#define FREE(value, more)                   \
  "  function:\n    value: \"" value "\"\n" \
  "    quantities: [{name: q, column: 3}]\n    parameters: [{name: s, value: 0.2}]\n" more
#define INPUT "  input: {file: tri_equation.csv, columns: [0, 1, 2]}\n"
#define VECTORS "  input: {file: tri_equation.csv, columns: [0, 1, 2], vector_columns: [3, 1]}\n"

#define OTHER "  other: {input: {file: tri_other.csv, columns: [0, 1, 2]}}\n"
#define SOURCES \
  "  other: {input: {file: tri_other.csv, columns: [0, 1, 2], vector_columns: [3, 1]}}\n"
#define WORDS                          \
  "  input: {file: tri_first.fasta}\n" \
  "  other: {input: {file: tri_other.fasta}}\n"
#define MADE(d)                                       \
  "  generator: {kind: clusters, n: 700, d: " d "}\n" \
  "  other: {generator: {kind: clusters, n: 650, d: " d "}}\n"
#define NOBODY                                   \
  "  generator: {kind: uniform, n: 700, d: 3}\n" \
  "  other: {generator: {kind: uniform, n: 0, d: 3}}\n"
#define MASSES "  other: {input: {file: tri_other.csv, columns: [0, 1, 2], mass_column: 3}}\n"

static const char *const decks[] = {
    EQUATION(GAUSS, "  output: condensed\n" INPUT), EQUATION(CASES, "  output: square\n" INPUT),
    EQUATION(GAUSS, "    diagonal: no\n  output: square\n" INPUT),
    EQUATION(CASES, "  output: condensed\n  box: [0.5, 0.75, 0.6]\n" INPUT),
    EQUATION(EWALD, "  output: condensed\n" INPUT), FREE(EWALD, "  output: sum\n" INPUT),
    FREE(LOPSIDED, "  output: topk\n  k: 7\n" INPUT), FREE(LOPSIDED, "  output: sum\n" INPUT),
    FREE(LOPSIDED, "  output: sum\n" VECTORS),
    FREE(GAUSS, "    diagonal: no\n  output: sum\n" VECTORS),
    FREE(GAUSS, "    gradient: \"-dx[k] / (s * s) * exp(-r2 / (2 * s * s)) * q_i * q_j\"\n"
                "  output: forces\n" INPUT),
    "  function: euclidean\n  output: sum\n" VECTORS,
    "  function: chebyshev\n  output: sum\n" INPUT,
    "  function: haversine\n  output: sum\n  input: {file: tri_equation.csv, columns: [0, 1]}\n",
    FREE(LOPSIDED, "  output: degree\n  threshold: 0.8\n" INPUT),
    FREE(LOPSIDED, "  output: csr\n  threshold: 0.8\n" INPUT),
    FREE(LOPSIDED, "  output: minimum\n" INPUT), FREE(CASES, "  output: maximum\n" INPUT),
    /* two sets */
    FREE(LOPSIDED, "  output: csr\n  threshold: 0.8\n" INPUT OTHER),
    FREE(LOPSIDED, "  output: maximum\n" INPUT OTHER),
    FREE(LOPSIDED, "  output: histogram\n  range: [0, 2]\n" INPUT OTHER),
    FREE(LOPSIDED, "  output: condensed\n" INPUT OTHER),
    FREE(CASES, "  output: condensed\n  box: [0.5, 0.75, 0.6]\n" INPUT OTHER),
    FREE(LOPSIDED, "  output: topk\n  k: 7\n" INPUT OTHER),
    FREE(LOPSIDED, "  output: threshold\n  threshold: 0.8\n" INPUT OTHER),
    FREE(LOPSIDED, "  output: sum\n" INPUT OTHER), FREE(EWALD, "  output: sum\n" INPUT SOURCES),
    FREE(GAUSS, "    gradient: \"-dx[k] / (s * s) * exp(-r2 / (2 * s * s)) * q_i * q_j\"\n"
                "  output: forces\n" INPUT OTHER),
    "  function: euclidean\n  output: sum\n" INPUT SOURCES,
    "  function: euclidean\n  output: degree\n  threshold: 0.2\n  search: all\n" INPUT OTHER,
    "  function: euclidean\n  output: degree\n  threshold: 0.2\n  search: near\n" INPUT OTHER,
    "  function: euclidean\n  output: csr\n  threshold: 0.2\n  search: all\n" INPUT OTHER,
    "  function: euclidean\n  output: csr\n  threshold: 0.2\n  search: near\n" INPUT OTHER,
    "  function: manhattan\n  output: minimum\n  search: all\n" INPUT OTHER,
    "  function: manhattan\n  output: minimum\n  search: near\n" INPUT OTHER,
    "  function: euclidean\n  output: degree\n  threshold: 0.1\n  box: [1, 1, 1]\n" INPUT OTHER,
    "  function: chebyshev\n  output: maximum\n" INPUT OTHER,
    "  function: euclidean\n  output: csr\n  threshold: 0.9\n  search: all\n" MADE("9"),
    "  function: canberra\n  output: degree\n  threshold: 2\n" MADE("7"),
    "  function: sqeuclidean\n  output: minimum\n  search: all\n" MADE("12"),
    "  function: euclidean\n  output: maximum\n" MADE("6"),
    "  function: braycurtis\n  output: sum\n  generator: {kind: uniform, n: 700, d: 7}\n"
    "  other: {generator: {kind: uniform, n: 650, d: 7}}\n",
    "  function: inner\n  output: csr\n  threshold: 0.5\n" INPUT OTHER,
    "  function: euclidean\n  output: degree\n  threshold: 1\n" NOBODY,
    "  function: euclidean\n  output: csr\n  threshold: 1\n" NOBODY,
    "  function: euclidean\n  output: sum\n" NOBODY, "  function: canberra\n  output: sum\n" NOBODY,
    "  function: manhattan\n  output: maximum\n" NOBODY,
    "  function: gravity\n  output: forces\n" NOBODY,
    "  function: edit\n  output: degree\n  threshold: 25\n" WORDS,
    "  function: edit\n  output: csr\n  threshold: 25\n" WORDS,
    "  function: edit\n  output: minimum\n" WORDS, "  function: local\n  output: sum\n" WORDS,
    "  function: gravity\n  output: forces\n  softening: 0.01\n" INPUT MASSES,
    "  function: gravity\n  output: forces\n  softening: 0.1\n  mass: 2\n" INPUT OTHER};
enum { N_DECKS = sizeof decks / sizeof *decks };

/** Numbers in [0, 1) that do not matter. */
static double next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 40) * 0x1p-24;
}

/** A file of n points with a quantity. */
static void write_points(const char *path, int n, uint64_t seed) {
  FILE *file = fopen(path, "w");
  for (int i = 0; file != NULL && i < n; i++)
    for (int k = 0; k < 4; k++) (void)fprintf(file, "%.9g%c", next(&seed), k < 3 ? ',' : '\n');
  if (file == NULL || fclose(file) != 0) exit(1);
}

/** A file of n sequences of 20 to 79 letters. */
static void write_letters(const char *path, int n, uint64_t seed) {
  FILE *file = fopen(path, "w");
  for (int i = 0; file != NULL && i < n; i++) {
    (void)fprintf(file, ">%d\n", i);
    for (int k = 20 + (int)(60 * next(&seed)); k > 0; k--)
      (void)fputc("ACGT"[(int)(4 * next(&seed))], file);
    (void)fputc('\n', file);
  }
  if (file == NULL || fclose(file) != 0) exit(1);
}

static tsl_err make_problem(const char *text, tsl_deck **deck, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  memset(problem, 0, sizeof *problem);
  TSL_TRY(tsl_deck_parse(text, strlen(text), "deck", NULL, 0, deck));
  problem->family = &tsl_family_tri;
  TSL_TRY(tsl_family_tri.create(*deck, problem));
done:
  return err;
}

/** Counts after what is in the buffer. */
static tsl_err take_counts(const tsl_backend *b, tsl_worker *w, tsl_problem *problem, char *out,
                           int64_t *bytes) {
  tsl_err err = TSL_OK;
  tsl_field *const counts = &problem->fields[TRI_OUT];
  if (counts->combine != TSL_SUM) return TSL_OK;
  TSL_TRY(tsl_field_allocate(counts));
  memset(counts->data, 0, (size_t)tsl_field_bytes(counts));
  TSL_TRY(b->collect(w, problem));
  memcpy(out + *bytes, counts->data, (size_t)tsl_field_bytes(counts));
  *bytes += tsl_field_bytes(counts);
done:
  return err;
}

/** Lists of the units after what is in the buffer; frees them. */
static void take_lists(const tsl_problem *problem, tsl_part *parts, int n_units, char *out,
                       int64_t *bytes) {
  for (int f = TRI_OUT; f < problem->n_fields; f++)
    for (int u = 0; u < n_units && problem->fields[f].combine == TSL_LIST; u++) {
      const int64_t each = (int64_t)tsl_type_bytes((tsl_type)problem->fields[f].type);
      const int64_t n = parts[u].list[f].n * each *
                        (problem->fields[f].rank == 2 ? problem->fields[f].shape[1] : 1);
      if (n > 0) memcpy(out + *bytes, parts[u].list[f].data, (size_t)n);
      free(parts[u].list[f].data);
      *bytes += n;
    }
}

/** Rows [0, cut) and [cut, N) of all outputs into one buffer after the other. */
static tsl_err compute(tsl_problem *problem, const tsl_platform *platform, int64_t cut, char *out,
                       int64_t *bytes) {
  tsl_err err = TSL_OK;
  tsl_device device = {0};
  tsl_worker *w = NULL;
  const tsl_backend *b = tsl_backend_find(platform, "tri");
  tsl_unit units[2] = {{.hi = {cut, 1, 1}}, {.id = 1, .lo = {cut, 0, 0}, .hi = {N, 1, 1}}};
  tsl_part parts[2] = {{.seconds = 0}};
  const int n_units = cut < N ? 2 : 1;
  *bytes = 0;
  TSL_TRY(platform->describe(0, &device));
  device.threads = 1;
  TSL_TRY(platform->select(&device));
  TSL_TRY(b->prepare(problem, &device, 1));
  TSL_TRY(b->open(problem, &device, &w));
  TSL_TRY(b->begin(w, 0));
  for (int f = TRI_OUT; f < problem->n_fields; f++)
    for (int u = 0; u < n_units && (problem->fields[f].role & TSL_OUT) != 0; u++) {
      int64_t lo[3], hi[3], n = (int64_t)tsl_type_bytes((tsl_type)problem->fields[f].type);
      problem->family->region(problem, &units[u], f, lo, hi);
      for (int k = 0; k < 3; k++) n *= hi[k] - lo[k];
      parts[u].slab[f] = out + *bytes;
      *bytes += n; /* what is cut is whole again */
    }
  TSL_TRY(b->run(w, units, n_units, parts));
  take_lists(problem, parts, n_units, out, bytes);
  TSL_TRY(take_counts(b, w, problem, out, bytes));
done:
  if (w != NULL) b->close(&w);
  return err;
}

/** Are n bytes of results the same? Gravity: doubles, but for rounding. */
static bool agree(const tsl_problem *problem, const char *precision, const char *a, const char *b,
                  int64_t n) {
  const double share = strcmp(precision, "fp32") == 0 ? 1e-5 : 1e-12;
  double most = 0, off = 0;
  if (tri_params_of(problem)->function != TRI_GRAVITY) return memcmp(a, b, (size_t)n) == 0;
  for (int64_t k = 0; k < n / 8; k++) {
    const double x = ((const double *)a)[k];
    most = fmax(most, fabs(x)), off = fmax(off, fabs(x - ((const double *)b)[k]));
  }
  return off <= share * most;
}

static void check_deck(int number, const char *precision) {
  enum { ROOM = 24 * N * N }; /* pairs and their values */
  char text[TEXT];
  tsl_deck *deck = NULL;
  tsl_problem problem = {0};
  int64_t n = 0, m = 0, l = 0;
  char *socket = calloc(1, ROOM), *card = calloc(1, ROOM), *again = calloc(1, ROOM);
  (void)snprintf(text, sizeof text, "family: tri\ntri:\n  precision: %s\n%s", precision,
                 decks[number]);
  tsl_err err = make_problem(text, &deck, &problem);
  if (err == TSL_OK) err = compute(&problem, &tsl_platform_cpu, N, socket, &n);
  if (err == TSL_OK) err = compute(&problem, &tsl_platform_gpu, N, card, &m);
  if (err == TSL_OK) err = compute(&problem, &tsl_platform_gpu, 300, again, &l);
  const bool square = tri_params_of(&problem)->output == TRI_SQUARE;
  n_done++;
  if (err != TSL_OK)
    n_failed++, printf("FAIL deck %d, %s: %s\n", number, precision, tsl_err_message());
  else if (n != m || !agree(&problem, precision, socket, card, n))
    n_failed++, printf("FAIL deck %d, %s: the card has other bits\n", number, precision);
  else if (!square && (n != l || memcmp(card, again, (size_t)n) != 0))
    n_failed++, printf("FAIL deck %d, %s: cut rows have other bits\n", number, precision);
  if (problem.family != NULL) tsl_family_tri.destroy(&problem);
  tsl_problem_clear(&problem);
  tsl_deck_destroy(&deck);
  free(socket), free(card), free(again);
}

int main(void) {
  const char *why = NULL;
  if (tsl_platform_gpu.count(&why) == 0) return printf("skipped: %s\n", why), 77;
  write_points("tri_equation.csv", N, 7);
  write_points("tri_other.csv", M, 8);
  write_letters("tri_first.fasta", N, 9);
  write_letters("tri_other.fasta", M, 10);
  for (int d = 0; d < N_DECKS; d++) {
    check_deck(d, "fp32");
    check_deck(d, "fp64");
  }
  printf("%d decks, %d failed\n", n_done, n_failed);
  return n_failed > 0;
}
