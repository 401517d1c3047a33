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
    TSL_TEXT_KEY(
        "atoms", IN(molecule.lennard_jones, atoms), "",
        "Parameters of the atoms: 'atom epsilon sigma' (kcal/mol, Angstrom), separated by ';', "
        "where an atom is its number or an element, as in 'O 0.1521 3.1506; H 0.046 0.4'."),
    TSL_CHOICE_KEY(
        "mixing", IN(molecule.lennard_jones, mixing), "lorentz-berthelot", xc_mixing_words,
        "Of unlike ones: mean sigma and geometric mean of epsilon, or geometric means of both."),
    {0}};

static const tsl_key molecule_keys[] = {
    TSL_TEXT_KEY("xyz", IN(molecule, xyz), "",
                 "XYZ file (Angstrom); relative to the deck's folder. Ghosts: Gh-O, @O."),
    TSL_TEXT_KEY("frames", IN(molecule, frames), "",
                 "Frames of an XYZ file of several that are computed one after another: all, "
                 "FIRST:LAST or FIRST:LAST:STEP, from 1."),
    TSL_TEXT_KEY("json", IN(molecule, json), "",
                 "QCSchema file; it also says charge and multiplicity."),
    TSL_TEXT_KEY("atoms", IN(molecule, atoms), "",
                 "Atoms in the deck: 'symbol x y z' (Angstrom), one a line or separated by ';'."),
    TSL_INT_KEY("charge", IN(molecule, charge), "0", -XC_MAX_CHARGE, XC_MAX_CHARGE,
                "Charge of the molecule, elementary charges."),
    TSL_INT_KEY("multiplicity", IN(molecule, multiplicity), "0", 0, 1000,
                "2S + 1; 0: the lowest, 1 or 2."),
    TSL_TEXT_KEY("charges", IN(molecule, charges), "",
                 "File of point charges around it, 'x y z q' a line (Angstrom, elementary "
                 "charges); with lennard_jones 'x y z q epsilon sigma' (kcal/mol, Angstrom)."),
    TSL_MAP_KEY("lennard_jones", IN(molecule, lennard_jones), lj_keys, SIZE(molecule.lennard_jones),
                "Dispersion and repulsion of atoms and point charges."),
    {0}};

static const tsl_key grid_keys[] = {
    TSL_TEXT_KEY(
        "preset", IN(grid, preset), "default",
        "coarse, default, fine, ultrafine, lio0, lio1 or lio2; the keys below replace its parts."),
    TSL_INT_KEY("radial", IN(grid, radial), "", 1, XC_MAX_RADIAL,
                "Radial shells of every atom; with angular."),
    TSL_INT_KEY("angular", IN(grid, angular), "", 1, 5810,
                "Points of a shell, the size of a Lebedev rule; with radial."),
    TSL_CHOICE_KEY("rule", IN(grid, rule), "", xc_radial_words, "Radial quadrature."),
    TSL_CHOICE_KEY("pruning", IN(grid, pruning), "", xc_pruning_words,
                   "Fewer points near and far from nuclei."),
    TSL_CHOICE_KEY("scheme", IN(grid, scheme), "", xc_scheme_words, "Partition of space."),
    TSL_CHOICE_KEY("adjust", IN(grid, adjust), "", xc_adjust_words, "Sizes of the cells."),
    TSL_REAL_KEY("cut", IN(grid, cut), "", 0, 1, "Points of less weight are dropped, bohr^3."),
    TSL_BOOL_KEY(
        "response", IN(grid, response), "yes",
        "Gradients follow points and weights, which move with the atoms, beside the functions."),
    {0}};

static const tsl_key nonlocal_keys[] = {
    TSL_REAL_KEY("b", IN(nonlocal, b), "", 0.1, 1000,
                 "Adds VV10 to a functional that carries none; b belongs to the functional."),
    TSL_REAL_KEY("c", IN(nonlocal, c), "0.0093", 0, 1, "Likewise, C of the C6 coefficients."),
    TSL_TEXT_KEY(
        "preset", IN(nonlocal, preset), "coarse",
        "Points that meet each other, as grid.preset; the partition of space is that of the grid."),
    TSL_INT_KEY("radial", IN(nonlocal, radial), "", 1, XC_MAX_RADIAL,
                "Radial shells of every atom; with angular."),
    TSL_INT_KEY("angular", IN(nonlocal, angular), "", 1, 5810,
                "Points of a shell, the size of a Lebedev rule; with radial."),
    TSL_CHOICE_KEY("pruning", IN(nonlocal, pruning), "", xc_pruning_words,
                   "Fewer points near and far from nuclei."),
    {0}};

