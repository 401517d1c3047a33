/* The deck section `xc:`: words, keys, and which key goes with which choice. */
#include "xc_family.h"
#include "xc_published.h"

#include "file_name.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const xc_parallel_words[] = {"hybrid", "inner", "outer", NULL};
static const char *const task_words[] = {"energy", "gradient", NULL}; /* xc_task */
static const char *const kind_words[] = {"auto", "spherical", "cartesian", NULL};
static const char *const source_words[] = {"auto", "own", "libxc", NULL};
static const char *const coulomb_words[] = {"exact", "fitted", NULL};
static const char *const exchange_words[] = {"exact", "fitted", NULL};
static const char *const reference_words[] = {"auto", "restricted", "unrestricted", NULL};
static const char *const precision_words[] = {"fp64", "mixed", NULL};
static const char *const smearing_words[] = {"none", "fermi", "gaussian", NULL}; /* xc_smearing */
static const char *const stability_words[] = {"none", "check", "follow",
                                              NULL}; /* xc_stability_task */
static const char *const accelerator_words[] = {"diis", "adiis+diis", NULL};

#define AT(member) offsetof(xc_deck, member)
#define IN(map, member) (offsetof(xc_deck, map.member) - offsetof(xc_deck, map))
#define SIZE(map) sizeof((xc_deck *)0)->map

static const tsl_key lj_keys[] = {
    {"atoms", TSL_KEY_TEXT, IN(molecule.lennard_jones, atoms), "", 0, 0, NULL, NULL, 0,
     "Parameters of the atoms: 'atom epsilon sigma' (kcal/mol, Angstrom), separated by ';', where "
     "an "
     "atom is its number or an element, as in 'O 0.1521 3.1506; H 0.046 0.4'."},
    {"mixing", TSL_KEY_CHOICE, IN(molecule.lennard_jones, mixing), "lorentz-berthelot", 0, 0,
     xc_mixing_words, NULL, 0,
     "Of unlike ones: mean sigma and geometric mean of epsilon, or geometric means of both."},
    {0}};

static const tsl_key molecule_keys[] = {
    {"xyz", TSL_KEY_TEXT, IN(molecule, xyz), "", 0, 0, NULL, NULL, 0,
     "XYZ file (Angstrom); relative to the deck's folder. Ghosts: Gh-O, @O."},
    {"frames", TSL_KEY_TEXT, IN(molecule, frames), "", 0, 0, NULL, NULL, 0,
     "Frames of an XYZ file of several that are computed one after another: all, FIRST:LAST or "
     "FIRST:LAST:STEP, from 1."},
    {"json", TSL_KEY_TEXT, IN(molecule, json), "", 0, 0, NULL, NULL, 0,
     "QCSchema file; it also says charge and multiplicity."},
    {"atoms", TSL_KEY_TEXT, IN(molecule, atoms), "", 0, 0, NULL, NULL, 0,
     "Atoms in the deck: 'symbol x y z' (Angstrom), one a line or separated by ';'."},
    {"charge", TSL_KEY_INT, IN(molecule, charge), "0", -XC_MAX_CHARGE, XC_MAX_CHARGE, NULL, NULL, 0,
     "Charge of the molecule, elementary charges."},
    {"multiplicity", TSL_KEY_INT, IN(molecule, multiplicity), "0", 0, 1000, NULL, NULL, 0,
     "2S + 1; 0: the lowest, 1 or 2."},
    {"charges", TSL_KEY_TEXT, IN(molecule, charges), "", 0, 0, NULL, NULL, 0,
     "File of point charges around it, 'x y z q' a line (Angstrom, elementary charges); with "
     "lennard_jones 'x y z q epsilon sigma' (kcal/mol, Angstrom)."},
    {"lennard_jones", TSL_KEY_MAP, IN(molecule, lennard_jones), "", 0, 0, NULL, lj_keys,
     SIZE(molecule.lennard_jones), "Dispersion and repulsion of atoms and point charges."},
    {0}};

