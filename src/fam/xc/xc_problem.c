/* From a deck to parameters and fields, and the family itself. */
#include "xc_ecp_integrals.h"
#include "xc_fixed.h"
#include "xc_matrix.h"
#include "xc_memory.h"
#include "xc_nonlocal.h"
#include "xc_talk.h"

#include "parallel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------- fields */

/** A field without its sizes, in the order of the enum. */
typedef struct about {
  const char *name, *unit, *doc;
  int32_t role, type, combine, rank, hidden;
} about;

/* Hidden input without a unit; hidden sums; what is in the output. */
#define IN(name, doc, type, rank) \
  { name, "1", doc, TSL_IN, type, 0, rank, 1 }
#define SUM(name, unit, doc, rank) \
  { name, unit, doc, TSL_OUT, TSL_F64, TSL_SUM, rank, 1 }
#define OUT(name, unit, doc, rank) \
  { name, unit, doc, TSL_OUT, TSL_F64, TSL_GATHER, rank, 0 }

static const about abouts[XC_N_FIELDS] = {
    [XC_IN_SHELLS] = IN("shells", "Shells of the basis and of the fitting set.", TSL_U8, 2),
    [XC_IN_PAIRS] = IN("pairs", "Pairs of shells by falling bound.", TSL_U8, 2),
    [XC_IN_POINTS] = {"points", "bohr", "Points x y z and weights of the grid, by groups.", TSL_IN,
                      TSL_F64, 0, 2, 1},
    [XC_IN_GROUPS] = IN("groups", "Groups of points.", TSL_U8, 2),
    [XC_IN_LISTS] = IN("lists", "Shells of each group.", TSL_I32, 1),
    [XC_IN_DENSITIES] = IN("densities", "Density matrices of an iteration.", TSL_F64, 3),
    [XC_IN_COEFFICIENTS] = IN("coefficients", "Fitted density.", TSL_F64, 1),
    [XC_IN_ORBITALS] =
        IN("asked_orbitals", "Orbitals of the densities asked for exchange.", TSL_F64, 3),
    [XC_IN_OCCUPIED] = IN("occupied", "How many of them, of each spin.", TSL_I32, 1),
    [XC_IN_METRIC] = IN("metric", "What makes the fitting set orthonormal.", TSL_F64, 2),
    [XC_IN_PRECISION] = IN(
        "precision", "1: cards may use float in this phase; bits of fixed-point sums.", TSL_I32, 1),
    [XC_IN_OWNERS] = IN("owners", "Atoms that points of the grid belong to.", TSL_I32, 1),
    [XC_IN_ATOMS] = IN("asked_atoms", "Atoms of the molecule.", TSL_U8, 2),
    [XC_IN_PRODUCTS] = IN("products", "Fitted products of orbitals.", TSL_F64, 3),
    [XC_IN_NONLOCAL] =
        IN("nonlocal", "Density at the points of non-local correlation.", TSL_F64, 2),
    [XC_IN_CUBES] = IN("cube_orbitals", "Orbitals of cubes.", TSL_F64, 2),
    [XC_IN_CHARGES] = IN("charges", "Nuclei and point charges.", TSL_U8, 2),
    [XC_IN_TASK] = IN("task", "What the next phases are for; slab of cubes.", TSL_I32, 1),
    [XC_SUM_XC] = {"xc_matrix", "hartree", "Exchange-correlation matrix of each spin.", TSL_OUT,
                   TSL_F64, TSL_SUM, 3, 0},
    [XC_SUM_INTEGRALS] = {"xc_integrals", "1",
                          "Exchange-correlation energy (hartree), integrated electrons of alpha "
                          "(restricted: all) and beta.",
                          TSL_OUT, TSL_F64, TSL_SUM, 1, 0},
    [XC_SUM_GUARD] = {"guard", "1", "Size of each rank's fixed-point sums.", TSL_OUT, TSL_I64,
                      TSL_SUM, 1, 1},
    [XC_SUM_COULOMB] = SUM("coulomb", "hartree", "Coulomb matrix of a change of the density.", 2),
    [XC_SUM_EXCHANGE] =
        SUM("exchange", "hartree", "Exchange matrix of a change of the density.", 3),
    [XC_SUM_GAMMA] = SUM("gamma", "hartree", "Fitting integrals of a density.", 1),
    [XC_SUM_PRODUCTS] =
        SUM("product_integrals", "hartree", "Fitting integrals of products of orbitals.", 3),
    [XC_SUM_NONLOCAL] = SUM("nonlocal_density", "1",
                            "Density at the points of non-local correlation, by ranks.", 2),
    [XC_SUM_TEXT] = {"cube_text", "1", "Text of cubes.", TSL_OUT, TSL_U8, TSL_SUM, 1, 1},
    [XC_SUM_POINTS] = SUM("point_sums", "1", "Sums over points of groups or of blocks.", 1),
    [XC_SUM_GRADIENT] = {"gradient", "hartree/bohr",
                         "Derivatives of the energy (smeared: the free energy) with respect to the "
                         "places x y z of the atoms.",
                         TSL_OUT, TSL_F64, TSL_SUM, 2, 0},
    [XC_OUT_DENSITY] = OUT("density", "1", "Density matrix of each spin (restricted: of one).", 3),
    [XC_OUT_FOCK] = OUT("fock", "hartree", "Kohn-Sham matrix of each spin.", 3),
    [XC_OUT_LEVELS] =
        OUT("orbital_energies", "hartree", "Energies of the orbitals of each spin.", 2),
    [XC_OUT_OCCUPATIONS] =
        OUT("occupations", "1",
            "Electrons in the orbitals of each spin (restricted: of one), 0 to 1.", 2),
    [XC_OUT_CHARGES] = OUT("mulliken_charges", "e", "Mulliken's charges of the atoms.", 1),
    [XC_OUT_HIRSHFELD] = OUT("hirshfeld_charges", "e", "Hirshfeld's charges of the atoms.", 1),
    [XC_OUT_ORBITALS] = OUT("orbitals", "1", "Orbitals of each spin, one a row.", 3),
    [XC_OUT_OVERLAP] = OUT("overlap", "1", "Overlap of the functions.", 2),
    [XC_OUT_SIZES] = {"group_sizes", "1", "Points and functions of each group of the grid.",
                      TSL_OUT, TSL_I64, TSL_GATHER, 2, 0},
    [XC_OUT_ATOMS] = OUT("atoms", "bohr",
                         "Atomic number, place x y z and electrons that a potential replaces.", 2),
    [XC_OUT_BASIS] = OUT("basis", "1",
                         "Of each primitive: shell, atom, l, 1 for spherical functions, exponent "
                         "(bohr^-2), coefficient of the bare primitive.",
                         2),
    [XC_OUT_ON_CHARGES] = OUT("charge_gradient", "hartree/bohr",
                              "Likewise with respect to the places of the point charges.", 2),
    [XC_OUT_HISTORY] = OUT(
        "history", "1", "Of each iteration: number, energy, its change, commutator (hartree).", 2),
    [XC_STATE_DENSITY] = {"state_density", "1", "Density matrices of the next iteration.",
                          TSL_STATE, TSL_F64, TSL_GATHER, 3, 1},
    [XC_STATE_MARK] = {"state_mark", "1", "Iteration, and the molecule and basis of the density.",
                       TSL_STATE, TSL_F64, TSL_GATHER, 1, 1},
};

