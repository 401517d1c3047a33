/**
 * @file test_xc_cpu_threads.c
 * What the root does before and between phases on 1, 2 and 5 threads: the same bits in all fields
 * that it makes, in the metric of the fitting set and in the states of the first iterations.
 * usage: test_xc_cpu_threads FOLDER of inputs/xc
 */
#include "must.h"
#include "parallel.h"
#include "xc_family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long n_checks, n_failures;

static void check(bool good, const char *name, const char *what, int slots) {
  n_checks++;
  if (good) return;
  n_failures++;
  printf("FAIL %s, %s, with %d threads\n", name, what, slots);
}

/** A problem, and its states after the iterations. */
typedef struct made {
  tsl_deck *deck;
  tsl_problem problem;
  double energies[3], commutators[3];
} made;

static void fill_missing(tsl_problem *problem) {
  for (int f = 0; f < problem->n_fields; f++) {
    tsl_field *field = &problem->fields[f];
    if (field->data == NULL)
      must(tsl_alloc(tsl_field_count(field), tsl_type_bytes((tsl_type)field->type), field->name,
                     &field->data),
           field->name);
  }
}

/* A symmetric matrix of its own in each phase instead of exchange and correlation; other sums stay
 * zero. So each iteration has orbitals of its own, and DIIS something to do. */
static void fill_sums(tsl_problem *problem, int phase) {
  const xc_params *p = xc_params_of(problem);
  int64_t *to = problem->fields[XC_SUM_XC].data;
  for (int64_t i = 0; i < p->n_spin * p->n; i++)
    for (int64_t j = 0; j < p->n; j++) {
      const double row = (double)(i % p->n), column = (double)j;
      *to++ = llround(ldexp(0.1 * sin((row + 1) * (column + 1) + phase + 1), 52));
    }
}

static void make(const char *text, int slots, made *m) {
  const bool fitted = strstr(text, "fitted") != NULL;
  *m = (made){0};
  must(tsl_parallel_open(slots), "threads");
  must(tsl_deck_parse(text, strlen(text), "t.yaml", NULL, 0, &m->deck), text);
  m->problem.family = &tsl_family_xc;
  must(tsl_family_xc.create(m->deck, &m->problem), text);
  fill_missing(&m->problem);
  for (int k = 0, phase = 0; k < 3; k++) {
    bool more = false;
    fill_sums(&m->problem, phase);
    for (int half = 0; half <= fitted; half++)
      must(tsl_family_xc.advance(&m->problem, phase++, &more), "advance");
    m->energies[k] = xc_own_of(&m->problem)->scf.energies.total;
    m->commutators[k] = xc_own_of(&m->problem)->scf.commutator;
    check(more && m->commutators[k] > 1e-3, "iterations", "they end", slots);
  }
  tsl_parallel_close();
}

static void release(made *m) {
  tsl_family_xc.destroy(&m->problem);
  tsl_problem_clear(&m->problem);
  tsl_deck_destroy(&m->deck);
}

static size_t bytes_of(const tsl_field *field) {
  return (size_t)tsl_field_count(field) * tsl_type_bytes((tsl_type)field->type);
}

static void compare(const char *name, int slots, const made *one, const made *more) {
  const xc_own *a = xc_own_of(&one->problem), *b = xc_own_of(&more->problem);
  const size_t fit = (size_t)(a->fitting.n * a->fitting.n) * sizeof *a->metric;
  for (int f = 0; f < one->problem.n_fields; f++) {
    const tsl_field *x = &one->problem.fields[f], *y = &more->problem.fields[f];
    check(bytes_of(x) == bytes_of(y) && memcmp(x->data, y->data, bytes_of(x)) == 0, name, x->name,
          slots);
  }
  check(fit == 0 || memcmp(a->metric, b->metric, fit) == 0, name, "the metric", slots);
  check(memcmp(one->energies, more->energies, sizeof one->energies) == 0, name, "energies", slots);
  check(memcmp(one->commutators, more->commutators, sizeof one->commutators) == 0, name,
        "commutators", slots);
  check(a->unconverged == b->unconverged, name, "the atoms", slots);
}

static void threads_case(const char *name, const char *text) {
  made one;
  make(text, 1, &one);
  for (int slots = 2; slots <= 5; slots += 3) {
    made more;
    make(text, slots, &more);
    compare(name, slots, &one, &more);
    release(&more);
  }
  const xc_params *p = xc_params_of(&one.problem);
  printf("%s: %lld functions, %lld points, %lld pairs\n", name, (long long)p->n,
         (long long)p->n_points, (long long)p->n_pairs);
  release(&one);
}

int main(int argc, char **argv) {
  static const char head[] = "family: xc\nxc:\n reproducible: yes\n grid: {preset: coarse}\n";
  char text[2048];
  if (argc != 2) {
    fprintf(stderr, "usage: test_xc_cpu_threads FOLDER\n");
    return 2;
  }
  (void)snprintf(text, sizeof text,
                 "%s molecule: {xyz: %s/vitamin_c.xyz}\n basis: def2-TZVP\n functional: pbe\n"
                 " coulomb: fitted\n",
                 head, argv[1]);
  threads_case("vitamin C", text);
  (void)snprintf(text, sizeof text,
                 "%s molecule: {atoms: \"Cl 0 0 0; O 0 0 1.57\"}\n basis: def2-TZVP\n"
                 " functional: pbe0\n groups: {kind: cubes}\n scf: {damping: 0.5, level_shift: 0.3}"
                 "\n",
                 head);
  threads_case("chlorine monoxide, cubes", text);
  (void)snprintf(
      text, sizeof text,
      "%s molecule: {atoms: \"N 0 0 0; O 0 0 2.2\", multiplicity: 2}\n basis: def2-TZVP\n"
      " functional: pbe0\n guess: {spins: 1 3; 2 -2}\n smearing: {kind: fermi}\n",
      head);
  threads_case("nitrogen monoxide, spins of atoms, smeared", text);
  printf("%ld checks, %ld failures\n", n_checks, n_failures);
  return n_failures > 0 ? 1 : 0;
}