static const tsl_key grid_keys[] = {
    {"preset", TSL_KEY_TEXT, IN(grid, preset), "default", 0, 0, NULL, NULL, 0,
     "coarse, default, fine, ultrafine, lio0, lio1 or lio2; the keys below replace its parts."},
    {"radial", TSL_KEY_INT, IN(grid, radial), "", 1, XC_MAX_RADIAL, NULL, NULL, 0,
     "Radial shells of every atom; with angular."},
    {"angular", TSL_KEY_INT, IN(grid, angular), "", 1, 5810, NULL, NULL, 0,
     "Points of a shell, the size of a Lebedev rule; with radial."},
    {"rule", TSL_KEY_CHOICE, IN(grid, rule), "", 0, 0, xc_radial_words, NULL, 0,
     "Radial quadrature."},
    {"pruning", TSL_KEY_CHOICE, IN(grid, pruning), "", 0, 0, xc_pruning_words, NULL, 0,
     "Fewer points near and far from nuclei."},
    {"scheme", TSL_KEY_CHOICE, IN(grid, scheme), "", 0, 0, xc_scheme_words, NULL, 0,
     "Partition of space."},
    {"adjust", TSL_KEY_CHOICE, IN(grid, adjust), "", 0, 0, xc_adjust_words, NULL, 0,
     "Sizes of the cells."},
    {"cut", TSL_KEY_REAL, IN(grid, cut), "", 0, 1, NULL, NULL, 0,
     "Points of less weight are dropped, bohr^3."},
    {"response", TSL_KEY_BOOL, IN(grid, response), "yes", 0, 0, NULL, NULL, 0,
     "Gradients follow points and weights, which move with the atoms, beside the functions."},
    {0}};

static const tsl_key nonlocal_keys[] = {
    {"b", TSL_KEY_REAL, IN(nonlocal, b), "", 0.1, 1000, NULL, NULL, 0,
     "Adds VV10 to a functional that carries none; b belongs to the functional."},
    {"c", TSL_KEY_REAL, IN(nonlocal, c), "0.0093", 0, 1, NULL, NULL, 0,
     "Likewise, C of the C6 coefficients."},
    {"preset", TSL_KEY_TEXT, IN(nonlocal, preset), "coarse", 0, 0, NULL, NULL, 0,
     "Points that meet each other, as grid.preset; the partition of space is that of the grid."},
    {"radial", TSL_KEY_INT, IN(nonlocal, radial), "", 1, XC_MAX_RADIAL, NULL, NULL, 0,
     "Radial shells of every atom; with angular."},
    {"angular", TSL_KEY_INT, IN(nonlocal, angular), "", 1, 5810, NULL, NULL, 0,
     "Points of a shell, the size of a Lebedev rule; with radial."},
    {"pruning", TSL_KEY_CHOICE, IN(nonlocal, pruning), "", 0, 0, xc_pruning_words, NULL, 0,
     "Fewer points near and far from nuclei."},
    {0}};

static const tsl_key groups_keys[] = {
    {"kind", TSL_KEY_CHOICE, IN(groups, kind), "kd", 0, 0, xc_grouping_words, NULL, 0,
     "kd: median cuts into equal groups; cubes: spheres round nuclei, and cubes."},
    {"target", TSL_KEY_INT, IN(groups, target), "", 0, 1 << 20, NULL, NULL, 0,
     "kd: most points of a group; default 512; 0: the best of 128, 256, .. 2048 by a trial on the "
     "first card, else on rank 0's socket, kept in the calibration file."},
    {"reach", TSL_KEY_CHOICE, IN(groups, reach), "radius", 0, 0, xc_reach_words, NULL, 0,
     "How far a shell reaches: to its true radius, or by its smallest exponent (not exact)."},
    {"max_exponent", TSL_KEY_REAL, IN(groups, max_exponent), "", 1e-3, 700, NULL, NULL, 0,
     "Reach exponent: a shell ends where it falls below exp(-max_exponent); default 10."},
    {"side", TSL_KEY_REAL, IN(groups, side), "", 1e-3, 1e6, NULL, NULL, 0,
     "cubes: their side, bohr; default 8."},
    {"spheres", TSL_KEY_REAL, IN(groups, spheres), "", 0, 1, NULL, NULL, 0,
     "cubes: share of an atom's radial shells in its sphere; default 0.6."},
    {"least", TSL_KEY_INT, IN(groups, least), "", 0, 1 << 20, NULL, NULL, 0,
     "cubes: cubes of fewer points are joined with the next; default 1."},
    {"cost", TSL_KEY_CHOICE, IN(groups, cost), "fitted", 0, 0, xc_cost_words, NULL, 0,
     "Formula of the balance that `tesela plan` prints."},
    {0}};