static int64_t count_primitives(const xc_basis *basis) {
  int64_t n = 0;
  for (int64_t k = 0; k < basis->n_shells; k++) n += basis->shells[k].n;
  return n;
}

static void set_shapes(const xc_params *p, const xc_own *own, int64_t shape[XC_N_FIELDS][3]) {
  const int64_t n = p->n, spins = p->n_spin;
  const int64_t fit = p->fitted_exchange ? p->n_fit : 0;
  const int64_t nonlocal = p->n_nonlocal_points;
  const bool exact = xc_functional_exact(&p->functional);
  const int64_t all[XC_N_FIELDS][3] = {
      [XC_IN_SHELLS] = {p->n_shells + p->n_fit_shells, (int64_t)sizeof(xc_shell), 1},
      [XC_IN_PAIRS] = {p->n_pairs, (int64_t)sizeof(xc_shell_pair), 1},
      [XC_IN_POINTS] = {4, p->n_points, 1},
      [XC_IN_GROUPS] = {p->n_groups, (int64_t)sizeof(xc_group), 1},
      [XC_IN_LISTS] = {own->groups.n_shells, 1, 1},
      [XC_IN_DENSITIES] = {2 * spins + 1, n, n},
      [XC_IN_COEFFICIENTS] = {p->n_fit, 1, 1},
      [XC_IN_ORBITALS] = {p->fitted_exchange ? spins : 0, n, n},
      [XC_IN_OCCUPIED] = {p->fitted_exchange ? spins : 0, 1, 1},
      [XC_IN_METRIC] = {fit, fit, 1},
      [XC_IN_PRECISION] = {1 + XC_N_FIXED, 1, 1},
      [XC_IN_OWNERS] = {p->n_points, 1, 1},
      [XC_IN_ATOMS] = {p->n_atoms, (int64_t)sizeof(xc_atom), 1},
      [XC_IN_PRODUCTS] = {p->n_products > 0 ? spins : 0, p->n_fit, p->n_products},
      [XC_IN_NONLOCAL] = {XC_N_NONLOCAL, nonlocal, 1},
      [XC_IN_CUBES] = {xc_lattice_row(&p->lattice, p->lattice.n), n, 1},
      [XC_IN_CHARGES] = {p->lattice.n > 0 ? own->molecule.n_atoms + own->molecule.n_charges : 0,
                         (int64_t)sizeof(xc_charge), 1},
      [XC_IN_TASK] = {2, 1, 1},
      [XC_SUM_XC] = {spins, n, n},
      [XC_SUM_INTEGRALS] = {XC_N_INTEGRALS, 1, 1},
      [XC_SUM_GUARD] = {XC_N_FIXED, 1, 1},
      [XC_SUM_COULOMB] = {n, n, 1},
      [XC_SUM_EXCHANGE] = {exact ? spins : 0, n, n},
      [XC_SUM_GAMMA] = {p->n_fit, 1, 1},
      [XC_SUM_PRODUCTS] = {0, p->n_fit, p->n_products},
      [XC_SUM_NONLOCAL] = {XC_NONLOCAL_OMEGA, nonlocal, 1},
      [XC_SUM_TEXT] = {0, 1, 1},
      [XC_SUM_POINTS] = {0, 1, 1},
      [XC_SUM_GRADIENT] = {p->gradient ? p->n_atoms : 0, 3, 1},
      [XC_OUT_DENSITY] = {spins, n, n},
      [XC_OUT_FOCK] = {spins, n, n},
      [XC_OUT_LEVELS] = {spins, own->scf.m, 1},
      [XC_OUT_OCCUPATIONS] = {spins, own->scf.m, 1},
      [XC_OUT_CHARGES] = {own->molecule.n_atoms, 1, 1},
      [XC_OUT_HIRSHFELD] = {own->molecule.n_atoms, 1, 1},
      [XC_OUT_ORBITALS] = {spins, own->scf.m, n},
      [XC_OUT_OVERLAP] = {n, n, 1},
      [XC_OUT_SIZES] = {p->n_groups, 2, 1},
      [XC_OUT_ATOMS] = {own->molecule.n_atoms, XC_N_ATOM_COLUMNS, 1},
      [XC_OUT_BASIS] = {count_primitives(&own->orbital), XC_N_BASIS_COLUMNS, 1},
      [XC_OUT_ON_CHARGES] = {p->gradient ? own->molecule.n_charges : 0, 3, 1},
      [XC_OUT_HISTORY] = {own->scf.options.most_iterations, XC_N_HISTORY, 1},
      [XC_STATE_DENSITY] = {spins, n, n},
      [XC_STATE_MARK] = {XC_N_MARKS + xc_state_numbers(own), 1, 1},
  };
  memcpy(shape, all, sizeof all);
}

