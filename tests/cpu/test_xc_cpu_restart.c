/**
 * @file test_xc_cpu_restart.c
 * A self-consistent field that stops after any phase and goes on from its STATE fields alone, in a
 * new problem, ends at the same energy after as many iterations in all, with the same history (bit
 * by bit where sums are reproducible) and gradient, also when it stops between the field's end and
 * the gradient's; so does one that had too few iterations; a density that does not fit is refused.
 */
#include "cpu.h"
#include "must.h"
#include "xc_family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long n_checks, n_failures;

static void check(bool good, const char *what, const char *name, double value) {
  n_checks++;
  if (good) return;
  n_failures++;
  printf("FAIL %s, %s: %.12g\n", name, what, value);
}

/* ------------------------------------------------------------------ problems */

/** A problem with a worker of this socket and its units. */
typedef struct made {
  tsl_deck *deck;
  tsl_problem problem;
  const tsl_backend *backend;
  tsl_worker *worker;
  tsl_units units;
  tsl_part *parts;
} made;

static void make(const char *section, made *m) {
  char text[2048];
  tsl_device device = {0};
  const tsl_limits limits = {
      .slab_bytes = 1 << 30, .device_bytes = 1 << 30, .target_units = 64, .n_ranks = 1};
  const int n = snprintf(text, sizeof text, "family: xc\nxc:\n%s", section);
  *m = (made){0};
  must(tsl_deck_parse(text, (size_t)n, "t.yaml", NULL, 0, &m->deck), section);
  m->problem.family = &tsl_family_xc;
  must(tsl_family_xc.create(m->deck, &m->problem), section);
  for (int f = 0; f < m->problem.n_fields; f++) {
    tsl_field *field = &m->problem.fields[f];
    if (field->data == NULL)
      must(tsl_alloc(tsl_field_count(field), tsl_type_bytes((tsl_type)field->type), field->name,
                     &field->data),
           field->name);
  }
  must(tsl_family_xc.units(&m->problem, &limits, &m->units), "units");
  must(tsl_alloc(m->units.n, sizeof *m->parts, "parts", (void **)&m->parts), "parts");
  must(tsl_platform_cpu.describe(0, &device), "the socket");
  device.threads = 2;
  m->backend = tsl_backend_find(&tsl_platform_cpu, "xc");
  must(m->backend->open(&m->problem, &device, &m->worker), "open");
}

static void release(made *m) {
  m->backend->close(&m->worker);
  tsl_family_xc.destroy(&m->problem);
  tsl_problem_clear(&m->problem);
  tsl_deck_destroy(&m->deck);
  tsl_free(m->units.list);
  tsl_free(m->parts);
}

/** Phases from first until the end or, if before that, stop; the phase after the last. */
static int go(made *m, int first, int stop, bool *more) {
  *more = true;
  int phase = first;
  for (; *more && phase != stop; phase++) {
    must(m->backend->begin(m->worker, phase), "begin");
    must(m->backend->run(m->worker, m->units.list, m->units.n, m->parts), "run");
    must(m->backend->collect(m->worker, &m->problem), "collect");
    must(tsl_family_xc.advance(&m->problem, phase, more), "advance");
  }
  return phase;
}

static void copy_state(const tsl_problem *from, tsl_problem *to) {
  for (int f = 0; f < from->n_fields; f++) {
    const tsl_field *field = &from->fields[f];
    if (!(field->role & TSL_STATE)) continue;
    to->fields[f].shape[0] = field->shape[0];
    memcpy(to->fields[f].data, field->data,
           (size_t)tsl_field_count(field) * tsl_type_bytes((tsl_type)field->type));
  }
}

/* --------------------------------------------------------------------- cases */

static const char water[] = " molecule: {atoms: \"O 0 0 0.1174; H 0.757 0 -0.4696; H -0.757 0 "
                            "-0.4696\"}\n grid: {preset: coarse}\n scf: {energy: 1e-9, "
                            "commutator: 1e-6}\n";
static const char oxygen[] = " molecule: {atoms: \"O 0 0 0; O 0 0 1.2\", multiplicity: 3}\n grid: "
                             "{preset: coarse}\n scf: {energy: 1e-9, commutator: 1e-6}\n";
static const char carbon[] =
    " molecule: {atoms: \"C 0 0 0; C 0 0 1.24\"}\n grid: {preset: coarse}\n "
    "scf: {energy: 1e-9, commutator: 1e-6, damping: 0.2}\n";
static const char nitrogen[] = " molecule: {atoms: \"N 0 0 0; N 0 0 2.2\"}\n grid: {preset: "
                               "coarse}\n scf: {energy: 1e-9, commutator: 1e-6, diis: 4}\n";

