/* What people see: the groups before, the energies after. */
#include "xc_talk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Electrons integrated may differ from those there are by this part; more is a grid too coarse. */
static const double ELECTRONS = 1e-3;

/** A line of its own, where cubes are asked for. @return characters */
static int describe_cubes(const xc_own *own, char *text, size_t size) {
  char line[XC_INPUT];
  xc_cubes_text(&own->cubes, line, sizeof line);
  if (line[0] == '\0' || strlen(line) + 2 > size) return 0;
  return snprintf(text, size, "%s\n", line);
}

void xc_describe(const tsl_problem *problem, char *text, size_t size) {
  const xc_params *p = xc_params_of(problem);
  const xc_own *own = xc_own_of(problem);
  char *groups = NULL, parts[XC_TEXT];
  if (own == NULL) { /* of a whole series */
    xc_series_describe(xc_talk_of(problem), text, size);
    return;
  }
  int used = snprintf(
      text, size,
      "%s\n%s = %s%s%s; %lld atoms, %lld functions, %s, %s Coulomb%s; %lld points of %lld in "
      "%lld groups\n",
      own->input, p->functional.name, xc_functional_text(&p->functional, parts),
      own->dispersion.text[0] != '\0' ? ", with " : "", own->dispersion.text,
      (long long)own->molecule.n_atoms, (long long)p->n,
      p->n_spin == 1 ? "restricted" : "unrestricted", p->fitted ? "fitted" : "exact",
      p->fitted_exchange ? " and exchange" : "", (long long)xc_local_points(p),
      (long long)own->n_made, (long long)xc_local_groups(p));
  if (used < 0 || (size_t)used >= size) return;
  if (p->functional.nonlocal.b != 0)
    used += snprintf(text + used, size - (size_t)used,
                     "non-local correlation: %lld points in %lld groups, each meets all\n",
                     (long long)p->n_nonlocal_points, (long long)p->n_nonlocal_groups);
  if (used < 0 || (size_t)used >= size) return;
  used += describe_cubes(own, text + used, size - (size_t)used);
  xc_groups local = own->groups;
  local.n = xc_local_groups(p);
  if (xc_groups_text(&local, &own->cost, 8, &groups) == TSL_OK)
    (void)snprintf(text + used, size - (size_t)used, "\n%s", groups);
  tsl_free(groups);
}

/* ------------------------------------------------------------------ summary */

static void add_energies(const xc_own *own, bool nonlocal, tsl_summary *summary) {
  const xc_energies *e = &own->scf.energies;
  tsl_summary_add(summary, "total energy", e->total, "hartree");
  tsl_summary_add(summary, "nuclear repulsion", e->nuclei, "hartree");
  if (own->lennard_jones.sites != NULL)
    tsl_summary_add(summary, "Lennard-Jones", e->lennard_jones, "hartree");
  tsl_summary_add(summary, "kinetic energy", e->kinetic, "hartree");
  tsl_summary_add(summary, "attraction by charges", e->attraction, "hartree");
  tsl_summary_add(summary, "Coulomb energy", e->coulomb, "hartree");
  tsl_summary_add(summary, "exact exchange", e->exchange, "hartree");
  tsl_summary_add(summary, "exchange-correlation", e->xc, "hartree");
  if (nonlocal) tsl_summary_add(summary, "of it non-local", own->nonlocal, "hartree");
  if (own->dispersion.kind != XC_DISPERSION_NONE)
    tsl_summary_add(summary, "dispersion", e->dispersion, "hartree");
}

/** Energies of smeared occupations: what is made lowest, and what is left without a width. */
static void add_smearing(const xc_scf *scf, tsl_summary *summary) {
  static const char *const names[2] = {"Fermi level", "Fermi level of beta"};
  const double heat = scf->options.width * scf->entropy;
  if (scf->options.smearing == XC_SMEARING_NONE) return;
  tsl_summary_add(summary, "entropy", scf->entropy, "1");
  tsl_summary_add(summary, "free energy", scf->energies.total - heat, "hartree");
  tsl_summary_add(summary, "energy at no width", scf->energies.total - 0.5 * heat, "hartree");
  for (int t = 0; t < scf->n_spin; t++)
    tsl_summary_add(summary, names[t], scf->fermi[t], "hartree");
}

static void add_orbitals(const xc_scf *scf, tsl_summary *summary) {
  double highest = 0, lowest = 0;
  xc_scf_frontier(scf, &highest, &lowest);
  if (isfinite(highest)) tsl_summary_add(summary, "highest occupied", highest, "hartree");
  if (isfinite(lowest)) tsl_summary_add(summary, "lowest empty", lowest, "hartree");
  if (isfinite(highest) && isfinite(lowest))
    tsl_summary_add(summary, "gap", lowest - highest, "hartree");
}

static void add_dipole(const xc_own *own, tsl_summary *summary) {
  static const char *const names[3] = {"dipole x", "dipole y", "dipole z"};
  for (int x = 0; x < 3; x++) tsl_summary_add(summary, names[x], own->dipole[x], "e bohr");
}