static const tsl_key smearing_keys[] = {
    {"kind", TSL_KEY_CHOICE, IN(smearing, kind), "none", 0, 0, smearing_words, NULL, 0,
     "Fractions of electrons in orbitals near the Fermi level, of each spin its own: by Fermi and "
     "Dirac, or by a Gaussian."},
    {"width", TSL_KEY_REAL, IN(smearing, width), "0.01", 1e-6, 1, NULL, NULL, 0,
     "Width of the step, hartree; of fermi: kT."},
    {0}};

static const tsl_key guess_keys[] = {
    {"file", TSL_KEY_TEXT, IN(guess, file), "", 0, 0, NULL, NULL, 0,
     "Output of a run of the same atoms, in any basis; they may have moved by 0.5 Angstrom."},
    {"spins", TSL_KEY_TEXT, IN(guess, spins), "", 0, 0, NULL, NULL, 0,
     "Atoms with unpaired electrons, negative: of beta: 'atom spin', separated by ';', where an "
     "atom "
     "is its number or an element, as in '1 4; 2 -4'. The orbitals are unrestricted then."},
    {0}};

static const tsl_key scf_keys[] = {
    {"energy", TSL_KEY_REAL, IN(scf, energy), "1e-8", 1e-15, 1, NULL, NULL, 0,
     "Largest change of the energy at the end, hartree."},
    {"commutator", TSL_KEY_REAL, IN(scf, commutator), "1e-5", 1e-14, 1, NULL, NULL, 0,
     "Largest element of F D S - S D F at the end, hartree; with task: gradient its default is "
     "1e-6."},
    {"iterations", TSL_KEY_INT, IN(scf, iterations), "100", 1, 100000, NULL, NULL, 0,
     "Most iterations."},
    {"diis", TSL_KEY_INT, IN(scf, diis), "8", 0, XC_DIIS_MOST, NULL, NULL, 0,
     "Matrices of DIIS; 0: none."},
    {"accelerator", TSL_KEY_CHOICE, IN(scf, accelerator), "adiis+diis", 0, 0, accelerator_words,
     NULL, 0,
     "Weights of DIIS: adiis+diis: of lowest energy far from the end, Pulay's near it; diis: "
     "Pulay's alone."},
    {"damping", TSL_KEY_REAL, IN(scf, damping), "0", 0, 0.99, NULL, NULL, 0,
     "Share of the old density kept, at first."},
    {"level_shift", TSL_KEY_REAL, IN(scf, level_shift), "0", 0, 100, NULL, NULL, 0,
     "Empty orbitals are raised by it at first, hartree."},
    {"damping_until", TSL_KEY_REAL, IN(scf, damping_until), "0.01", 0, 1e6, NULL, NULL, 0,
     "Commutator below which damping and level shift end, hartree."},
    {"rebuild", TSL_KEY_INT, IN(scf, rebuild), "8", 1, 1000, NULL, NULL, 0,
     "J and K anew every so many iterations; between, of the density's change."},
    {"stability", TSL_KEY_CHOICE, IN(scf, stability), "none", 0, 0, stability_words, NULL, 0,
     "Of a field that has converged: check: whether it is a minimum among fields of its kind; "
     "follow: "
     "from a saddle point go downhill and on."},
    {"overlap", TSL_KEY_REAL, IN(scf, overlap), "1e-7", 1e-14, 0.1, NULL, NULL, 0,
     "Combinations of functions with a smaller eigenvalue of the overlap are left out."},
    {0}};

static const tsl_key serve_keys[] = {
    {"remote", TSL_KEY_BOOL, IN(serve, remote), "no", 0, 0, NULL, NULL, 0,
     "The server that --ipi tcp:HOST:PORT names may be on another host."},
    {"token", TSL_KEY_TEXT, IN(serve, token), "", 0, 0, NULL, NULL, 0,
     "File with the token that the server has to send in INIT; needed with remote."},
    {"wait", TSL_KEY_REAL, IN(serve, wait), "10", 0, 86400, NULL, NULL, 0,
     "So long the server may take to appear, s."},
    {0}};

