/* unit.xc.scf: J and K against plain sums, guess, and Hartree-Fock energies against PySCF. */
#include "xc_fixture.h"
#include "xc_near.h"

#include "xc_reference.h"

#include "parallel.h"

static const char water[] = "3\n\nO 0 0 0.1174\nH 0.757 0 -0.4696\nH -0.757 0 -0.4696\n";
static const char oxygen[] = "2\n\nO 0 0 0\nO 0 0 1.2\n";
static const char lio[] =
    "3\n\nO -0.409 0.0555 -0.392\nH -0.45 -0.5015 0.392\nH 0.45 0.5015 -0.299\n";
static const xc_charge lio_charges[] = {
    {{-0.663 / XC_BOHR, -0.7025 / XC_BOHR, -2.985001 / XC_BOHR}, -0.834},
    {{0.079 / XC_BOHR, -1.107501 / XC_BOHR, -3.469002 / XC_BOHR}, 0.417},
    {{-0.231 / XC_BOHR, -0.5085 / XC_BOHR, -2.122001 / XC_BOHR}, 0.417}};

static xc_scf_options tight(void) {
  xc_scf_options options;
  xc_scf_standard(&options);
  options.energy_limit = 1e-10, options.commutator_limit = 1e-7;
  return options;
}

/* ---------------------------------------------------------------- matrices */

/** All (ij|kl) of a small basis, no symmetry used. */
static double *all_quartets(const field *f) {
  const int64_t n = f->orbital.n, m = f->orbital.n_shells;
  double *all = room(n * n, n * n);
  for (int64_t a = 0; a < m; a++)
    for (int64_t b = 0; b <= a; b++)
      for (int64_t c = 0; c < m; c++)
        for (int64_t d = 0; d <= c; d++) {
          const xc_shell *s = f->orbital.shells;
          const double *v = xc_engine_quartet(f->quartets, a, b, c, d);
          for (int64_t i = s[a].first; i < s[a].first + xc_shell_size(&s[a]); i++)
            for (int64_t j = s[b].first; j < s[b].first + xc_shell_size(&s[b]); j++)
              for (int64_t k = s[c].first; k < s[c].first + xc_shell_size(&s[c]); k++)
                for (int64_t l = s[d].first; l < s[d].first + xc_shell_size(&s[d]); l++) {
                  const double value = v != NULL ? *v++ : 0;
                  all[((i * n + j) * n + k) * n + l] = all[((j * n + i) * n + k) * n + l] = value;
                  all[((i * n + j) * n + l) * n + k] = all[((j * n + i) * n + l) * n + k] = value;
                }
        }
  return all;
}

static void matrices(void **state) {
  field f;
  (void)state;
  field_create(water, 1, "6-31G*", NULL, XC_KIND_AUTO, NULL, 0, &f);
  const int64_t n = f.orbital.n;
  double *all = all_quartets(&f), *total = room(n, n), *coulomb = room(n, n);
  double *spin[2] = {room(n, n), room(n, n)}, *exchange[2] = {room(n, n), room(n, n)};
  for (int64_t k = 0; k < n * n; k++)
    total[k] = sin(1.7 * (double)k), spin[0][k] = cos(0.9 * (double)k),
    spin[1][k] = sin(2.1 * k + 1);
  xc_matrix_symmetrise(n, 0.5, total);
  xc_matrix_symmetrise(n, 0.5, spin[0]), xc_matrix_symmetrise(n, 0.5, spin[1]);
  field_exact(&f, total, (const double *const[2]){spin[0], spin[1]}, coulomb, exchange);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum[3] = {0};
      for (int64_t k = 0; k < n; k++)
        for (int64_t l = 0; l < n; l++) {
          sum[0] += total[k * n + l] * all[((i * n + j) * n + k) * n + l];
          for (int t = 0; t < 2; t++)
            sum[1 + t] += spin[t][k * n + l] * all[((i * n + k) * n + j) * n + l];
        }
      near(coulomb[i * n + j], sum[0], 1e-10);
      near(exchange[0][i * n + j], sum[1], 1e-10);
      near(exchange[1][i * n + j], sum[2], 1e-10);
    }
  assert_true(xc_fock_cost(&f.orbital, &f.pairs, 0, 0, f.pairs.n) >= (double)(n * n * n * n) / 8);
  tsl_free(all), tsl_free(total), tsl_free(coulomb);
  for (int t = 0; t < 2; t++) tsl_free(spin[t]), tsl_free(exchange[t]);
  field_clear(&f);
}