/** Sums that are integers when they are to be reproducible. */
static bool is_fixed(int f) {
  return f == XC_SUM_XC || f == XC_SUM_INTEGRALS || f == XC_SUM_COULOMB || f == XC_SUM_EXCHANGE;
}

static tsl_err add_fields(const xc_own *own, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  int64_t shape[XC_N_FIELDS][3];
  set_shapes(xc_params_of(problem), own, shape);
  for (int f = 0; f < XC_N_FIELDS; f++) {
    const about *a = &abouts[f];
    tsl_field field = {.role = a->role,
                       .type = a->type,
                       .combine = a->combine,
                       .rank = a->rank,
                       .hidden = a->hidden};
    if (xc_params_of(problem)->reproducible && is_fixed(f)) field.type = TSL_I64;
    if ((f == XC_SUM_GRADIENT || f == XC_OUT_ON_CHARGES) && shape[f][0] == 0) field.hidden = 1;
    if (f == XC_OUT_HIRSHFELD) field.hidden = !xc_params_of(problem)->shares;
    tsl_field *added = NULL;
    tsl_field_label(&field, a->name, a->unit, a->doc);
    memcpy(field.shape, shape[f], sizeof field.shape);
    TSL_TRY(tsl_problem_add(problem, &field, &added));
  }
done:
  return err;
}

