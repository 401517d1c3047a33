/* Matrices and gradients of effective core potentials: local parts of all at once, semilocal parts
 * centre by centre. */
#include "xc_ecp_integrals.h"

#include "xc_ecp_local.h"
#include "xc_ecp_project.h"
#include "xc_gauss.h"
#include "xc_matrix.h"

#include "parallel.h"

#include <math.h>
#include <string.h>

static const double potential_limit = 1e-12;

/* ------------------------------------------------------------- one centre */

/* The semilocal part of a centre, and the functions that reach it. */
typedef struct semilocal {
  const xc_basis *basis;
  xc_ecp_centre centre;
  int n;                                          /* radii */
  double r[XC_PROJECT_POINTS];                    /* bohr */
  double weight[XC_MAX_ECP_L][XC_PROJECT_POINTS]; /* w r^2 U_l */
  double radius;                                  /* all parts are nothing beyond */
  int64_t n_shells, n_functions, columns;         /* columns: l^2 n */
  int64_t *shells, *first;                        /* [n_shells]; first: among functions */
  double *seen, *weighted;                        /* [functions][columns] */
  double (*force)[3];                             /* [n_shells] */
} semilocal;

static void semilocal_clear(semilocal *s) {
  TSL_FREE_ALL(s->shells, s->first, s->seen, s->weighted, s->force);
}

static double term_at(const xc_ecp_term *t, double r) {
  return t->coefficient * pow(r, t->power - 2) * exp(-t->exponent * r * r);
}

/* U_l(r) */
static double value_at(const xc_ecp *ecp, int l, double r) {
  double sum = 0;
  for (int k = 0; k < ecp->n; k++)
    if (ecp->terms[k].l == l) sum += term_at(&ecp->terms[k], r);
  return sum;
}

/* Of all projectors. */
static double size_at(const xc_ecp *ecp, double r) {
  double sum = 0;
  for (int k = 0; k < ecp->n; k++)
    if (ecp->terms[k].l < ecp->l) sum += fabs(term_at(&ecp->terms[k], r));
  return sum;
}

static void set_radii(semilocal *s) {
  const xc_ecp *ecp = s->centre.ecp;
  long double x[XC_PROJECT_POINTS], w[XC_PROJECT_POINTS];
  for (s->radius = 0.5; size_at(ecp, s->radius) > potential_limit;) s->radius += 0.1;
  xc_gauss_legendre(XC_PROJECT_POINTS, x, w);
  s->n = XC_PROJECT_POINTS;
  for (int k = 0; k < s->n; k++) {
    const double t = (double)x[k], r = s->radius * t * t;
    s->r[k] = r;
    for (int l = 0; l < ecp->l; l++)
      s->weight[l][k] = 2 * s->radius * t * (double)w[k] * r * r * value_at(ecp, l, r);
  }
}

static tsl_err choose_shells(semilocal *s) {
  tsl_err err = TSL_OK;
  const int64_t all = s->basis->n_shells;
  TSL_TRY(tsl_alloc(all, sizeof *s->shells, "shells near a core", (void **)&s->shells));
  TSL_TRY(tsl_alloc(all, sizeof *s->first, "shells near a core", (void **)&s->first));
  for (int64_t k = 0; k < all; k++) {
    const xc_shell *shell = &s->basis->shells[k];
    const double *a = shell->at, *c = s->centre.at;
    if (hypot(hypot(a[0] - c[0], a[1] - c[1]), a[2] - c[2]) > shell->radius + s->radius) continue;
    s->shells[s->n_shells] = k, s->first[s->n_shells++] = s->n_functions;
    s->n_functions += xc_shell_size(shell);
  }
  s->columns = (int64_t)s->centre.ecp->l * s->centre.ecp->l * s->n;
done:
  return err;
}

/* Memory of one range of shells: directions for an atom, and its view. */
typedef struct looking {
  xc_ecp_angles angles;
  xc_ecp_view view;
} looking;

