/* Blocks and groups are dealt to threads, each with scratch memory of its own. */
#include "xc_sampler.h"

#include "xc_hirshfeld.h"
#include "xc_potential.h"

#include <omp.h>
#include <string.h>

/* What one thread owns. */
typedef struct sampler_thread {
  xc_sharing sharing; /* blocks use its values */
  int32_t *shells;    /* [n_shells] of a block */
} sampler_thread;

struct xc_sampler {
  const tsl_problem *problem;
  const xc_params *p;
  xc_view view;
  int threads;
  sampler_thread *thread;  /* [threads] */
  double *spin;            /* [n][n] of this phase's density; NULL: not made yet */
  xc_potential *potential; /* likewise */
  xc_free_atoms atoms;     /* basis NULL: not solved yet */
  char *text;              /* as XC_SUM_TEXT, of this phase; NULL: nothing is in it yet */
  double *sums;            /* as XC_SUM_POINTS, likewise */
  int64_t *list;           /* [room] blocks or groups of a run */
  int64_t room;
};

/* ------------------------------------------------------------------- failures */

/* The first failure of some threads, with its message. */
static void note(tsl_err_copy *first, tsl_err err) {
  if (err == TSL_OK) return;
#pragma omp critical(xc_sampler)
  if (first->code == TSL_OK) tsl_err_save(err, first);
}

static tsl_err outcome(const tsl_err_copy *first) {
  return first->code == TSL_OK ? TSL_OK : tsl_err_restore(first);
}

/* -------------------------------------------------------------------- memory */

tsl_err xc_sampler_open(const tsl_problem *problem, int threads, xc_sampler **out) {
  tsl_err err = TSL_OK;
  xc_sampler *s = NULL;
  const xc_params *p = xc_params_of(problem);
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *s, "sampler", (void **)&s));
  s->problem = problem, s->p = p, s->threads = threads;
  xc_view_set(problem, &s->view);
  TSL_TRY(tsl_alloc(threads, sizeof *s->thread, "threads", (void **)&s->thread));
  for (int t = 0; t < threads && p->lattice.n > 0; t++)
    TSL_TRY(tsl_alloc(p->n_shells, sizeof *s->thread->shells, "shells of a block",
                      (void **)&s->thread[t].shells));
  *out = s;
done:
  if (err != TSL_OK) xc_sampler_close(&s);
  return err;
}

void xc_sampler_begin(xc_sampler *s) {
  xc_potential_destroy(&s->potential);
  TSL_FREE_ALL(s->spin, s->text, s->sums);
  s->spin = NULL, s->text = NULL, s->sums = NULL;
}

void xc_sampler_close(xc_sampler **sampler) {
  xc_sampler *s = *sampler;
  if (s == NULL) return;
  xc_sampler_begin(s);
  for (int t = 0; s->thread != NULL && t < s->threads; t++) {
    xc_sharing_clear(&s->thread[t].sharing);
    tsl_free(s->thread[t].shells);
  }
  xc_free_atoms_clear(&s->atoms);
  TSL_FREE_ALL(s->thread, s->list, s);
  *sampler = NULL;
}

/* ---------------------------------------------------------------- what is asked */

bool xc_sampler_takes(const xc_sampler *s, const tsl_unit *units) {
  return units[0].kind == XC_UNIT_LATTICE || xc_task_of(s->problem) == XC_TASK_SHARES;
}

/* The kind of unit that has work. */
static int working_kind(const xc_sampler *s) {
  return xc_task_of(s->problem) == XC_TASK_SHARES ? XC_UNIT_GROUP : XC_UNIT_LATTICE;
}

/* Bytes of the text, and numbers of the sums, of a phase for a task. */
static int64_t text_bytes(const xc_params *p, xc_task task) {
  return task == XC_TASK_CUBES ? p->lattice.n * xc_lattice_bytes(&p->lattice) : 0;
}

static int64_t sum_numbers(const xc_sampler *s, xc_task task) {
  if (task == XC_TASK_SHARES) return s->problem->fields[XC_IN_LISTS].shape[0];
  return task == XC_TASK_CUBES ? xc_lattice_blocks(&s->p->lattice) : 0;
}

