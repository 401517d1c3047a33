/* What may help a field that did not converge, by its last iterations and what it has not yet. */
#include "xc_family.h"

#include <math.h>

/* Iterations that are looked at; fewer say nothing. */
enum { LAST = 10 };
/* Levels that come closer may change places from iteration to iteration, hartree. */
static const double close_levels = 0.02;

/* The geometric means of the commutators of the last iterations and of those before them. */
static bool still_falls(const xc_own *own) {
  const int64_t n = own->n_history;
  double sum = 0;
  if (n < 2 * LAST) return true;
  for (int64_t k = n - 2 * LAST; k < n; k++)
    sum += (k < n - LAST ? 1 : -1) * log10(own->history[k][3]);
  return sum / LAST > 0.5;
}

const char *xc_advice(const xc_own *own) {
  const xc_scf *scf = &own->scf;
  const xc_scf_options *o = &scf->options;
  double highest = 0, lowest = 0;
  xc_scf_frontier(scf, &highest, &lowest);
  if (still_falls(own)) return "it may need no more than xc.scf.iterations";
  if (o->smearing == XC_SMEARING_NONE && lowest - highest < close_levels)
    return "the gap is small: xc.smearing {kind: fermi, width: 0.01} shares electrons among such "
           "levels";
  if (o->damping == 0 && o->smearing == XC_SMEARING_NONE && o->diis > 0 && !o->adiis)
    return "try xc.scf.accelerator adiis+diis";
  if (o->damping == 0) return "try xc.scf.damping 0.7";
  if (scf->commutator <= o->damping_until)
    return "damping has ended: try a smaller xc.scf.damping_until";
  if (o->smearing == XC_SMEARING_NONE && o->level_shift == 0) return "try xc.scf.level_shift 0.3";
  return "try another multiplicity, or xc.guess.file from a smaller basis";
}