/** What people look at first; the sum is 0 but for the grid's error, and with point charges. */
static void add_gradient(const xc_own *own, tsl_summary *summary) {
  static const char *const names[3] = {"sum of forces x", "sum of forces y", "sum of forces z"};
  double square = 0, largest = 0, sum[3] = {0};
  summary->other_work = own->gradient_done;
  if (!own->gradient_done) return;
  for (int64_t a = 0; a < own->molecule.n_atoms; a++)
    for (int x = 0; x < 3; x++) {
      const double g = own->gradient[a][x];
      square += g * g, largest = fmax(largest, fabs(g)), sum[x] -= g;
    }
  tsl_summary_add(summary, "gradient norm", sqrt(square), "hartree/bohr");
  tsl_summary_add(summary, "largest gradient component", largest, "hartree/bohr");
  for (int x = 0; x < 3; x++) tsl_summary_add(summary, names[x], sum[x], "hartree/bohr");
}

static tsl_err add_spin(const xc_scf *scf, tsl_summary *summary) {
  tsl_err err = TSL_OK;
  double square = 0;
  if (scf->n_spin == 1) goto done;
  TSL_TRY(xc_scf_spin_square(scf, &square));
  tsl_summary_add(summary, "spin square", square, "1");
done:
  return err;
}

static void add_stability(const xc_stability *s, tsl_summary *summary) {
  if (!s->known) return;
  if (isfinite(s->lowest))
    tsl_summary_add(summary, "lowest second derivative", s->lowest, "hartree");
  tsl_summary_add(summary, "its residual", s->residual, "hartree");
  tsl_summary_add(summary, "Fock matrices for it", s->builds, "1");
  tsl_summary_add(summary, "saddle points left", s->follows, "1");
}

/** Why the second derivatives say that this is no minimum, or nothing; into reason. */
static void judge_stability(const xc_stability *s, tsl_summary *summary) {
  if (xc_stability_unstable(s))
    (void)snprintf(summary->reason, sizeof summary->reason,
                   "the field is a saddle point: its lowest second derivative is %.5f hartree; %s",
                   s->lowest,
                   s->follows > 0 ? "so were those that it came from: try another guess"
                                  : "xc.scf.stability: follow goes downhill from there");
  else if (s->known && !s->settled)
    (void)snprintf(summary->reason, sizeof summary->reason,
                   "whether the field is a minimum is not known: after %d Fock matrices its lowest "
                   "second derivative is %.5f hartree, give or take %.1e",
                   (int)s->builds, s->lowest, s->residual);
}

static void xc_result_judge(const xc_own *own, double electrons, tsl_summary *summary) {
  const xc_scf *scf = &own->scf;
  const double there = (double)(scf->electrons[0] + scf->electrons[1]);
  if (scf->state != XC_SCF_CONVERGED)
    (void)snprintf(summary->reason, sizeof summary->reason,
                   "not converged in %d iterations: the energy still changes by %.2e hartree, the "
                   "commutator is %.2e; %s",
                   (int)scf->iteration, scf->change, scf->commutator, xc_advice(own));
  else if (!(fabs(electrons - there) <= ELECTRONS * there))
    (void)snprintf(summary->reason, sizeof summary->reason,
                   "the grid holds %.6f electrons where there are %.0f: it is too coarse",
                   electrons, there);
  else
    judge_stability(&own->stability, summary);
  summary->valid = summary->reason[0] == '\0';
}

tsl_err xc_summary(const tsl_problem *problem, tsl_summary *summary) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  const xc_own *own = xc_own_of(problem);
  const xc_scf *scf = &own->scf;
  const double electrons = own->integrals[XC_INTEGRAL_ALPHA] + own->integrals[XC_INTEGRAL_BETA];
  summary->reason[0] = '\0';
  add_energies(own, p->functional.nonlocal.b != 0, summary);
  tsl_summary_add(summary, "electrons integrated", electrons, "1");
  tsl_summary_add(summary, "electrons", (double)(scf->electrons[0] + scf->electrons[1]), "1");
  add_smearing(scf, summary);
  add_orbitals(scf, summary);
  add_dipole(own, summary);
  TSL_TRY(add_spin(scf, summary));
  add_gradient(own, summary);
  if (own->cubes.electrons >= 0)
    tsl_summary_add(summary, "electrons of density cube", own->cubes.electrons, "1");
  tsl_summary_add(summary, "iterations", scf->iteration, "1");
  tsl_summary_add(summary, "last change of energy", scf->change, "hartree");
  tsl_summary_add(summary, "commutator", scf->commutator, "hartree");
  add_stability(&own->stability, summary);
  tsl_summary_add(summary, "functions", (double)p->n, "1");
  tsl_summary_add(summary, "independent functions", (double)scf->m, "1");
  tsl_summary_add(summary, "smallest eigenvalue of overlap", scf->smallest_overlap, "1");
  tsl_summary_add(summary, "grid points", (double)xc_local_points(p), "1");
  tsl_summary_add(summary, "grid points made", (double)own->n_made, "1");
  tsl_summary_add(summary, "groups", (double)xc_local_groups(p), "1");
  if (p->functional.nonlocal.b != 0)
    tsl_summary_add(summary, "non-local points", (double)p->n_nonlocal_points, "1");
  tsl_summary_add(summary, "pairs of shells", (double)p->n_pairs, "1");
  tsl_summary_add(summary, "elements with unsettled guess", (double)own->unconverged, "1");
  xc_result_judge(own, electrons, summary);
  summary->unfinished = scf->state == XC_SCF_STOPPED;
  summary->phase = xc_state_phase(problem);
done:
  return err;
}