static const tsl_key groups_keys[] = {
    TSL_CHOICE_KEY("kind", IN(groups, kind), "kd", xc_grouping_words,
                   "kd: median cuts into equal groups; cubes: spheres round nuclei, and cubes."),
    TSL_INT_KEY(
        "target", IN(groups, target), "", 0, 1 << 20,
        "kd: most points of a group; default 512; 0: the best of 128, 256, .. 2048 by a trial on "
        "the first card, else on rank 0's socket, kept in the calibration file."),
    TSL_CHOICE_KEY(
        "reach", IN(groups, reach), "radius", xc_reach_words,
        "How far a shell reaches: to its true radius, or by its smallest exponent (not exact)."),
    TSL_REAL_KEY(
        "max_exponent", IN(groups, max_exponent), "", 1e-3, 700,
        "Reach exponent: a shell ends where it falls below exp(-max_exponent); default 10."),
    TSL_REAL_KEY("side", IN(groups, side), "", 1e-3, 1e6, "cubes: their side, bohr; default 8."),
    TSL_REAL_KEY("spheres", IN(groups, spheres), "", 0, 1,
                 "cubes: share of an atom's radial shells in its sphere; default 0.6."),
    TSL_INT_KEY("least", IN(groups, least), "", 0, 1 << 20,
                "cubes: cubes of fewer points are joined with the next; default 1."),
    TSL_CHOICE_KEY("cost", IN(groups, cost), "fitted", xc_cost_words,
                   "Formula of the balance that `tesela plan` prints."),
    {0}};

static const tsl_key smearing_keys[] = {
    TSL_CHOICE_KEY("kind", IN(smearing, kind), "none", smearing_words,
                   "Fractions of electrons in orbitals near the Fermi level, of each spin its own: "
                   "by Fermi and Dirac, or by a Gaussian."),
    TSL_REAL_KEY("width", IN(smearing, width), "0.01", 1e-6, 1,
                 "Width of the step, hartree; of fermi: kT."),
    {0}};

static const tsl_key guess_keys[] = {
    TSL_TEXT_KEY(
        "file", IN(guess, file), "",
        "Output of a run of the same atoms, in any basis; they may have moved by 0.5 Angstrom."),
    TSL_TEXT_KEY(
        "spins", IN(guess, spins), "",
        "Atoms with unpaired electrons, negative: of beta: 'atom spin', separated by ';', where an "
        "atom is its number or an element, as in '1 4; 2 -4'. The orbitals are unrestricted then."),
    {0}};

static const tsl_key scf_keys[] = {
    TSL_REAL_KEY("energy", IN(scf, energy), "1e-8", 1e-15, 1,
                 "Largest change of the energy at the end, hartree."),
    TSL_REAL_KEY("commutator", IN(scf, commutator), "1e-5", 1e-14, 1,
                 "Largest element of F D S - S D F at the end, hartree; with task: gradient its "
                 "default is 1e-6."),
    TSL_INT_KEY("iterations", IN(scf, iterations), "100", 1, 100000, "Most iterations."),
    TSL_INT_KEY("diis", IN(scf, diis), "8", 0, XC_DIIS_MOST, "Matrices of DIIS; 0: none."),
    TSL_CHOICE_KEY("accelerator", IN(scf, accelerator), "adiis+diis", accelerator_words,
                   "Weights of DIIS: adiis+diis: of lowest energy far from the end, Pulay's near "
                   "it; diis: Pulay's alone."),
    TSL_REAL_KEY("damping", IN(scf, damping), "0", 0, 0.99,
                 "Share of the old density kept, at first."),
    TSL_REAL_KEY("level_shift", IN(scf, level_shift), "0", 0, 100,
                 "Empty orbitals are raised by it at first, hartree."),
    TSL_REAL_KEY("damping_until", IN(scf, damping_until), "0.01", 0, 1e6,
                 "Commutator below which damping and level shift end, hartree."),
    TSL_INT_KEY("rebuild", IN(scf, rebuild), "8", 1, 1000,
                "J and K anew every so many iterations; between, of the density's change."),
    TSL_CHOICE_KEY("stability", IN(scf, stability), "none", stability_words,
                   "Of a field that has converged: check: whether it is a minimum among fields of "
                   "its kind; follow: from a saddle point go downhill and on."),
    TSL_REAL_KEY(
        "overlap", IN(scf, overlap), "1e-7", 1e-14, 0.1,
        "Combinations of functions with a smaller eigenvalue of the overlap are left out."),
    {0}};

static const tsl_key serve_keys[] = {
    TSL_BOOL_KEY("remote", IN(serve, remote), "no",
                 "The server that --ipi tcp:HOST:PORT names may be on another host."),
    TSL_TEXT_KEY("token", IN(serve, token), "",
                 "File with the token that the server has to send in INIT; needed with remote."),
    TSL_REAL_KEY("wait", IN(serve, wait), "10", 0, 86400,
                 "So long the server may take to appear, s."),
    {0}};