static const struct {
  const char *name, *molecule, *rest;
} cases[] = {
    {"exact Coulomb", water, " basis: def2-SVP\n functional: pbe\n"},
    {"a hybrid of two spins", oxygen, " basis: STO-3G\n functional: b3lyp\n"},
    {"fitted Coulomb", water, " basis: def2-SVP\n functional: pbe\n coulomb: fitted\n"},
    {"fitted Coulomb, a hybrid", oxygen, " basis: STO-3G\n functional: pbe0\n coulomb: fitted\n"},
    {"reproducible, exact", oxygen,
     " basis: STO-3G\n functional: b3lyp\n reproducible: yes\n threshold: 1e-9\n"},
    {"reproducible, fitted", oxygen,
     " basis: STO-3G\n functional: pbe0\n coulomb: fitted\n reproducible: yes\n"},
    {"reproducible, smeared", carbon,
     " basis: STO-3G\n functional: pbe\n reproducible: yes\n smearing: {kind: fermi}\n"},
    {"reproducible, spins of atoms", nitrogen,
     " basis: STO-3G\n functional: pbe0\n reproducible: yes\n guess: {spins: 1 3; 2 -3}\n"},
    {"a gradient", water, " task: gradient\n basis: def2-SVP\n functional: pbe0\n"},
    {"a gradient, fitted", oxygen,
     " task: gradient\n basis: STO-3G\n functional: pbe\n coulomb: fitted\n"},
    {"a gradient, fitted exchange", oxygen,
     " task: gradient\n basis: STO-3G\n functional: pbe0\n coulomb: fitted\n exchange: "
     "fitted\n"},
    {"a gradient, reproducible", oxygen,
     " task: gradient\n basis: STO-3G\n functional: pbe0\n coulomb: fitted\n reproducible: "
     "yes\n"},
};

/** The orthonormal basis as other threads may make it: one function has the other sign. */
static void turn_basis(tsl_problem *problem) {
  const xc_scf *scf = &xc_own_of(problem)->scf;
  for (int64_t k = 0; k < scf->n; k++) scf->half[k] = -scf->half[k];
}

enum { LINES = 100, ATOMS = 3 };

/** How an undisturbed field went. */
typedef struct course {
  double energy, entropy;
  int iterations;
  double history[LINES][XC_N_HISTORY];
  double gradient[ATOMS][3]; /**< of none: 0 */
} course;

static course course_of(const made *m) {
  const xc_own *own = xc_own_of(&m->problem);
  course c = {own->scf.energies.total, own->scf.entropy, own->scf.iteration, {{0}}, {{0}}};
  memcpy(c.history, own->history, (size_t)own->n_history * sizeof *c.history);
  if (own->gradient_done)
    memcpy(c.gradient, m->problem.fields[XC_SUM_GRADIENT].data,
           (size_t)own->molecule.n_atoms * sizeof *c.gradient);
  return c;
}

static void check_gradient(const char *name, const made *m, int stop, const course *truth) {
  const course now = course_of(m);
  const double off = xc_params_of(&m->problem)->reproducible ? 0 : 1e-8;
  double largest = 0;
  check(xc_own_of(&m->problem)->gradient_done == (xc_params_of(&m->problem)->gradient != 0),
        "a gradient that was not asked for, or none", name, stop);
  for (int k = 0; k < 3 * ATOMS; k++) {
    largest = fmax(largest, fabs(now.gradient[k / 3][k % 3]));
    check(fabs(now.gradient[k / 3][k % 3] - truth->gradient[k / 3][k % 3]) <= off,
          "another gradient after phase", name, stop);
  }
  check(!xc_params_of(&m->problem)->gradient || largest > 1e-3, "no gradient", name, largest);
}

static void check_end(const char *name, const made *m, int stop, const course *truth) {
  const xc_own *own = xc_own_of(&m->problem);
  const double off = xc_params_of(&m->problem)->reproducible ? 0 : 1e-9;
  check(own->scf.state == XC_SCF_CONVERGED, "not converged", name, stop);
  check(fabs(own->scf.energies.total - truth->energy) <= off, "another energy after phase", name,
        stop);
  check(own->scf.iteration == truth->iterations, "other iterations in all", name,
        own->scf.iteration - truth->iterations);
  check(own->n_history == truth->iterations, "a history of other length", name,
        (double)own->n_history);
  check(fabs(own->scf.entropy - truth->entropy) <= off, "another entropy after phase", name, stop);
  check(off > 0 || memcmp(own->history, truth->history,
                          (size_t)own->n_history * sizeof *truth->history) == 0,
        "other bits in the history after phase", name, stop);
  for (int64_t k = 0; k < own->n_history; k++)
    check(own->history[k][0] == (double)(k + 1), "a line of history is missing", name, (double)k);
  check_gradient(name, m, stop, truth);
}