/** Quartets with a shell of some degree or higher, beside those of lower shells by plain loops: all
 *  of them together. */
static void degrees(void **state) {
  field f;
  (void)state;
  field_create(water, 1, "def2-TZVP", NULL, XC_KIND_AUTO, NULL, 0, &f);
  const int64_t n = f.orbital.n;
  double *all = all_quartets(&f), *d = room(n, n), *whole[2] = {room(n, n), room(n, n)};
  int *degree = calloc((size_t)n, sizeof *degree);
  for (int64_t s = 0; s < f.orbital.n_shells; s++)
    for (int i = 0; i < xc_shell_size(&f.orbital.shells[s]); i++)
      degree[f.orbital.shells[s].first + i] = f.orbital.shells[s].l;
  for (int64_t k = 0; k < n * n; k++) d[k] = cos(0.9 * (double)k);
  xc_matrix_symmetrise(n, 0.5, d);
  field_exact(&f, d, (const double *const[2]){d, NULL}, whole[0],
              (double *const[2]){whole[1], NULL});
  for (int least = 1; least <= 4; least++) {
    double *part[2] = {room(n, n), room(n, n)};
    xc_fock fock = {.basis = &f.orbital,
                    .pairs = &f.pairs,
                    .threshold = 1e-13,
                    .least = least,
                    .total = d,
                    .spin = {d, NULL},
                    .coulomb = part[0],
                    .exchange = {part[1], NULL}};
    xc_fock_largest(&fock, f.largest);
    xc_fock_batch(f.quartets, &fock, 0, f.pairs.n);
    xc_fock_finish(&fock);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        double low[2] = {0, 0};
        for (int64_t k = 0; k < n; k++)
          for (int64_t l = 0; l < n; l++) {
            if (degree[i] >= least || degree[j] >= least || degree[k] >= least ||
                degree[l] >= least)
              continue;
            low[0] += d[k * n + l] * all[((i * n + j) * n + k) * n + l];
            low[1] += d[k * n + l] * all[((i * n + k) * n + j) * n + l];
          }
        for (int m = 0; m < 2; m++) near(part[m][i * n + j] + low[m], whole[m][i * n + j], 1e-10);
      }
    tsl_free(part[0]), tsl_free(part[1]);
  }
  tsl_free(all), tsl_free(d), tsl_free(whole[0]), tsl_free(whole[1]);
  free(degree);
  field_clear(&f);
}

/** A density of ones leaves all, none leaves nothing, one of atoms what touches an atom twice. */
static void parts(void **state) {
  field f;
  (void)state;
  field_create(water, 1, "6-31G*", NULL, XC_KIND_AUTO, NULL, 0, &f);
  const int64_t n = f.orbital.n_shells, pairs = f.pairs.n;
  double *largest = room(n, n), atoms = 0;
  xc_fock fock = {
      .basis = &f.orbital, .pairs = &f.pairs, .largest = largest, .most = 1, .threshold = 1e-14};
  fock.spin[0] = f.work;
  assert_true(xc_fock_part(&fock, 0, pairs) == 0);
  for (int64_t a = 0; a < n; a++) largest[a * n + a] = 1; /* each shell an atom */
  for (int64_t p = 0; p < pairs; p++) {
    const xc_shell_pair *q = &f.pairs.list[p];
    double left = 0, all = xc_fock_cost(&f.orbital, &f.pairs, 1e-14, p, p + 1);
    for (const xc_shell_pair *k = f.pairs.list; k <= q; k++)
      if ((k->a == q->a || k->a == q->b || k->b == q->a || k->b == q->b) &&
          k->bound * q->bound >= 1e-14)
        left += xc_shell_size(&f.orbital.shells[k->a]) * xc_shell_size(&f.orbital.shells[k->b]);
    left *= xc_shell_size(&f.orbital.shells[q->a]) * xc_shell_size(&f.orbital.shells[q->b]);
    near(xc_fock_part(&fock, p, p + 1) * all, left, 1e-9 * (1 + left));
    atoms += left;
  }
  const double whole = xc_fock_cost(&f.orbital, &f.pairs, 1e-14, 0, pairs);
  assert_true(atoms < 0.9 * whole);
  near(xc_fock_part(&fock, 0, pairs), atoms / whole, 0.2); /* of a few pairs */
  for (int64_t k = 0; k < n * n; k++) largest[k] = 1;
  near(xc_fock_part(&fock, 0, pairs), 1, 1e-12);
  tsl_free(largest);
  field_clear(&f);
}