/** The rows x, y, z and w, which lie together, and the owners of points go over to the fields. */
static void give_points(xc_grid *grid, tsl_field *fields) {
  fields[XC_IN_POINTS].data = grid->block;
  fields[XC_IN_OWNERS].data = grid->atom;
  grid->block = NULL, grid->atom = NULL;
}

/** Shells and densities are copied; points, pairs, groups and the metric go over to the fields. */
static tsl_err fill_fields(xc_own *own, xc_grid *grid, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  tsl_field *fields = problem->fields;
  give_points(grid, fields);
  for (int f = 0; f <= XC_IN_TASK; f++) {
    if (f == XC_IN_PAIRS || f == XC_IN_GROUPS || f == XC_IN_LISTS) continue;
    if (f == XC_IN_METRIC && xc_params_of(problem)->fitted_exchange) continue;
    TSL_TRY(tsl_field_allocate(&fields[f]));
  }
  xc_shell *shells = fields[XC_IN_SHELLS].data;
  for (int64_t k = 0; k < own->orbital.n_shells; k++) shells[k] = own->orbital.shells[k];
  for (int64_t k = 0; k < own->fitting.n_shells; k++)
    shells[own->orbital.n_shells + k] = own->fitting.shells[k];
  memcpy(fields[XC_IN_ATOMS].data, own->molecule.atoms,
         (size_t)own->molecule.n_atoms * sizeof *own->molecule.atoms);
  if (fields[XC_IN_CHARGES].shape[0] > 0)
    xc_set_charges(&own->molecule, fields[XC_IN_CHARGES].data);
  fields[XC_IN_PAIRS].data = own->pairs.list;
  if (xc_params_of(problem)->fitted_exchange) fields[XC_IN_METRIC].data = own->metric;
  fields[XC_IN_GROUPS].data = own->groups.list;
  fields[XC_IN_LISTS].data = own->groups.shells;
  own->scf.rough = xc_params_of(problem)->mixed;
  *(int32_t *)fields[XC_IN_PRECISION].data = own->scf.rough;
  TSL_TRY(xc_put_densities(problem));
  TSL_TRY(xc_state_create(problem));
done:
  return err;
}

tsl_err xc_put_densities(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  const xc_scf *scf = &xc_own_of(problem)->scf;
  const int64_t nn = p->n * p->n;
  double *to = problem->fields[XC_IN_DENSITIES].data;
  for (int t = 0; t < p->n_spin; t++, to += nn) xc_matrix_copy(nn, scf->density[t], to);
  xc_matrix_copy(nn, scf->ask_total, to);
  for (int t = 0; t < p->n_spin; t++) xc_matrix_copy(nn, scf->ask_spin[t], to += nn);
  tsl_field_touch(&problem->fields[XC_IN_DENSITIES]);
  TSL_TRY(xc_put_orbitals(problem));
  TSL_TRY(xc_fixed_choose(problem));
done:
  return err;
}

tsl_err xc_put_whole(tsl_problem *problem) {
  xc_scf *scf = &xc_own_of(problem)->scf;
  const int64_t nn = scf->n * scf->n;
  xc_matrix_copy(nn, scf->total, scf->ask_total);
  for (int t = 0; t < scf->n_spin; t++) xc_matrix_copy(nn, scf->density[t], scf->ask_spin[t]);
  return xc_put_densities(problem);
}

void xc_set_task(tsl_problem *problem, xc_task task, int64_t slab) {
  tsl_field *field = &problem->fields[XC_IN_TASK];
  int32_t *numbers = field->data;
  numbers[0] = task, numbers[1] = (int32_t)slab;
  tsl_field_touch(field);
}

void xc_root_algebra(const xc_params *p) {
  enum { ROWS = 64 }; /* for fewer a thread costs more than it saves */
  const int64_t most = p->reproducible ? 1 : 1 + p->n / ROWS, slots = tsl_parallel_slots();
  xc_matrix_use((int)(most < slots ? most : slots), !p->reproducible, p->n);
}