static tsl_err set_list(xc_sampler *s, const tsl_unit *units, int64_t n, int64_t *length) {
  tsl_err err = TSL_OK;
  const int kind = working_kind(s);
  *length = 0;
  for (int64_t u = 0; u < n; u++) {
    if (units[u].kind != kind) continue;
    TSL_TRY(tsl_grow((void **)&s->list, *length, units[u].hi[0] - units[u].lo[0], &s->room,
                     sizeof *s->list, "blocks of a run"));
    for (int64_t k = units[u].lo[0]; k < units[u].hi[0]; k++) s->list[(*length)++] = k;
  }
done:
  return err;
}

/* ------------------------------------------------------------- of the density */

static tsl_err make_spin(xc_sampler *s) {
  tsl_err err = TSL_OK;
  const int64_t nn = s->p->n * s->p->n;
  if (s->spin != NULL || !xc_lattice_has(&s->p->lattice, XC_CUBE_SPIN)) goto done;
  const double *const of[2] = {xc_asked_spin(s->problem, 0), xc_asked_spin(s->problem, 1)};
  TSL_TRY(tsl_alloc(nn, sizeof *s->spin, "spin density", (void **)&s->spin));
  for (int64_t k = 0; k < nn; k++) s->spin[k] = of[0][k] - of[1][k];
done:
  return err;
}

static tsl_err make_potential(xc_sampler *s) {
  tsl_err err = TSL_OK;
  tsl_err_copy first = {.code = TSL_OK};
  const tsl_field *charges = &s->problem->fields[XC_IN_CHARGES];
  if (s->potential != NULL || !xc_lattice_has(&s->p->lattice, XC_CUBE_POTENTIAL)) goto done;
  TSL_TRY(xc_potential_create(charges->data, charges->shape[0], &s->view.orbital, &s->potential));
#pragma omp parallel for schedule(dynamic) num_threads(s->threads)
  for (int64_t k = s->p->n_shells - 1; k >= 0; k--)
    note(&first, xc_potential_shell(s->potential, xc_asked_total(s->problem), k));
  TSL_TRY(outcome(&first));
done:
  if (err != TSL_OK) xc_potential_destroy(&s->potential);
  return err;
}

/* Of no density: once. */
static tsl_err make_atoms(xc_sampler *s) {
  tsl_err err = TSL_OK;
  tsl_err_copy first = {.code = TSL_OK};
  if (s->atoms.basis != NULL) goto done;
  TSL_TRY(xc_free_atoms_create(s->problem->fields[XC_IN_ATOMS].data, s->p->n_atoms,
                               &s->view.orbital, &s->atoms));
#pragma omp parallel for schedule(dynamic) num_threads(s->threads)
  for (int32_t z = XC_MAX_Z; z > 0; z--) note(&first, xc_free_atoms_solve(&s->atoms, z));
  TSL_TRY(outcome(&first));
done:
  if (err != TSL_OK) xc_free_atoms_clear(&s->atoms);
  return err;
}

static tsl_err prepare(xc_sampler *s, xc_task task) {
  tsl_err err = TSL_OK;
  if (task == XC_TASK_SHARES)
    TSL_TRY(make_atoms(s));
  else {
    TSL_TRY(make_spin(s));
    TSL_TRY(make_potential(s));
    if (s->text == NULL)
      TSL_TRY(tsl_alloc(text_bytes(s->p, task), 1, "text of cubes", (void **)&s->text));
  }
  if (s->sums == NULL)
    TSL_TRY(tsl_alloc(sum_numbers(s, task), sizeof *s->sums, "sums of points", (void **)&s->sums));
done:
  return err;
}

/* ------------------------------------------------------------------------- run */

static void cube_values(const xc_sampler *s, int64_t k, const xc_values *values,
                        const xc_places *points, double *out) {
  const xc_lattice *l = &s->p->lattice;
  const double *orbitals = s->problem->fields[XC_IN_CUBES].data;
  if (l->cubes[k].kind == XC_CUBE_DENSITY)
    xc_values_density(values, xc_asked_total(s->problem), out);
  else if (l->cubes[k].kind == XC_CUBE_SPIN)
    xc_values_density(values, s->spin, out);
  else if (l->cubes[k].kind == XC_CUBE_POTENTIAL)
    xc_potential_at(s->potential, points, out);
  else
    xc_values_orbital(values, orbitals + xc_lattice_row(l, k) * s->p->n, out);
}