/** Element by element, against plain loops, and the same bits for any number of threads. */
static void elements_of(int64_t n, double sums[4]) {
  const int64_t nn = n * n;
  double *a = room(n, n), *b = room(n, n), *c = room(n, n), plain = 0, most = 0;
  for (int64_t k = 0; k < nn; k++) a[k] = sin(1.7 * (double)k), b[k] = cos(0.9 * (double)k);
  for (int64_t k = 0; k < nn; k++) plain += a[k] * b[k];
  sums[0] = xc_matrix_dot(nn, a, b);
  near(sums[0], plain, 1e-12 * (1 + (double)nn));
  xc_matrix_combine(nn, 3, (const double[]){2, -1, 0.5}, (const double *const[]){a, b, a}, c);
  for (int64_t k = 0; k < nn; k++) near(c[k], 2.5 * a[k] - b[k], 1e-14);
  xc_matrix_add(nn, -2.5, a, c);
  for (int64_t k = 0; k < nn; k++) near(c[k], -b[k], 1e-14);
  xc_matrix_copy(nn, a, c);
  assert_memory_equal(a, c, (size_t)nn * sizeof *a);
  xc_matrix_symmetrise(n, 0.5, c);
  sums[1] = xc_matrix_antisymmetrise(n, a);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      const double ij = sin(1.7 * (double)(i * n + j)), ji = sin(1.7 * (double)(j * n + i));
      assert_true(c[i * n + j] == 0.5 * (ij + ji) && a[i * n + j] == ij - ji);
      most = fmax(most, fabs(ij - ji));
    }
  assert_true(sums[1] == most);
  sums[2] = xc_matrix_dot(nn, a, a), sums[3] = xc_matrix_dot(nn, c, b);
  tsl_free(a), tsl_free(b), tsl_free(c);
}

static void elements(void **state) {
  static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 181, 257, 700};
  (void)state;
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    double one[4], more[4];
    elements_of(sizes[k], one);
    for (int slots = 2; slots <= 5; slots += 3) {
      good(tsl_parallel_open(slots));
      elements_of(sizes[k], more);
      assert_memory_equal(one, more, sizeof one);
    }
    tsl_parallel_close();
  }
}

/* ------------------------------------------------------------------- guess */

static void occupations(void **state) {
  double e[4];
  (void)state;
  xc_guess_occupation(1, 0, e);
  assert_true(e[0] == 1 && e[1] == 0);
  xc_guess_occupation(8, 0, e);
  assert_true(e[0] == 4 && e[1] == 4 && e[2] == 0);
  xc_guess_occupation(26, 0, e);
  assert_true(e[0] == 8 && e[1] == 12 && e[2] == 6 && e[3] == 0);
  xc_guess_occupation(54, 0, e);
  assert_true(e[0] == 10 && e[1] == 24 && e[2] == 20 && e[3] == 0);
}

/** The guess holds all electrons, in spherical and Cartesian bases. */
static void guess(void **state) {
  static const char *const sets[] = {"STO-3G", "6-31G*", "def2-TZVP", "DZVP"};
  (void)state;
  for (int k = 0; k < 4; k++)
    for (int kind = XC_KIND_SPHERICAL; kind <= XC_KIND_CARTESIAN; kind++) {
      field f;
      int64_t unconverged = 9;
      field_create("3\n\nO 0 0 0\nMg 0 0 1.8\nCl 0 2.1 0\n", 2, sets[k], NULL, kind, NULL, 0, &f);
      good(xc_guess_atoms(&f.molecule, &f.orbital, NULL, (double *const[2]){f.work}, &unconverged));
      assert_int_equal(unconverged, 0);
      near(xc_matrix_dot(f.orbital.n * f.orbital.n, f.work, f.overlap), 8 + 12 + 17, 1e-9);
      field_clear(&f);
    }
}