void xc_view_set(const tsl_problem *problem, xc_view *view) {
  const xc_params *p = xc_params_of(problem);
  const tsl_field *fields = problem->fields;
  xc_shell *shells = fields[XC_IN_SHELLS].data;
  *view = (xc_view){
      .orbital = {.shells = shells, .n_shells = p->n_shells, .n = p->n},
      .fitting = {.shells = shells + p->n_shells, .n_shells = p->n_fit_shells, .n = p->n_fit},
      .pairs = {fields[XC_IN_PAIRS].data, p->n_pairs, p->n_packed},
      .groups = fields[XC_IN_GROUPS].data,
      .lists = fields[XC_IN_LISTS].data};
  for (int k = 0; k < 4; k++)
    view->point[k] = (const double *)fields[XC_IN_POINTS].data + k * p->n_points;
}

/* ------------------------------------------------------------------- create */

/** Most points of a group where the deck leaves it to a trial. Molecules of about as many functions
 *  share it. */
static void choose_target(const tsl_deck *deck, const tsl_problem *problem, const xc_params *p,
                          xc_deck *s) {
  static const int64_t targets[] = {128, 256, 512, 1024, 2048};
  enum { N = sizeof targets / sizeof *targets };
  char what[96];
  if (!tsl_deck_given(deck, "xc.groups.target") || s->groups.target > 0) return;
  (void)snprintf(what, sizeof what, "target gga%d own%d spins%d mixed%d %s 2^%d functions",
                 p->functional.gga + p->functional.tau, p->functional.own, p->n_spin, p->mixed,
                 xc_parallel_words[p->parallel], ilogb((double)p->n));
  s->groups.target = problem->trial != NULL ? targets[problem->trial->way(problem->trial, what, N)]
                                            : targets[N / 2];
}

static tsl_err make_grid(const tsl_deck *deck, const xc_deck *s, xc_own *own, xc_params *p,
                         xc_grid *grid) {
  tsl_err err = TSL_OK;
  const xc_groups_rule groups = xc_deck_groups(deck, s);
  TSL_TRY(xc_deck_grid(deck, s, &p->grid));
  own->cost = xc_cost_standard((xc_cost_kind)s->groups.cost);
  TSL_TRY(tsl_deck_blame(deck, "xc.grid",
                         xc_grid_make(&p->grid, own->molecule.atoms, own->molecule.n_atoms, grid)));
  own->n_made = grid->n_made;
  TSL_TRY(tsl_deck_blame(deck, "xc.groups",
                         xc_groups_make(&groups, &own->orbital, grid, &own->groups)));
  p->n_points = grid->n;
  p->n_atoms = own->molecule.n_atoms;
  p->response = s->grid.response;
  p->n_groups = own->groups.n;
  TSL_TRY(xc_nonlocal_grid(deck, s, own, p, grid));
done:
  return err;
}

/** Own arrays that have become the fields' are the fields' to free. */
static void xc_destroy(tsl_problem *problem) {
  xc_own *own = xc_own_of(problem);
  if (own == NULL) return;
  xc_matrix_drop(own->metric);
  if (problem->n_fields > XC_IN_PAIRS && problem->fields[XC_IN_PAIRS].data == own->pairs.list)
    own->pairs.list = NULL;
  if (problem->n_fields > XC_IN_LISTS && problem->fields[XC_IN_LISTS].data == own->groups.shells)
    own->groups.list = NULL, own->groups.shells = NULL;
  if (problem->n_fields > XC_IN_METRIC && problem->fields[XC_IN_METRIC].data == own->metric)
    own->metric = NULL;
  xc_pairs_clear(&own->pairs);
  xc_groups_clear(&own->groups);
  xc_start_clear(&own->start);
  xc_dispersion_clear(&own->dispersion);
  xc_scf_clear(&own->scf);
  xc_stability_clear(&own->stability);
  xc_basis_clear(&own->orbital);
  xc_basis_clear(&own->fitting);
  xc_molecule_clear(&own->molecule);
  xc_lj_clear(&own->lennard_jones);
  for (int f = 0; f < XC_N_FILES; f++) tsl_free(own->files[f]);
  xc_cubes_clear(&own->cubes);
  TSL_FREE_ALL(own->hirshfeld, own->spins, own->metric, own->fit_bounds, own->coulomb, own->history,
               own->xc, own->gradient);
  for (int t = 0; t < 2; t++) tsl_free(own->exchange[t]);
  tsl_free(own);
  problem->own = NULL;
}

