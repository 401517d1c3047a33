/**
 * @file xc_molden.c
 * Orbitals in the format of the viewer Molden: atoms, shells, orbitals with energies, spins and
 * occupations. Source: G. Schaftenaar, https://www.theochem.ru.nl/molden/molden_format.html.
 *
 * Functions there: p as x y z; spherical d, f and g as 0 +1 -1 +2 -2 ...; Cartesian ones in an
 * order of their own, each of norm 1; contraction coefficients of normalised primitives.
 */
#include "xc_family.h"

#include <math.h>

/** Powers of the Cartesian functions of Molden, by l. */
static const char *const cartesians[XC_MAX_L + 1][15] = {
    {"000"},
    {"100", "010", "001"},
    {"200", "020", "002", "110", "101", "011"},
    {"300", "030", "003", "120", "210", "201", "102", "012", "021", "111"},
    {"400", "040", "004", "310", "301", "130", "031", "103", "013", "220", "202", "022", "211",
     "121", "112"}};

static double odd_factorial(int n) { /* (2n - 1)!! */
  double product = 1;
  for (int k = 2 * n - 1; k > 1; k -= 2) product *= k;
  return product;
}

/** Norm of the primitive x^l exp(-a r^2). */
static double norm_of(int l, double a) {
  return pow(2 * a / M_PI, 0.75) * pow(4 * a, 0.5 * l) / sqrt(odd_factorial(l));
}

/** A function of Molden's k-th place in a shell: which of ours, and what one is of the other. */
typedef struct place {
  int at;
  double factor;
} place;

static place cartesian_place(int l, int k) {
  const char *power = cartesians[l][k];
  const int x = power[0] - '0', y = power[1] - '0', z = power[2] - '0';
  const double norm = odd_factorial(x) * odd_factorial(y) * odd_factorial(z) / odd_factorial(l);
  return (place){(y + z) * (y + z + 1) / 2 + z, sqrt(norm)};
}

static place place_of(const xc_shell *shell, int k) {
  static const int p[3] = {2, 0, 1}; /* x y z among y z x */
  const int l = shell->l;
  if (!shell->spherical) return cartesian_place(l, k);
  if (l == 1) return (place){p[k], 1};
  return (place){l + (k % 2 == 1 ? (k + 1) / 2 : -(k / 2)), 1};
}

/* ---------------------------------------------------------------- sections */

static void write_atoms(const xc_molecule *m, FILE *file) {
  (void)fprintf(file, "[Molden Format]\n[Title]\nmade by tesela\n[Atoms] AU\n");
  for (int64_t k = 0; k < m->n_atoms; k++) {
    const xc_atom *a = &m->atoms[k];
    (void)fprintf(file, "%-2s %6lld %3d %22.15g %22.15g %22.15g\n", xc_symbol(a->z),
                  (long long)k + 1, (int)xc_real_z(a), a->at[0], a->at[1], a->at[2]);
  }
}

static void write_shell(const xc_shell *shell, FILE *file) {
  (void)fprintf(file, " %c %3d 1.00\n", "spdfg"[shell->l], (int)shell -> n);
  for (int k = 0; k < shell->n; k++)
    (void)fprintf(file, "  %24.16e %24.16e\n", shell->exponent[k],
                  shell->coefficient[k] / norm_of(shell->l, shell->exponent[k]));
}

static void write_shells(const xc_molecule *m, const xc_basis *basis, FILE *file) {
  bool spherical = true;
  int64_t at = 0;
  (void)fprintf(file, "[GTO]\n");
  for (int64_t a = 0; a < m->n_atoms; a++) {
    (void)fprintf(file, "%lld 0\n", (long long)a + 1);
    for (; at < basis->n_shells && basis->shells[at].atom == a; at++) {
      write_shell(&basis->shells[at], file);
      if (basis->shells[at].l > 1) spherical = basis->shells[at].spherical;
    }
    (void)fprintf(file, "\n");
  }
  (void)fprintf(file, spherical ? "[5D]\n[9G]\n" : "[6D]\n[10F]\n[15G]\n");
}

static void write_orbital(const xc_basis *basis, const double *row, FILE *file) {
  int64_t number = 1;
  for (int64_t s = 0; s < basis->n_shells; s++) {
    const xc_shell *shell = &basis->shells[s];
    for (int k = 0; k < xc_shell_size(shell); k++) {
      const place from = place_of(shell, k);
      (void)fprintf(file, "%5lld %22.15e\n", (long long)number++,
                    row[shell->first + from.at] * from.factor);
    }
  }
}

/* Electrons of each atom that an effective core potential replaces. */
static void write_cores(const xc_molecule *m, FILE *file) {
  int64_t n = 0;
  for (int64_t a = 0; a < m->n_atoms; a++) {
    if (m->atoms[a].core == 0) continue;
    (void)fprintf(file, "%s%lld : %d\n", n++ == 0 ? "[Core]\n" : "", (long long)a + 1,
                  (int)m->atoms[a].core);
  }
}

tsl_err xc_molden_write(const xc_params *p, const xc_own *own, FILE *file) {
  const xc_scf *scf = &own->scf;
  (void)p;
  write_atoms(&own->molecule, file);
  write_shells(&own->molecule, &own->orbital, file);
  write_cores(&own->molecule, file);
  (void)fprintf(file, "[MO]\n");
  for (int t = 0; t < scf->n_spin; t++)
    for (int64_t k = 0; k < scf->m; k++) {
      const double full = scf->n_spin == 1 ? 2 : 1;
      (void)fprintf(file, " Sym= A%lld\n Ene= %.12f\n Spin= %s\n Occup= %.8f\n", (long long)k + 1,
                    scf->levels[t][k], t == 0 ? "Alpha" : "Beta", full * scf->occupations[t][k]);
      write_orbital(&own->orbital, scf->orbitals[t] + k * scf->n, file);
    }
  return TSL_OK;
}