/** Electrons of the atom's functions. */
static double electrons_of(const field *f, int32_t atom, const double *density) {
  double sum = 0;
  for (int64_t k = 0; k < f->orbital.n_shells; k++) {
    const xc_shell *shell = &f->orbital.shells[k];
    const int64_t first = shell->first * f->orbital.n, n = xc_shell_size(shell) * f->orbital.n;
    if (shell->atom == atom) sum += xc_matrix_dot(n, density + first, f->overlap + first);
  }
  return sum;
}

/** Spins of atoms: each has its electrons of alpha and of beta; none leaves the neutral atoms. */
static void guess_spins(void **state) {
  static const double spins[3] = {2, 0, -1.5}, none[3] = {0};
  static const int z[3] = {8, 24, 17};
  field f;
  int64_t unconverged = 9;
  (void)state;
  field_create("3\n\nO 0 0 0\nCr 0 0 1.8\nCl 0 2.1 0\n", 2, "def2-SVP", NULL, XC_KIND_AUTO, NULL, 0,
               &f);
  const int64_t n = f.orbital.n;
  double *density[2] = {room(n, n), room(n, n)};
  good(xc_guess_atoms(&f.molecule, &f.orbital, spins, density, &unconverged));
  assert_int_equal(unconverged, 0);
  for (int32_t a = 0; a < 3; a++)
    for (int t = 0; t < 2; t++)
      near(electrons_of(&f, a, density[t]), 0.5 * (z[a] + (t == 0 ? spins[a] : -spins[a])), 1e-9);
  good(xc_guess_atoms(&f.molecule, &f.orbital, NULL, (double *const[2]){f.work}, &unconverged));
  good(xc_guess_atoms(&f.molecule, &f.orbital, none, density, &unconverged));
  for (int64_t k = 0; k < n * n; k++) {
    near(density[0][k], 0.5 * f.work[k], 1e-12);
    near(density[1][k], 0.5 * f.work[k], 1e-12);
  }
  tsl_free(density[0]), tsl_free(density[1]);
  field_clear(&f);
}

/* ---------------------------------------------------------------- energies */

static void compare(field *f, bool restricted, double exact, double fitted, double mulliken) {
  xc_scf scf;
  xc_scf_options options = tight();
  double charges[8];
  options.restricted = restricted;
  field_solve(f, &options, true, &scf);
  assert_int_equal(scf.state, XC_SCF_CONVERGED);
  near(scf.energies.total, fitted, 1e-8);
  xc_scf_clear(&scf);
  field_solve(f, &options, false, &scf);
  assert_int_equal(scf.state, XC_SCF_CONVERGED);
  near(scf.energies.total, exact, 1e-8);
  const xc_energies *e = &scf.energies;
  near(e->nuclei + e->kinetic + e->attraction + e->coulomb + e->exchange, e->total, 1e-10);
  xc_scf_mulliken(&scf, &f->molecule, &f->orbital, charges);
  near(charges[0], mulliken, 1e-6);
  print_message("%d iterations, %.10f hartree\n", (int)scf.iteration, e->total);
  assert_true(scf.iteration <= 16);
  xc_scf_clear(&scf);
}

/** Frontier orbitals and dipole of the closed shells. */
static void compare_details(field *f, const double truth[5]) {
  xc_scf scf;
  const xc_scf_options options = tight();
  const int64_t n = f->orbital.n;
  double highest = 0, lowest = 0, dipole[3], *moments[3] = {room(n, n), room(n, n), room(n, n)};
  static const double origin[3];
  field_solve(f, &options, false, &scf);
  xc_scf_frontier(&scf, &highest, &lowest);
  near(highest, truth[0], 1e-6);
  near(lowest, truth[1], 1e-6);
  xc_dipole(&f->orbital, origin, 0, f->orbital.n_shells, moments);
  xc_scf_dipole(&scf, &f->molecule, (const double *const *)moments, dipole);
  for (int x = 0; x < 3; x++) {
    near(dipole[x], truth[2 + x], 1e-6);
    tsl_free(moments[x]);
  }
  xc_scf_clear(&scf);
}