static tsl_err do_block(xc_sampler *s, sampler_thread *t, int64_t number) {
  tsl_err err = TSL_OK;
  const xc_lattice *l = &s->p->lattice;
  const xc_basis *basis = &s->view.orbital;
  double out[XC_PLACES];
  xc_block b;
  xc_lattice_block(l, xc_slab_of(s->problem), number, &b);
  if (b.points.n == 0) goto done;
  int64_t n = 0;
  for (int64_t k = 0; k < basis->n_shells; k++)
    if (xc_block_meets(&b, &basis->shells[k])) t->shells[n++] = (int32_t)k;
  TSL_TRY(xc_values_fill(basis, t->shells, n, &b.points, &t->sharing.values));
  for (int64_t k = 0; k < l->n; k++) {
    cube_values(s, k, &t->sharing.values, &b.points, out);
    xc_lattice_text(l, &b, k, out, s->text);
    for (int64_t p = 0; p < b.points.n && l->cubes[k].kind == XC_CUBE_DENSITY; p++)
      s->sums[number] += out[p];
  }
done:
  return err;
}

static tsl_err do_group(xc_sampler *s, sampler_thread *t, int64_t number) {
  const xc_group *g = &s->view.groups[number];
  const double *point[4];
  for (int k = 0; k < 4; k++) point[k] = s->view.point[k] + g->first;
  return xc_hirshfeld_group(&s->atoms, g, s->view.lists + g->shells, point,
                            xc_asked_total(s->problem), &t->sharing, s->sums + g->shells);
}

tsl_err xc_sampler_run(xc_sampler *s, const tsl_unit *units, int64_t n) {
  tsl_err err = TSL_OK;
  tsl_err_copy first = {.code = TSL_OK};
  const bool shares = working_kind(s) == XC_UNIT_GROUP;
  int64_t length = 0;
  TSL_TRY(set_list(s, units, n, &length));
  if (length == 0) goto done;
  TSL_TRY(prepare(s, shares ? XC_TASK_SHARES : XC_TASK_CUBES));
#pragma omp parallel for schedule(dynamic) num_threads(s->threads)
  for (int64_t i = 0; i < length; i++) {
    sampler_thread *t = &s->thread[omp_get_thread_num()];
    note(&first, shares ? do_group(s, t, s->list[i]) : do_block(s, t, s->list[i]));
  }
  TSL_TRY(outcome(&first));
done:
  return err;
}

void xc_sampler_spread(const xc_sampler *s, double seconds, const tsl_unit *units, int64_t n,
                       tsl_part *parts) {
  const int kind = working_kind(s);
  double all = 0;
  for (int64_t u = 0; u < n; u++) all += units[u].kind == kind ? units[u].count : 0;
  for (int64_t u = 0; u < n; u++)
    parts[u].seconds = units[u].kind == kind && all > 0 ? seconds * units[u].count / all : 0;
}

/* --------------------------------------------------------------------- collect */

/* What a rank has made goes over to the field, zeros where it has made nothing. */
static tsl_err hand_over(tsl_field *field, int64_t length, void *made) {
  tsl_err err = TSL_OK;
  tsl_free(field->data);
  field->data = made;
  field->shape[0] = length;
  if (made == NULL) TSL_TRY(tsl_field_allocate(field));
done:
  return err;
}

tsl_err xc_sampler_collect(xc_sampler *s, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const xc_task task = xc_task_of(problem);
  const int64_t bytes = text_bytes(s->p, task), numbers = sum_numbers(s, task);
  if (s->p->lattice.n == 0 && !s->p->shares) goto done;
  if (bytes == 0) tsl_free(s->text), s->text = NULL;
  if (numbers == 0) tsl_free(s->sums), s->sums = NULL;
  char *text = s->text;
  double *sums = s->sums;
  s->text = NULL, s->sums = NULL;
  TSL_TRY(hand_over(&problem->fields[XC_SUM_TEXT], bytes, text));
  TSL_TRY(hand_over(&problem->fields[XC_SUM_POINTS], numbers, sums));
done:
  return err;
}