const tsl_key xc_keys[] = {
    {"molecule", TSL_KEY_MAP, AT(molecule), "", 0, 0, NULL, molecule_keys, SIZE(molecule),
     "Atoms, charge and multiplicity."},
    {"task", TSL_KEY_CHOICE, AT(task), "energy", 0, 0, task_words, NULL, 0,
     "What is computed: the energy, or the gradient too; default: what a QCSchema file says."},
    {"basis", TSL_KEY_TEXT, AT(basis), "", 0, 0, NULL, NULL, 0,
     "Basis set: STO-3G, 6-31G*, def2-SVP, def2-TZVP, DZVP, or a file (with a '/' or '.'); "
     "required "
     "but for what a QCSchema file says."},
    {"ecp", TSL_KEY_TEXT, AT(ecp), "", 0, 0, NULL, NULL, 0,
     "Effective core potentials of this set or file, in place of those that come with the basis."},
    {"functions", TSL_KEY_CHOICE, AT(functions), "auto", 0, 0, kind_words, NULL, 0,
     "Functions of shells; auto: as the set says."},
    {"functional", TSL_KEY_TEXT, AT(functional), "", 0, 0, NULL, NULL, 0,
     XC_OWN_NAMES "hf" XC_PUBLISHED_NAMES
                  "; a functional of libxc by its name, or a sum; required likewise."},
    {"source", TSL_KEY_CHOICE, AT(source), "auto", 0, 0, source_words, NULL, 0,
     "Who computes the functional: own formulas, libxc, or own where there are any."},
    {"reference", TSL_KEY_CHOICE, AT(reference), "auto", 0, 0, reference_words, NULL, 0,
     "Same orbitals for both spins, or not; auto: restricted for singlets without guess.spins."},
    {"coulomb", TSL_KEY_CHOICE, AT(coulomb), "exact", 0, 0, coulomb_words, NULL, 0,
     "Coulomb matrix from four-centre integrals, or by density fitting."},
    {"exchange", TSL_KEY_CHOICE, AT(exchange), "exact", 0, 0, exchange_words, NULL, 0,
     "Exact exchange from four-centre integrals, or by density fitting; with coulomb: fitted."},
    {"dispersion", TSL_KEY_CHOICE, AT(dispersion), "none", 0, 0, xc_dispersion_words, NULL, 0,
     "Added to energy and gradient, with the functional's parameters: D3 of pairs with rational "
     "damping, or D4."},
    {"fitting", TSL_KEY_TEXT, AT(fitting), "", 0, 0, NULL, NULL, 0,
     "Coulomb fitted: fitting set or file; default def2-universal-jfit, with exchange fitted "
     "def2-universal-jkfit."},
    {"basis_folder", TSL_KEY_TEXT, AT(basis_folder), "", 0, 0, NULL, NULL, 0,
     "Folder of the named sets; default: the one that came with tesela."},
    {"grid", TSL_KEY_MAP, AT(grid), "", 0, 0, NULL, grid_keys, SIZE(grid),
     "Points of the exchange-correlation integrals."},
    {"nonlocal", TSL_KEY_MAP, AT(nonlocal), "", 0, 0, NULL, nonlocal_keys, SIZE(nonlocal),
     "Non-local correlation VV10, of functionals that carry it (wB97X-V, ...) or added."},
    {"groups", TSL_KEY_MAP, AT(groups), "", 0, 0, NULL, groups_keys, SIZE(groups),
     "How points are grouped; a group is a unit of work."},
    {"guess", TSL_KEY_MAP, AT(guess), "", 0, 0, NULL, guess_keys, SIZE(guess),
     "First density; default: of the atoms."},
    {"scf", TSL_KEY_MAP, AT(scf), "", 0, 0, NULL, scf_keys, SIZE(scf), "Iterations."},
    {"smearing", TSL_KEY_MAP, AT(smearing), "", 0, 0, NULL, smearing_keys, SIZE(smearing),
     "Fractional occupations."},
    {"serve", TSL_KEY_MAP, AT(serve), "", 0, 0, NULL, serve_keys, SIZE(serve),
     "For `tesela serve` alone."},
    {"molden", TSL_KEY_TEXT, AT(files[XC_FILE_MOLDEN]), "", 0, 0, NULL, NULL, 0,
     "Orbitals for viewers are written to this file, .molden."},
    {"qcschema", TSL_KEY_TEXT, AT(files[XC_FILE_QCSCHEMA]), "", 0, 0, NULL, NULL, 0,
     "The result is written to this file too, .json, as QCSchema's output."},
    {"cube", TSL_KEY_MAP, AT(cube), "", 0, 0, NULL, xc_cube_keys, SIZE(cube),
     "Densities, orbitals and the potential at the points of a lattice, in Gaussian's format."},
    {"hirshfeld", TSL_KEY_BOOL, AT(hirshfeld), "no", 0, 0, NULL, NULL, 0,
     "Hirshfeld's charges of the atoms, from one more density on the grid."},
    {"threshold", TSL_KEY_REAL, AT(threshold), "1e-12", 1e-16, 1e-4, NULL, NULL, 0,
     "Contributions to J and K below it are left out, hartree."},
    {"precision", TSL_KEY_CHOICE, AT(precision), "fp64", 0, 0, precision_words, NULL, 0,
     "Arithmetic of cards: fp64, or mixed: functions and their products in fp32 until the "
     "commutator falls below 1e-3 hartree, sums in fp64. Sockets use fp64."},
    {"reproducible", TSL_KEY_BOOL, AT(reproducible), "no", 0, 0, NULL, NULL, 0,
     "The same bits for any ranks, plan, threads and restarts, on sockets of one SIMD level or "
     "cards "
     "of one kind: sums are integers, the root's algebra has one thread."},
    {"parallel", TSL_KEY_CHOICE, AT(parallel), "hybrid", 0, 0, xc_parallel_words, NULL, 0,
     "Sockets: threads share pieces of groups, the points of a group, or whole groups."},
    {"cache", TSL_KEY_BYTES, AT(cache), "1 GiB", 0, 0, NULL, NULL, 0,
     "Function values that a rank keeps between iterations, smallest groups first, at most a "
     "quarter "
     "of its memory; 0: none."},
    {"fitting_cache", TSL_KEY_BYTES, AT(fitting_cache), "1 TiB", 0, 0, NULL, NULL, 0,
     "Fitting integrals that a rank keeps, as far as its memory goes; others are computed anew in "
     "each phase. 0: none."},
    {"quartet_cache", TSL_KEY_BYTES, AT(quartet_cache), "1 TiB", 0, 0, NULL, NULL, 0,
     "Four-centre integrals that a rank keeps, on sockets alone and where all of them fit into "
     "their memory; 0: none."},
    {"card_cache", TSL_KEY_BYTES, AT(card_cache), "1 TiB", 0, 0, NULL, NULL, 0,
     "Likewise on a card, as far as its memory goes; 0: none."},
    {0}};

