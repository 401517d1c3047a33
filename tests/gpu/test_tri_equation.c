/* gpu.tri.equation: equations of decks and sums give on a card the bits of a socket, however rows
 * are cut.
 * Exit status 77: no card, no compiler or no NVRTC. */
#include "contract.h"
#include "tri.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 700, TEXT = 4096 };

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

static const char *const decks[] = {
    EQUATION(GAUSS, "  output: condensed\n" INPUT),
    EQUATION(CASES, "  output: square\n" INPUT),
    EQUATION(GAUSS, "    diagonal: no\n  output: square\n" INPUT),
    EQUATION(CASES, "  output: condensed\n  box: [0.5, 0.75, 0.6]\n" INPUT),
    EQUATION(EWALD, "  output: condensed\n" INPUT),
    FREE(EWALD, "  output: sum\n" INPUT),
    FREE(LOPSIDED, "  output: topk\n  k: 7\n" INPUT),
    FREE(LOPSIDED, "  output: sum\n" INPUT),
    FREE(LOPSIDED, "  output: sum\n" VECTORS),
    FREE(GAUSS, "    diagonal: no\n  output: sum\n" VECTORS),
    FREE(GAUSS, "    gradient: \"-dx[k] / (s * s) * exp(-r2 / (2 * s * s)) * q_i * q_j\"\n"
                "  output: forces\n" INPUT),
    "  function: euclidean\n  output: sum\n" VECTORS,
    "  function: chebyshev\n  output: sum\n" INPUT,
    "  function: haversine\n  output: sum\n  input: {file: tri_equation.csv, columns: [0, 1]}\n"};
enum { N_DECKS = sizeof decks / sizeof *decks };

/** A file of N points with a quantity; the numbers do not matter. */
static void write_points(void) {
  FILE *file = fopen("tri_equation.csv", "w");
  uint64_t state = 7;
  for (int i = 0; file != NULL && i < N; i++)
    for (int k = 0; k < 4; k++) {
      state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      (void)fprintf(file, "%.9g%c", (double)(state >> 40) * 0x1p-24, k < 3 ? ',' : '\n');
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
done:
  if (w != NULL) b->close(&w);
  return err;
}

static void check_deck(int number, const char *precision) {
  enum { ROOM = 8 * N * N };
  char text[TEXT];
  tsl_deck *deck = NULL;
  tsl_problem problem = {0};
  int64_t n = 0, m = 0;
  char *socket = calloc(1, ROOM), *card = calloc(1, ROOM), *again = calloc(1, ROOM);
  (void)snprintf(text, sizeof text, "family: tri\ntri:\n  precision: %s\n%s", precision,
                 decks[number]);
  tsl_err err = make_problem(text, &deck, &problem);
  if (err == TSL_OK) err = compute(&problem, &tsl_platform_cpu, N, socket, &n);
  if (err == TSL_OK) err = compute(&problem, &tsl_platform_gpu, N, card, &m);
  if (err == TSL_OK) err = compute(&problem, &tsl_platform_gpu, 300, again, &m);
  const bool square = tri_params_of(&problem)->output == TRI_SQUARE;
  n_done++;
  if (err != TSL_OK)
    n_failed++, printf("FAIL deck %d, %s: %s\n", number, precision, tsl_err_message());
  else if (memcmp(socket, card, (size_t)n) != 0)
    n_failed++, printf("FAIL deck %d, %s: the card has other bits\n", number, precision);
  else if (!square && memcmp(card, again, (size_t)n) != 0)
    n_failed++, printf("FAIL deck %d, %s: cut rows have other bits\n", number, precision);
  if (problem.family != NULL) tsl_family_tri.destroy(&problem);
  tsl_problem_clear(&problem);
  tsl_deck_destroy(&deck);
  free(socket), free(card), free(again);
}

int main(void) {
  const char *why = NULL;
  if (tsl_platform_gpu.count(&why) == 0) return printf("skipped: %s\n", why), 77;
  write_points();
  for (int d = 0; d < N_DECKS; d++) {
    check_deck(d, "fp32");
    check_deck(d, "fp64");
  }
  printf("%d decks, %d failed\n", n_done, n_failed);
  return n_failed > 0;
}