/* The atom of the k-th of the shells. */
static int32_t atom_of(const semilocal *s, int64_t k) {
  return s->basis->shells[s->shells[k]].atom;
}

/* Of the atom whose shells begin with the k-th. @param[in] extra  degrees above the functions' */
static tsl_err looking_create(const semilocal *s, int64_t k, int extra, looking **out) {
  tsl_err err = TSL_OK;
  double d[3];
  int most = 0;
  TSL_TRY(tsl_alloc(1, sizeof **out, "projections of functions", (void **)out));
  for (int64_t j = k; j < s->n_shells && atom_of(s, j) == atom_of(s, k); j++)
    if (s->basis->shells[s->shells[j]].l > most) most = s->basis->shells[s->shells[j]].l;
  for (int x = 0; x < 3; x++) d[x] = s->basis->shells[s->shells[k]].at[x] - s->centre.at[x];
  xc_ecp_angles_set(d, s->centre.ecp->l, most + extra, &(*out)->angles);
  (*out)->view.angles = &(*out)->angles, (*out)->view.r = s->r, (*out)->view.n = s->n;
done:
  return err;
}

/* Shells of atoms that begin in [lo, hi): an atom's directions serve all of them. */
static tsl_err see_shells(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const semilocal *s = context;
  looking *l = NULL;
  (void)slot;
  for (int64_t k = lo; k < hi; k++) {
    if (k > 0 && atom_of(s, k) == atom_of(s, k - 1)) continue;
    TSL_TRY(looking_create(s, k, 0, &l));
    for (int64_t j = k; j < s->n_shells && atom_of(s, j) == atom_of(s, k); j++)
      xc_ecp_project(&l->view, &s->basis->shells[s->shells[j]], s->seen + s->first[j] * s->columns);
    tsl_free(l), l = NULL;
  }
done:
  tsl_free(l);
  return err;
}

double xc_ecp_bytes(const xc_ecps *ecps, const xc_basis *basis, int threads) {
  const double n = (double)basis->n;
  double columns = 0;
  for (int64_t k = 0; k < ecps->n; k++)
    columns = fmax(columns, (double)ecps->list[k].l * ecps->list[k].l * XC_PROJECT_POINTS);
  if (ecps->n == 0) return 0;
  return 8 * (2 * n * columns + n * n) +
         threads * ((double)sizeof(looking) + 24 * XC_CARTESIANS(XC_MAX_L) * columns);
}

static void weigh(semilocal *s) {
  for (int64_t f = 0; f < s->n_functions; f++)
    for (int l = 0, lm = 0; l < s->centre.ecp->l; l++)
      for (int m = -l; m <= l; m++, lm++)
        for (int k = 0; k < s->n; k++) {
          const int64_t at = f * s->columns + (int64_t)lm * s->n + k;
          s->weighted[at] = s->weight[l][k] * s->seen[at];
        }
}

/* Projections of all functions that reach the centre; none when it has no projectors. */
static tsl_err semilocal_create(const xc_basis *basis, const xc_ecp_centre *centre, semilocal *s) {
  tsl_err err = TSL_OK;
  *s = (semilocal){.basis = basis, .centre = *centre};
  if (centre->ecp->l == 0) goto done;
  set_radii(s);
  TSL_TRY(choose_shells(s));
  TSL_TRY(xc_matrix_create(s->n_functions, s->columns, "projections of functions", &s->seen));
  TSL_TRY(xc_matrix_create(s->n_functions, s->columns, "projections of functions", &s->weighted));
  TSL_TRY(tsl_parallel(s->n_shells, 1, see_shells, s));
  weigh(s);
done:
  return err;
}