/* -------------------------------------------------------------------- adopt */

tsl_err xc_adopt(const char *file, char **text) {
  tsl_err err = TSL_OK;
  static const char head[] = "family: xc\nxc:\n  molecule:\n    json: '", tail[] = "'\n";
  const size_t n = strlen(file);
  *text = NULL;
  if (!tsl_ends_in(file, ".json")) goto done;
  for (const char *c = file; *c != '\0'; c++)
    if ((unsigned char)*c < ' ') TSL_FAIL(TSL_ERR_INPUT, "a file name with control characters");
  TSL_TRY(tsl_alloc((int64_t)(2 * n + sizeof head + sizeof tail), 1, "deck", (void **)text));
  char *to = *text + sprintf(*text, "%s", head);
  for (const char *c = file; *c != '\0'; c++) {
    if (*c == '\'') *to++ = '\''; /* doubled within YAML's quotes */
    *to++ = *c;
  }
  (void)sprintf(to, "%s", tail);
done:
  return err;
}

/* ------------------------------------------------------------------- checks */

static tsl_err check_molecule(const tsl_deck *deck, const xc_deck *s) {
  tsl_err err = TSL_OK;
  const int given =
      (s->molecule.xyz != NULL) + (s->molecule.json != NULL) + (s->molecule.atoms != NULL);
  if (given != 1)
    TSL_DECK_FAIL(deck, "xc.molecule", "needs exactly one of xyz, json and atoms; there %s %d",
                  given == 1 ? "is" : "are", given);
  if (s->molecule.frames != NULL && s->molecule.xyz == NULL)
    TSL_DECK_FAIL(deck, "xc.molecule.frames", "is of a file of frames; xyz: FILE is missing");
  if (s->molecule.json != NULL && tsl_deck_given(deck, "xc.molecule.charge"))
    TSL_DECK_FAIL(deck, "xc.molecule.charge", "the JSON file says it; remove it");
  if (s->molecule.json != NULL && tsl_deck_given(deck, "xc.molecule.multiplicity"))
    TSL_DECK_FAIL(deck, "xc.molecule.multiplicity", "the JSON file says it; remove it");
done:
  return err;
}