const tsl_key xc_keys[] = {
    TSL_MAP_KEY("molecule", AT(molecule), molecule_keys, SIZE(molecule),
                "Atoms, charge and multiplicity."),
    TSL_CHOICE_KEY(
        "task", AT(task), "energy", task_words,
        "What is computed: the energy, or the gradient too; default: what a QCSchema file says."),
    TSL_TEXT_KEY("basis", AT(basis), "",
                 "Basis set: STO-3G, 6-31G*, def2-SVP, def2-TZVP, DZVP, or a file (with a '/' or "
                 "'.'); required but for what a QCSchema file says."),
    TSL_TEXT_KEY("ecp", AT(ecp), "",
                 "Effective core potentials of this set or file, in place of those that come with "
                 "the basis."),
    TSL_CHOICE_KEY("functions", AT(functions), "auto", kind_words,
                   "Functions of shells; auto: as the set says."),
    TSL_TEXT_KEY("functional", AT(functional), "",
                 XC_OWN_NAMES "hf" XC_PUBLISHED_NAMES
                              "; a functional of libxc by its name, or a sum; required likewise."),
    TSL_CHOICE_KEY("source", AT(source), "auto", source_words,
                   "Who computes the functional: own formulas, libxc, or own where there are any."),
    TSL_CHOICE_KEY(
        "reference", AT(reference), "auto", reference_words,
        "Same orbitals for both spins, or not; auto: restricted for singlets without guess.spins."),
    TSL_CHOICE_KEY("coulomb", AT(coulomb), "exact", coulomb_words,
                   "Coulomb matrix from four-centre integrals, or by density fitting."),
    TSL_CHOICE_KEY(
        "exchange", AT(exchange), "exact", exchange_words,
        "Exact exchange from four-centre integrals, or by density fitting; with coulomb: fitted."),
    TSL_CHOICE_KEY("dispersion", AT(dispersion), "none", xc_dispersion_words,
                   "Added to energy and gradient, with the functional's parameters: D3 of pairs "
                   "with rational damping, or D4."),
    TSL_TEXT_KEY("fitting", AT(fitting), "",
                 "Coulomb fitted: fitting set or file; default def2-universal-jfit, with exchange "
                 "fitted def2-universal-jkfit."),
    TSL_TEXT_KEY("basis_folder", AT(basis_folder), "",
                 "Folder of the named sets; default: the one that came with tesela."),
    TSL_MAP_KEY("grid", AT(grid), grid_keys, SIZE(grid),
                "Points of the exchange-correlation integrals."),
    TSL_MAP_KEY(
        "nonlocal", AT(nonlocal), nonlocal_keys, SIZE(nonlocal),
        "Non-local correlation VV10, of functionals that carry it (wB97X-V, ...) or added."),
    TSL_MAP_KEY("groups", AT(groups), groups_keys, SIZE(groups),
                "How points are grouped; a group is a unit of work."),
    TSL_MAP_KEY("guess", AT(guess), guess_keys, SIZE(guess),
                "First density; default: of the atoms."),
    TSL_MAP_KEY("scf", AT(scf), scf_keys, SIZE(scf), "Iterations."),
    TSL_MAP_KEY("smearing", AT(smearing), smearing_keys, SIZE(smearing), "Fractional occupations."),
    TSL_MAP_KEY("serve", AT(serve), serve_keys, SIZE(serve), "For `tesela serve` alone."),
    TSL_TEXT_KEY("molden", AT(files[XC_FILE_MOLDEN]), "",
                 "Orbitals for viewers are written to this file, .molden."),
    TSL_TEXT_KEY("qcschema", AT(files[XC_FILE_QCSCHEMA]), "",
                 "The result is written to this file too, .json, as QCSchema's output."),
    TSL_MAP_KEY(
        "cube", AT(cube), xc_cube_keys, SIZE(cube),
        "Densities, orbitals and the potential at the points of a lattice, in Gaussian's format."),
    TSL_BOOL_KEY("hirshfeld", AT(hirshfeld), "no",
                 "Hirshfeld's charges of the atoms, from one more density on the grid."),
    TSL_REAL_KEY("threshold", AT(threshold), "1e-12", 1e-16, 1e-4,
                 "Contributions to J and K below it are left out, hartree."),
    TSL_CHOICE_KEY(
        "precision", AT(precision), "fp64", precision_words,
        "Arithmetic of cards: fp64, or mixed: functions and their products in fp32 until the "
        "commutator falls below 1e-3 hartree, sums in fp64. Sockets use fp64."),
    TSL_BOOL_KEY(
        "reproducible", AT(reproducible), "no",
        "The same bits for any ranks, plan, threads and restarts, on sockets of one SIMD level or "
        "cards of one kind: sums are integers, the root's algebra has one thread."),
    TSL_CHOICE_KEY(
        "parallel", AT(parallel), "hybrid", xc_parallel_words,
        "Sockets: threads share pieces of groups, the points of a group, or whole groups."),
    TSL_BYTES_KEY("cache", AT(cache), "1 GiB", 0, 0,
                  "Function values that a rank keeps between iterations, smallest groups first, at "
                  "most a quarter of its memory; 0: none."),
    TSL_BYTES_KEY("fitting_cache", AT(fitting_cache), "1 TiB", 0, 0,
                  "Fitting integrals that a rank keeps, as far as its memory goes; others are "
                  "computed anew in each phase. 0: none."),
    TSL_BYTES_KEY("quartet_cache", AT(quartet_cache), "1 TiB", 0, 0,
                  "Four-centre integrals that a rank keeps, on sockets alone and where all of them "
                  "fit into their memory; 0: none."),
    TSL_BYTES_KEY("card_cache", AT(card_cache), "1 TiB", 0, 0,
                  "Likewise on a card, as far as its memory goes; 0: none."),
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