/* Functions that reach the centre, among all, [n_functions] from tsl_alloc; a matrix of them. */
static tsl_err places_of(const semilocal *s, int64_t **out, double **matrix) {
  tsl_err err = TSL_OK;
  const int64_t n = s->n_functions;
  TSL_TRY(tsl_alloc(n, sizeof **out, "functions near a core", (void **)out));
  TSL_TRY(xc_matrix_create(n, n, "functions near a core", matrix));
  for (int64_t k = 0; k < s->n_shells; k++) {
    const xc_shell *shell = &s->basis->shells[s->shells[k]];
    for (int i = 0; i < xc_shell_size(shell); i++) (*out)[s->first[k] + i] = shell->first + i;
  }
done:
  return err;
}

static tsl_err add_semilocal(semilocal *s, double *matrix) {
  tsl_err err = TSL_OK;
  const int64_t n = s->n_functions;
  int64_t *at = NULL;
  double *some = NULL;
  TSL_TRY(places_of(s, &at, &some));
  TSL_TRY(xc_matrix_product(n, n, s->columns, 1, s->seen, false, s->weighted, true, some));
  xc_matrix_symmetrise(n, 0.5, some);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) matrix[at[i] * s->basis->n + at[j]] += some[i * n + j];
done:
  TSL_FREE_ALL(at, some);
  return err;
}

/* ---------------------------------------------------------------- matrices */

/* Potentials of atoms with a core, from tsl_alloc. */
static tsl_err centres_of(const xc_molecule *molecule, const xc_ecps *ecps, xc_ecp_centre **out,
                          int64_t *n) {
  tsl_err err = TSL_OK;
  *n = 0;
  TSL_TRY(tsl_alloc(molecule->n_atoms, sizeof **out, "core potentials", (void **)out));
  for (int64_t a = 0; a < molecule->n_atoms; a++) {
    const xc_atom *atom = &molecule->atoms[a];
    if (atom->core == 0) continue;
    xc_ecp_centre *centre = &(*out)[(*n)++];
    *centre = (xc_ecp_centre){.ecp = xc_ecp_of(ecps, atom->z), .atom = a};
    memcpy(centre->at, atom->at, sizeof centre->at);
  }
done:
  return err;
}

/* Local parts of rows of shells, or their gradient in parts. */
typedef struct local {
  const xc_basis *basis;
  const xc_ecp_centre *centres;
  int64_t n, n_atoms;
  double *matrix;
  const double *density;
  double (*sums)[3]; /* [PARTS][n_atoms] */
} local;

static tsl_err local_rows(void *context, int slot, int64_t lo, int64_t hi) {
  const local *o = context;
  (void)slot;
  xc_ecp_local(o->basis, o->centres, o->n, lo, hi, o->matrix);
  return TSL_OK;
}

tsl_err xc_ecp_add(const xc_molecule *molecule, const xc_ecps *ecps, const xc_basis *basis,
                   double *matrix) {
  tsl_err err = TSL_OK;
  local o = {.basis = basis};
  xc_ecp_centre *centres = NULL;
  semilocal s = {.n = 0};
  TSL_TRY(centres_of(molecule, ecps, &centres, &o.n));
  if (o.n == 0) goto done;
  o.centres = centres;
  TSL_TRY(xc_matrix_create(basis->n, basis->n, "core potential", &o.matrix));
  TSL_TRY(tsl_parallel(basis->n_shells, 1, local_rows, &o));
  xc_matrix_add(basis->n * basis->n, 1, o.matrix, matrix);
  for (int64_t c = 0; c < o.n; c++) {
    semilocal_clear(&s);
    TSL_TRY(semilocal_create(basis, &centres[c], &s));
    if (s.n_functions > 0) TSL_TRY(add_semilocal(&s, matrix));
  }
done:
  semilocal_clear(&s);
  TSL_FREE_ALL(centres, o.matrix);
  return err;
}

/* --------------------------------------------------------------- gradients */

/* Rows of shells are dealt to so many sums, however many threads there are. */
enum { PARTS = 32 };

static tsl_err local_parts(void *context, int slot, int64_t lo, int64_t hi) {
  const local *o = context;
  (void)slot;
  for (int64_t part = lo; part < hi; part++)
    for (int64_t a = part; a < o->basis->n_shells; a += PARTS)
      xc_ecp_local_gradient(o->basis, o->centres, o->n, a, a + 1, o->density,
                            o->sums + part * o->n_atoms);
  return TSL_OK;
}