static tsl_err check_lennard_jones(const tsl_deck *deck, const xc_deck *s) {
  tsl_err err = TSL_OK;
  const bool given = s->molecule.lennard_jones.atoms != NULL;
  if (given && s->molecule.charges == NULL)
    TSL_DECK_FAIL(deck, "xc.molecule.lennard_jones",
                  "is of atoms and point charges; charges: FILE "
                  "is missing");
  if (!given && tsl_deck_given(deck, "xc.molecule.lennard_jones"))
    TSL_DECK_FAIL(deck, "xc.molecule.lennard_jones", "needs atoms");
done:
  return err;
}

static tsl_err check_exchange(const tsl_deck *deck, const xc_deck *s) {
  tsl_err err = TSL_OK;
  if (s->exchange != XC_EXCHANGE_FITTED) goto done;
  if (s->coulomb != XC_COULOMB_FITTED)
    TSL_DECK_FAIL(deck, "xc.exchange", "fitted needs coulomb: fitted");
  if (s->reproducible)
    TSL_DECK_FAIL(deck, "xc.exchange",
                  "fitted is not reproducible: its products are done in an order that ranks and "
                  "threads change; use exact, or reproducible: no");
  if (tsl_deck_given(deck, "xc.scf.rebuild"))
    TSL_DECK_FAIL(deck, "xc.scf.rebuild",
                  "not used with exchange: fitted, which is of the whole density; remove it");
done:
  return err;
}

/** Keys that the other choice of another key uses. */
static tsl_err check_use(const tsl_deck *deck, const xc_deck *s) {
  tsl_err err = TSL_OK;
  static const struct {
    const char *path;
    int kind;
  } uses[] = {{"xc.groups.target", XC_KD},
              {"xc.groups.side", XC_CUBES},
              {"xc.groups.spheres", XC_CUBES},
              {"xc.groups.least", XC_CUBES}};
  for (size_t k = 0; k < sizeof uses / sizeof *uses; k++)
    if (uses[k].kind != s->groups.kind && tsl_deck_given(deck, uses[k].path))
      TSL_DECK_FAIL(deck, uses[k].path, "not used by groups of kind %s; remove it",
                    xc_grouping_words[s->groups.kind]);
  if (s->reproducible && tsl_deck_given(deck, "xc.groups.target") && s->groups.target == 0)
    TSL_DECK_FAIL(deck, "xc.groups.target",
                  "0, a trial, is not reproducible: another machine may find another number, which "
                  "changes the order of sums; name the number, or reproducible: no");
  if (s->groups.reach != XC_REACH_EXPONENT && tsl_deck_given(deck, "xc.groups.max_exponent"))
    TSL_DECK_FAIL(deck, "xc.groups.max_exponent", "used with reach: exponent alone; remove it");
  if (s->coulomb == XC_COULOMB_EXACT && s->fitting != NULL)
    TSL_DECK_FAIL(deck, "xc.fitting", "used with coulomb: fitted alone; remove it");
  TSL_TRY(check_exchange(deck, s));
  TSL_TRY(check_lennard_jones(deck, s));
  if (s->serve.remote && s->serve.token == NULL)
    TSL_DECK_FAIL(deck, "xc.serve.remote",
                  "needs serve.token, by which the server shows that it may ask; or remove it and "
                  "take a tunnel, ssh -L");
  if (s->guess.file != NULL && s->guess.spins != NULL)
    TSL_DECK_FAIL(deck, "xc.guess.spins", "the file has spins of its own; remove one of them");
  if (s->smearing.kind == XC_SMEARING_NONE && tsl_deck_given(deck, "xc.smearing.width"))
    TSL_DECK_FAIL(deck, "xc.smearing.width", "used with kind: fermi or gaussian alone; remove it");
  if (s->smearing.kind != XC_SMEARING_NONE && s->scf.level_shift > 0)
    TSL_DECK_FAIL(deck, "xc.scf.level_shift",
                  "a shift changes the levels that smearing fills by; remove one of them, or use "
                  "damping");
  if (s->smearing.kind != XC_SMEARING_NONE && s->scf.stability != XC_STABILITY_NONE)
    TSL_DECK_FAIL(deck, "xc.scf.stability", "is of occupations 0 and 1; remove it, or xc.smearing");
  if (s->scf.diis == 0 && tsl_deck_given(deck, "xc.scf.accelerator"))
    TSL_DECK_FAIL(deck, "xc.scf.accelerator",
                  "not used without DIIS (diis: 0); remove one of them");
  if (tsl_deck_given(deck, "xc.grid.radial") != tsl_deck_given(deck, "xc.grid.angular"))
    TSL_DECK_FAIL(deck, "xc.grid", "radial and angular go together");
done:
  return err;
}

