/* Lennard-Jones between atoms and point charges: parameters, energy, forces. */
#include "xc_lennard_jones.h"
#include "xc_words.h"

#include <math.h>
#include <string.h>

const char *const xc_mixing_words[] = {"lorentz-berthelot", "geometric", NULL};

/* Columns of a file of point charges: x y z q, and with parameters epsilon sigma. */
enum { PLAIN = 4, WITH = 6 };

/* 1 kcal/mol in hartree: 4184 J over Avogadro's number and the hartree in J (CODATA 2018). */
static const double kcal = 4184 / 6.02214076e23 / 4.3597447222071e-18;

/* A site from kcal/mol and Angstrom; false when it is none. */
static bool set_site(double epsilon, double sigma, xc_lj_site *site) {
  *site = (xc_lj_site){epsilon * kcal, sigma / XC_BOHR};
  return epsilon >= 0 && epsilon <= 1e3 && sigma >= 0 && sigma <= 1e3;
}

/* ------------------------------------------------------------------- reading */

static tsl_err read_atoms(const char *text, const xc_molecule *m, xc_lj_site *sites) {
  tsl_err err = TSL_OK;
  char *copy = NULL;
  bool *known = NULL, *named = NULL;
  int64_t found = 0;
  table_lines lines;
  xc_words words;
  const int64_t bytes = (int64_t)strlen(text);
  TSL_TRY(tsl_alloc(bytes + 1, 1, "parameters of atoms", (void **)&copy));
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *known, "parameters of atoms", (void **)&known));
  TSL_TRY(tsl_alloc(m->n_atoms, sizeof *named, "parameters of atoms", (void **)&named));
  for (int64_t k = 0; k <= bytes; k++) copy[k] = (char)(text[k] == ';' ? '\n' : text[k]);
  table_lines_open("atoms", copy, bytes, '\0', &lines);
  while (xc_words_next(&lines, &words)) {
    double epsilon = 0, sigma = 0;
    xc_lj_site site;
    if (words.n != 3)
      TSL_FAIL(TSL_ERR_INPUT, "atoms:%lld: %lld words where 'atom epsilon sigma' is expected",
               (long long)lines.number, (long long)words.n);
    TSL_TRY(xc_word_real(&words, 1, &epsilon));
    TSL_TRY(xc_word_real(&words, 2, &sigma));
    if (!set_site(epsilon, sigma, &site))
      TSL_FAIL(TSL_ERR_INPUT, "atoms:%lld: epsilon %g and sigma %g; 0 to 1000 are allowed",
               (long long)lines.number, epsilon, sigma);
    TSL_TRY(xc_word_atoms(&words, 0, m, named, &found));
    for (int64_t k = 0; k < m->n_atoms; k++)
      if (named[k]) sites[k] = site, known[k] = true;
  }
  for (int64_t k = 0; k < m->n_atoms; k++)
    if (!known[k] && !m->atoms[k].ghost)
      TSL_FAIL(TSL_ERR_INPUT, "atom %lld (%s) has no parameters; '%s 0 0' gives it none",
               (long long)k + 1, xc_symbol(m->atoms[k].z), xc_symbol(m->atoms[k].z));
done:
  TSL_FREE_ALL(copy, known, named);
  return err;
}

static tsl_err read_charges(const char *file, const xc_molecule *m, bool asked, xc_lj_site *sites) {
  tsl_err err = TSL_OK;
  table_source source = {.path = file, .comment = '#', .extra = -1};
  table_rows rows = {0};
  TSL_TRY(table_read_format(&source, &source.format));
  TSL_TRY(table_read(&source, &rows));
  if (rows.columns != (asked ? WITH : PLAIN) || rows.n != m->n_charges)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld columns; %s", file, (long long)rows.columns,
             asked ? "with lennard_jones 'x y z q epsilon sigma' are expected"
                   : "epsilon and sigma need lennard_jones: {atoms: ...} for the atoms' own");
  for (int64_t k = 0; asked && k < rows.n; k++) {
    const double *row = rows.values + k * rows.columns + PLAIN;
    if (!set_site(row[0], row[1], &sites[k]))
      TSL_FAIL(TSL_ERR_INPUT,
               "%s: point charge %lld: epsilon %g and sigma %g; 0 to 1000 are allowed", file,
               (long long)k + 1, row[0], row[1]);
  }
done:
  table_rows_clear(&rows);
  return err;
}

tsl_err xc_lj_read(const char *text, const char *file, const xc_molecule *m, xc_lj *lj) {
  tsl_err err = TSL_OK;
  if (text == NULL) return read_charges(file, m, false, NULL);
  TSL_TRY(
      tsl_alloc(m->n_atoms + m->n_charges, sizeof *lj->sites, "parameters", (void **)&lj->sites));
  TSL_TRY(read_atoms(text, m, lj->sites));
  TSL_TRY(read_charges(file, m, true, lj->sites + m->n_atoms));
done:
  return err;
}

void xc_lj_clear(xc_lj *lj) {
  tsl_free(lj->sites);
  lj->sites = NULL;
}

/* -------------------------------------------------------------------- values */

/* Energy of a pair at the distance r, and its derivative over r. */
static double pair(const xc_lj *lj, int64_t a, int64_t b, double r, double *slope_over_r) {
  const xc_lj_site *p = &lj->sites[a], *q = &lj->sites[b];
  const double epsilon = sqrt(p->epsilon * q->epsilon);
  const double sigma =
      lj->mixing == XC_GEOMETRIC ? sqrt(p->sigma * q->sigma) : 0.5 * (p->sigma + q->sigma);
  const double ratio = sigma / r, six = ratio * ratio * ratio * ratio * ratio * ratio;
  *slope_over_r = -24 * epsilon * (2 * six * six - six) / (r * r);
  return 4 * epsilon * (six * six - six);
}

/* Energy, and its derivatives when they are asked for. */
static double sum_pairs(const xc_lj *lj, const xc_molecule *m, double (*gradient)[3]) {
  double energy = 0, slope = 0;
  for (int64_t a = 0; a < m->n_atoms && lj->sites != NULL; a++)
    for (int64_t b = 0; b < m->n_charges; b++) {
      const double *at = m->atoms[a].at, *to = m->charges[b].at;
      const double d[3] = {at[0] - to[0], at[1] - to[1], at[2] - to[2]};
      energy += pair(lj, a, m->n_atoms + b, hypot(hypot(d[0], d[1]), d[2]), &slope);
      for (int x = 0; x < 3 && gradient != NULL; x++) {
        gradient[a][x] += slope * d[x];
        gradient[m->n_atoms + b][x] -= slope * d[x];
      }
    }
  return energy;
}

double xc_lj_energy(const xc_lj *lj, const xc_molecule *m) {
  return sum_pairs(lj, m, NULL);
}

void xc_lj_gradient(const xc_lj *lj, const xc_molecule *m, double (*gradient)[3]) {
  (void)sum_pairs(lj, m, gradient);
}