/* Forces on shells of atoms that begin in [lo, hi): 2 sum a' (w r^2 U sum_j D_ij a_j); the sum over
 * j is in `seen`. */
static tsl_err push_shells(void *context, int slot, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  const semilocal *s = context;
  looking *l = NULL;
  double *slopes = NULL;
  (void)slot;
  for (int64_t k = lo; k < hi; k++) {
    if (k > 0 && atom_of(s, k) == atom_of(s, k - 1)) continue;
    if (atom_of(s, k) == s->centre.atom) continue; /* they move with it */
    TSL_TRY(looking_create(s, k, 1, &l));
    TSL_TRY(xc_matrix_create(3 * XC_CARTESIANS(XC_MAX_L), s->columns, "derivatives of projections",
                             &slopes));
    for (int64_t j = k; j < s->n_shells && atom_of(s, j) == atom_of(s, k); j++) {
      const xc_shell *shell = &s->basis->shells[s->shells[j]];
      const int64_t length = xc_shell_size(shell) * s->columns;
      xc_ecp_project_slopes(&l->view, shell, slopes);
      for (int x = 0; x < 3; x++)
        s->force[j][x] =
            2 * xc_matrix_dot(length, slopes + x * length, s->seen + s->first[j] * s->columns);
    }
    tsl_free(l), l = NULL;
    tsl_free(slopes), slopes = NULL;
  }
done:
  tsl_free(l), tsl_free(slopes);
  return err;
}

static tsl_err semilocal_gradient(semilocal *s, const double *density, double (*gradient)[3]) {
  tsl_err err = TSL_OK;
  const int64_t n = s->n_functions;
  int64_t *at = NULL;
  double *some = NULL;
  TSL_TRY(places_of(s, &at, &some));
  TSL_TRY(tsl_alloc(s->n_shells, sizeof *s->force, "forces on shells", (void **)&s->force));
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) some[i * n + j] = density[at[i] * s->basis->n + at[j]];
  TSL_TRY(xc_matrix_product(n, s->columns, n, 1, some, false, s->weighted, false, s->seen));
  TSL_TRY(tsl_parallel(s->n_shells, 1, push_shells, s));
  for (int64_t k = 0; k < s->n_shells; k++)
    for (int x = 0; x < 3; x++) {
      gradient[atom_of(s, k)][x] += s->force[k][x];
      gradient[s->centre.atom][x] -= s->force[k][x];
    }
done:
  TSL_FREE_ALL(at, some);
  return err;
}

tsl_err xc_ecp_gradient(const xc_molecule *molecule, const xc_ecps *ecps, const xc_basis *basis,
                        const double *density, double (*gradient)[3]) {
  tsl_err err = TSL_OK;
  local o = {.basis = basis, .n_atoms = molecule->n_atoms, .density = density};
  xc_ecp_centre *centres = NULL;
  semilocal s = {.n = 0};
  TSL_TRY(centres_of(molecule, ecps, &centres, &o.n));
  if (o.n == 0) goto done;
  o.centres = centres;
  TSL_TRY(tsl_alloc(PARTS * o.n_atoms, sizeof *o.sums, "gradients", (void **)&o.sums));
  TSL_TRY(tsl_parallel(PARTS, 1, local_parts, &o));
  for (int64_t k = 0; k < PARTS * o.n_atoms; k++)
    for (int x = 0; x < 3; x++) gradient[k % o.n_atoms][x] += o.sums[k][x];
  for (int64_t c = 0; c < o.n; c++) {
    semilocal_clear(&s);
    TSL_TRY(semilocal_create(basis, &centres[c], &s));
    if (s.n_functions > 0) TSL_TRY(semilocal_gradient(&s, density, gradient));
  }
done:
  semilocal_clear(&s);
  TSL_FREE_ALL(centres, o.sums);
  return err;
}