#define DETAILS(name)                                                     \
  (const double[5]) {                                                     \
    XC_REF_##name##_HOMO, XC_REF_##name##_LUMO, XC_REF_##name##_DIPOLE_X, \
        XC_REF_##name##_DIPOLE_Y, XC_REF_##name##_DIPOLE_Z                \
  }

static void water_energy(void **state) {
  field f;
  (void)state;
  field_create(water, 1, "def2-SVP", "def2-universal-jfit", XC_KIND_AUTO, NULL, 0, &f);
  compare(&f, true, XC_REF_WATER_EXACT, XC_REF_WATER_FITTED, XC_REF_WATER_MULLIKEN);
  compare_details(&f, DETAILS(WATER));
  compare(&f, false, XC_REF_WATER_EXACT, XC_REF_WATER_FITTED, XC_REF_WATER_MULLIKEN);
  field_clear(&f);
}

static void oxygen_energy(void **state) {
  field f;
  xc_scf scf;
  xc_scf_options options = tight();
  double square = 0;
  (void)state;
  field_create(oxygen, 3, "def2-SVP", "def2-universal-jfit", XC_KIND_AUTO, NULL, 0, &f);
  compare(&f, false, XC_REF_OXYGEN_EXACT, XC_REF_OXYGEN_FITTED, XC_REF_OXYGEN_MULLIKEN);
  options.restricted = 0;
  field_solve(&f, &options, false, &scf);
  good(xc_scf_spin_square(&scf, &square));
  near(square, XC_REF_OXYGEN_SQUARE, 1e-6);
  xc_scf_clear(&scf);
  field_clear(&f);
}

static void lio_energy(void **state) {
  field f;
  (void)state;
  field_create(lio, 1, "def2-SVP", "def2-universal-jfit", XC_KIND_AUTO, lio_charges, 3, &f);
  compare(&f, true, XC_REF_LIO_EXACT, XC_REF_LIO_FITTED, XC_REF_LIO_MULLIKEN);
  compare_details(&f, DETAILS(LIO));
  field_clear(&f);
}

static void triple_energy(void **state) {
  field f;
  (void)state;
  field_create(water, 1, "def2-TZVP", "def2-universal-jfit", XC_KIND_AUTO, NULL, 0, &f);
  compare(&f, true, XC_REF_TRIPLE_EXACT, XC_REF_TRIPLE_FITTED, XC_REF_TRIPLE_MULLIKEN);
  compare_details(&f, DETAILS(TRIPLE));
  field_clear(&f);
}

static void cartesian_energy(void **state) {
  field f;
  (void)state;
  field_create(lio, 1, "DZVP", "DZVP-fit", XC_KIND_CARTESIAN, NULL, 0, &f);
  compare(&f, true, XC_REF_CARTESIAN_EXACT, XC_REF_CARTESIAN_FITTED, XC_REF_CARTESIAN_MULLIKEN);
  compare_details(&f, DETAILS(CARTESIAN));
  field_clear(&f);
}

/* --------------------------------------------------------------- procedure */

/** Level shift, damping, no DIIS and whole builds end at the same energy. */
static void ways(void **state) {
  field f;
  (void)state;
  field_create(water, 1, "def2-SVP", NULL, XC_KIND_AUTO, NULL, 0, &f);
  for (int way = 0; way < 5; way++) {
    xc_scf scf;
    xc_scf_options options = tight();
    options.most_iterations = 300;
    if (way == 1) options.level_shift = 0.3, options.damping_until = 1e-5;
    if (way == 2) options.damping = 0.3;
    if (way == 3) options.diis = 0, options.damping = 0.2, options.damping_until = 0;
    if (way == 4) options.rebuild = 1;
    field_solve(&f, &options, false, &scf);
    assert_int_equal(scf.state, XC_SCF_CONVERGED);
    near(scf.energies.total, XC_REF_WATER_EXACT, 1e-8);
    xc_scf_clear(&scf);
  }
  field_clear(&f);
}