static void restart_after(const char *name, const char *section, int stop, const course *truth) {
  made first, second;
  bool more = false;
  make(section, &first);
  const int phase = go(&first, 0, stop, &more);
  check(more, "ended too early", name, stop);
  make(section, &second);
  copy_state(&first.problem, &second.problem);
  release(&first);
  turn_basis(&second.problem);
  must(tsl_family_xc.restore(&second.problem, phase), "restore");
  (void)go(&second, phase, -1, &more);
  check_end(name, &second, stop, truth);
  release(&second);
}

/** Too few iterations; from what is left, with more of them. */
static void more_iterations(const char *name, const char *section, const course *truth) {
  char few[1024];
  made first, second;
  bool more = false;
  const char *map = strstr(section, "scf: {") + strlen("scf: {");
  (void)snprintf(few, sizeof few, "%.*siterations: 3, %s", (int)(map - section), section, map);
  make(few, &first);
  (void)go(&first, 0, -1, &more);
  tsl_summary summary = {.valid = true};
  must(tsl_family_xc.summary(&first.problem, &summary), "summary");
  check(!summary.valid && summary.unfinished, "no word that it can go on", name, 0);
  make(section, &second);
  copy_state(&first.problem, &second.problem);
  release(&first);
  must(tsl_family_xc.restore(&second.problem, summary.phase), "restore");
  (void)go(&second, summary.phase, -1, &more);
  check_end(name, &second, -1, truth);
  release(&second);
}

static void restart_case(const char *name, const char *molecule, const char *rest) {
  char section[1024];
  made whole;
  bool more = false;
  (void)snprintf(section, sizeof section, "%s%s", molecule, rest);
  make(section, &whole);
  const int phases = go(&whole, 0, -1, &more);
  const course truth = course_of(&whole);
  release(&whole);
  more_iterations(name, section, &truth);
  for (int stop = 1; stop < phases; stop++)
    if (stop < 8 || (stop >= phases - 2 && strstr(section, "task: gradient") != NULL))
      restart_after(name, section, stop, &truth);
}

/** The state of one problem in another. */
static void refused_case(const char *from, const char *to, const char *word) {
  made one, other;
  make(from, &one);
  make(to, &other);
  if (xc_params_of(&one.problem)->n_spin * xc_params_of(&one.problem)->n <=
      xc_params_of(&other.problem)->n_spin * xc_params_of(&other.problem)->n)
    copy_state(&one.problem, &other.problem);
  check(tsl_family_xc.restore(&other.problem, 1) == TSL_ERR_INPUT, "not refused", word, 0);
  check(strstr(tsl_err_message(), word) != NULL, tsl_err_message(), word, 0);
  release(&one);
  release(&other);
}

static void refused_cases(void) {
  static const char moved[] = " molecule: {atoms: \"O 0 0 0.1175; H 0.757 0 -0.4696; H -0.757 0 "
                              "-0.4696\"}\n grid: {preset: coarse}\n";
  char one[1024], other[1024];
  made bad;
  (void)snprintf(one, sizeof one, "%s basis: STO-3G\n functional: pbe\n", water);
  (void)snprintf(other, sizeof other, "%s basis: STO-3G\n functional: pbe\n", moved);
  refused_case(one, other, "another molecule");
  (void)snprintf(other, sizeof other, "%s basis: def2-SVP\n functional: pbe\n", water);
  refused_case(one, other, "functions");
  (void)snprintf(other, sizeof other,
                 "%s basis: STO-3G\n functional: pbe\n reference: unrestricted\n", water);
  refused_case(one, other, "spins");
  make(one, &bad);
  xc_own_of(&bad.problem)->scf.iteration = 100;
  xc_state_save(&bad.problem, true);
  check(tsl_family_xc.restore(&bad.problem, 0) == TSL_ERR_INPUT, "not refused", "iterations", 0);
  check(strstr(tsl_err_message(), "ask for more") != NULL, tsl_err_message(), "iterations", 0);
  release(&bad);
  make(one, &bad);
  bad.problem.fields[XC_STATE_MARK].shape[0] -= 1;
  check(tsl_family_xc.restore(&bad.problem, 0) == TSL_ERR_INPUT, "not refused", "a number less", 0);
  release(&bad);
  make(one, &bad);
  ((double *)bad.problem.fields[XC_STATE_DENSITY].data)[0] = NAN;
  check(tsl_family_xc.restore(&bad.problem, 0) == TSL_ERR_INPUT, "not refused", "NaN", 0);
  release(&bad);
}

int main(void) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    restart_case(cases[k].name, cases[k].molecule, cases[k].rest);
  refused_cases();
  printf("%ld checks, %ld failures\n", n_checks, n_failures);
  return n_failures != 0;
}