static tsl_err xc_create(tsl_deck *deck, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  xc_deck s = {.basis = NULL};
  xc_grid grid = {.n = 0};
  xc_talk *talk = xc_talk_of(problem);
  TSL_TRY(tsl_alloc(1, sizeof(xc_params), "parameters", &problem->params));
  problem->params_bytes = (int64_t)sizeof(xc_params);
  TSL_TRY(tsl_alloc(1, sizeof(xc_own), "the field", &problem->own));
  xc_own *own = problem->own;
  xc_params *p = problem->params;
  TSL_TRY(tsl_deck_bind(deck, "xc", xc_keys, sizeof s, &s));
  TSL_TRY(xc_deck_check(deck, &s, talk == NULL || talk->protocol->deck_molecule));
  TSL_TRY(xc_files_check(deck, &s));
  TSL_TRY(xc_load(deck, &s, talk, own, p));
  TSL_TRY(
      xc_cubes_plan(deck, &s.cube, problem, &own->molecule, &own->orbital, p->n_spin, &own->cubes));
  choose_target(deck, problem, p, &s);
  p->lattice = own->cubes.lattice, p->shares = s.hirshfeld;
  xc_root_algebra(p);
  TSL_TRY(xc_memory_check(deck, problem, xc_deck_kept(&s), s.scf.stability != XC_STABILITY_NONE,
                          xc_ecp_bytes(&own->orbital.ecps, &own->orbital, tsl_parallel_slots())));
  /* A card of the root is starting, and then loads its algebra. First what needs neither it nor
   * points; then the weights of these, and their groups meanwhile; algebra last. */
  TSL_TRY(xc_prepare_integrals(deck, own, p));
  TSL_TRY(make_grid(deck, &s, own, p, &grid));
  TSL_TRY(xc_prepare(deck, &s, problem, own, p));
  TSL_TRY(xc_cubes_check(deck, &own->cubes, own->scf.m));
  TSL_TRY(xc_files_keep(&s, own));
  TSL_TRY(add_fields(own, problem));
  TSL_TRY(fill_fields(own, &grid, problem));
done:
  xc_grid_clear(&grid);
  return err;
}

/** What the speed of a unit depends on. */
static void xc_signature(const tsl_problem *problem, char text[96]) {
  const xc_params *p = xc_params_of(problem);
  (void)snprintf(
      text, 96,
      "gga%d vv%d own%d spins%d exchange%d fitted%d%d kept%d mixed%d fixed%d %s n%lld s%lld c%d%d",
      p->functional.gga + p->functional.tau, p->functional.nonlocal.b != 0, p->functional.own,
      p->n_spin, xc_functional_exact(&p->functional) + (p->functional.far != 0), p->fitted,
      p->fitted_exchange, p->quartet_cache > 0, p->mixed, p->reproducible,
      xc_parallel_words[p->parallel], (long long)p->n, (long long)p->n_shells, (int)p->lattice.n,
      p->lattice.pairs > 0);
}

/** Matrices of the result are the root's; no unit fills them. */
static void xc_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                      int64_t hi[3]) {
  (void)problem, (void)unit, (void)field;
  for (int k = 0; k < 3; k++) lo[k] = 0, hi[k] = k > 0;
}

static bool xc_active(const tsl_problem *problem, int phase, int kind) {
  return xc_is_active(problem, phase, kind);
}

/** What does not change the iterations that are done. */
static const char *const xc_free_keys[] = {
    "xc.grid.response",     "xc.scf.iterations", "xc.scf.energy",
    "xc.scf.commutator",    "xc.scf.damping",    "xc.scf.level_shift",
    "xc.scf.damping_until", "xc.scf.stability",  NULL};

const tsl_family tsl_family_xc = {
    .name = "xc",
    .doc = "Kohn-Sham energies of molecules: exchange-correlation grid, exact or fitted Coulomb.",
    .shape = TSL_BAG,
    .n_kinds = XC_N_UNIT_KINDS,
    .keys = xc_keys,
    .adopt = xc_adopt,
    .create = xc_create,
    .check_memory = xc_memory_check_cards,
    .units = xc_units,
    .sample = xc_sample,
    .signature = xc_signature,
    .describe = xc_describe,
    .region = xc_region,
    .advance = xc_advance,
    .restore = xc_restore,
    .free_keys = xc_free_keys,
    .active = xc_active,
    .finish = xc_finish,
    .summary = xc_summary,
    .destroy = xc_destroy,
    .service = &xc_service,
};