static void stopped(void **state) {
  field f;
  xc_scf scf;
  xc_scf_options options = tight();
  (void)state;
  field_create(water, 1, "STO-3G", NULL, XC_KIND_AUTO, NULL, 0, &f);
  options.most_iterations = 3;
  field_solve(&f, &options, false, &scf);
  assert_int_equal(scf.state, XC_SCF_STOPPED);
  assert_int_equal(scf.iteration, 3);
  xc_scf_clear(&scf);
  field_clear(&f);
}

/** One electron, no beta at all: the hydrogen atom is exact up to its basis. */
static void hydrogen(void **state) {
  field f;
  xc_scf scf;
  xc_scf_options options = tight();
  (void)state;
  options.restricted = 0;
  field_create("1\n\nH 0 0 0\n", 2, "def2-TZVP", NULL, XC_KIND_AUTO, NULL, 0, &f);
  field_solve(&f, &options, false, &scf);
  assert_int_equal(scf.state, XC_SCF_CONVERGED);
  assert_true(scf.energies.total > -0.5 && scf.energies.total < -0.4995);
  near(scf.energies.coulomb + scf.energies.exchange, 0, 1e-10);
  xc_scf_clear(&scf);
  field_clear(&f);
}

/** Functions twice in the basis change nothing but the count of independent ones. */
static void dependence(void **state) {
  field f;
  xc_scf one, two;
  const xc_scf_options options = tight();
  (void)state;
  field_create("2\n\nH 0 0 0\nH 0 0 0.74\n", 1, "def2-SVP", NULL, XC_KIND_AUTO, NULL, 0, &f);
  field_solve(&f, &options, false, &one);
  assert_int_equal(one.m, one.n);
  field_clear(&f);
  char path[] = "/tmp/tsl_basis_XXXXXX";
  FILE *file = fdopen(mkstemp(path), "w");
  (void)fputs("BASIS SPHERICAL\nH S\n 13.0107010 0.019682158\n 1.9622572 0.13796524\n 0.44453796 "
              "0.47831935\nH S\n 0.12194962 1\nH S\n 0.12194965 1\nH P\n 0.8 1\nEND\n",
              file);
  (void)fclose(file);
  field_create("2\n\nH 0 0 0\nH 0 0 0.74\n", 1, path, NULL, XC_KIND_AUTO, NULL, 0, &f);
  field_solve(&f, &options, false, &two);
  assert_int_equal(two.m, two.n - 2);
  assert_true(two.smallest_overlap < 1e-7);
  near(two.energies.total, one.energies.total, 1e-6);
  xc_scf_clear(&one), xc_scf_clear(&two);
  field_clear(&f);
  (void)remove(path);
}

static void refused(const xc_molecule *molecule, const xc_scf_options *options, const char *why) {
  static const double one = 1, zero = 0;
  xc_scf scf;
  assert_int_equal(xc_scf_create(molecule, 1, &one, &zero, &zero, options, &scf), TSL_ERR_INPUT);
  if (strstr(tsl_err_message(), why) == NULL)
    fail_msg("'%s' does not say '%s'", tsl_err_message(), why);
}

static void refusals(void **state) {
  xc_atom atom = {.z = 3};
  xc_molecule m = {.atoms = &atom, .n_atoms = 1, .alpha = 2, .beta = 1, .multiplicity = 2};
  xc_scf_options options;
  (void)state;
  xc_scf_standard(&options);
  refused(&m, &options, "as many alpha as beta");
  options.restricted = 0;
  refused(&m, &options, "2 electrons of a spin, but the basis has 1");
  options.damping = 1;
  refused(&m, &options, "damping 1");
  xc_scf_standard(&options);
  options.diis = 99;
  refused(&m, &options, "diis 99");
  options.diis = 0, options.energy_limit = NAN;
  refused(&m, &options, "must be positive");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elements),      cmocka_unit_test(matrices),
      cmocka_unit_test(degrees),       cmocka_unit_test(parts),
      cmocka_unit_test(occupations),   cmocka_unit_test(guess),
      cmocka_unit_test(guess_spins),   cmocka_unit_test(water_energy),
      cmocka_unit_test(oxygen_energy), cmocka_unit_test(lio_energy),
      cmocka_unit_test(triple_energy), cmocka_unit_test(cartesian_energy),
      cmocka_unit_test(ways),          cmocka_unit_test(stopped),
      cmocka_unit_test(hydrogen),      cmocka_unit_test(dependence),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