tsl_err xc_deck_check_gradient(const tsl_deck *deck, bool gradient) {
  tsl_err err = TSL_OK;
  if (!gradient && tsl_deck_given(deck, "xc.grid.response"))
    TSL_DECK_FAIL(deck, "xc.grid.response", "used with task: gradient alone; remove it");
done:
  return err;
}

tsl_err xc_deck_check(const tsl_deck *deck, const xc_deck *s, bool molecule) {
  tsl_err err = TSL_OK;
  if (molecule) TSL_TRY(check_molecule(deck, s));
  TSL_TRY(check_use(deck, s));
done:
  return err;
}

const char *xc_deck_fitting(const xc_deck *s) {
  if (s->fitting != NULL) return s->fitting;
  return s->exchange == XC_EXCHANGE_FITTED ? "def2-universal-jkfit" : "def2-universal-jfit";
}

/* -------------------------------------------------------------------- rules */

tsl_err xc_deck_grid(const tsl_deck *deck, const xc_deck *s, xc_grid_rule *rule) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_deck_blame(deck, "xc.grid.preset", xc_grid_preset(s->grid.preset, rule)));
  if (tsl_deck_given(deck, "xc.grid.radial")) {
    rule->sizes = XC_SIZES_GIVEN;
    rule->n_radial = s->grid.radial, rule->n_angular = s->grid.angular;
  }
  if (tsl_deck_given(deck, "xc.grid.rule")) rule->radial = s->grid.rule;
  if (tsl_deck_given(deck, "xc.grid.pruning")) rule->pruning = s->grid.pruning;
  if (tsl_deck_given(deck, "xc.grid.scheme")) rule->scheme = s->grid.scheme;
  if (tsl_deck_given(deck, "xc.grid.adjust")) rule->adjust = s->grid.adjust;
  if (tsl_deck_given(deck, "xc.grid.cut")) rule->cut = s->grid.cut;
  TSL_TRY(tsl_deck_blame(deck, "xc.grid", xc_grid_check(rule)));
done:
  return err;
}

xc_groups_rule xc_deck_groups(const tsl_deck *deck, const xc_deck *s) {
  xc_groups_rule rule = xc_groups_standard();
  rule.grouping = s->groups.kind;
  rule.reach = s->groups.reach;
  if (tsl_deck_given(deck, "xc.groups.target")) rule.target = s->groups.target;
  if (tsl_deck_given(deck, "xc.groups.side")) rule.side = s->groups.side;
  if (tsl_deck_given(deck, "xc.groups.spheres")) rule.spheres = s->groups.spheres;
  if (tsl_deck_given(deck, "xc.groups.least")) rule.least = s->groups.least;
  if (tsl_deck_given(deck, "xc.groups.max_exponent")) rule.max_exponent = s->groups.max_exponent;
  return rule;
}

/* A gradient is off by about the commutator at the end, an energy by its square. */
static const double gradient_commutator = 1e-6;

xc_scf_options xc_deck_scf(const tsl_deck *deck, const xc_deck *s, bool gradient) {
  xc_scf_options options;
  xc_scf_standard(&options);
  options.energy_limit = s->scf.energy;
  options.commutator_limit = s->scf.commutator;
  if (gradient && !tsl_deck_given(deck, "xc.scf.commutator"))
    options.commutator_limit = gradient_commutator;
  options.overlap_limit = s->scf.overlap;
  options.damping = s->scf.damping;
  options.damping_until = s->scf.damping_until;
  options.level_shift = s->scf.level_shift;
  options.most_iterations = (int32_t)s->scf.iterations;
  options.diis = (int32_t)s->scf.diis;
  options.adiis = s->scf.accelerator == XC_ACCELERATOR_ADIIS_DIIS;
  options.rebuild = s->exchange == XC_EXCHANGE_FITTED ? 1 : (int32_t)s->scf.rebuild;
  options.smearing = s->smearing.kind;
  options.width = s->smearing.width;
  options.stability = s->scf.stability;
  return options;
}

int64_t xc_deck_kept(const xc_deck *s) {
  return s->scf.diis * (s->scf.accelerator == XC_ACCELERATOR_ADIIS_DIIS ? 2 : 1);
}
