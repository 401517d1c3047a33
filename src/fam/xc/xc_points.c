/* What the field is at points of space: the phases for it begin and go on, on the root. */
#include "xc_family.h"
#include "xc_hirshfeld.h"

#include <string.h>

/* Slab after slab; none are left: the files are whole. */
static void next_slab(tsl_problem *problem, int64_t slab, bool *more) {
  xc_own *own = xc_own_of(problem);
  *more = slab < xc_lattice_slabs(&own->cubes.lattice);
  if (*more)
    xc_set_task(problem, XC_TASK_CUBES, slab);
  else
    xc_cubes_end(&own->cubes);
}

static void begin_cubes(tsl_problem *problem, bool *more) {
  xc_own *own = xc_own_of(problem);
  const xc_scf *scf = &own->scf;
  const xc_lattice *l = &own->cubes.lattice;
  tsl_field *orbitals = &problem->fields[XC_IN_CUBES];
  double *to = orbitals->data;
  *more = l->n > 0;
  if (!*more) return;
  for (int64_t k = 0; k < l->n; k++) {
    if (l->cubes[k].kind != XC_CUBE_ORBITAL) continue;
    memcpy(to, scf->orbitals[l->cubes[k].spin] + l->cubes[k].orbital * scf->n,
           (size_t)scf->n * sizeof *to);
    to += scf->n;
  }
  tsl_field_touch(orbitals);
  xc_cubes_begin(scf, &own->molecule, &own->cubes);
  next_slab(problem, 0, more);
}

/* Sums of groups in their order, so the charges are the same bits whoever made them. */
static tsl_err take_shares(tsl_problem *problem) {
  tsl_err err = TSL_OK;
  xc_own *own = xc_own_of(problem);
  xc_groups local = own->groups;
  local.n = xc_local_groups(xc_params_of(problem));
  TSL_TRY(tsl_alloc(own->molecule.n_atoms, sizeof *own->hirshfeld, "charges",
                    (void **)&own->hirshfeld));
  xc_hirshfeld_charges(&own->molecule, &own->orbital, &local, problem->fields[XC_SUM_POINTS].data,
                       own->hirshfeld);
done:
  return err;
}

tsl_err xc_points_begin(tsl_problem *problem, bool *more) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  *more = p->shares || p->lattice.n > 0;
  if (!*more) goto done;
  if (p->shares)
    xc_set_task(problem, XC_TASK_SHARES, 0);
  else
    begin_cubes(problem, more);
  TSL_TRY(xc_put_whole(problem));
done:
  return err;
}

tsl_err xc_points_advance(tsl_problem *problem, bool *more) {
  tsl_err err = TSL_OK;
  const tsl_field *fields = problem->fields;
  const int64_t slab = xc_slab_of(problem);
  if (xc_task_of(problem) == XC_TASK_SHARES) {
    TSL_TRY(take_shares(problem));
    begin_cubes(problem, more);
    goto done;
  }
  xc_cubes_put(&xc_own_of(problem)->cubes, slab, fields[XC_SUM_TEXT].data,
               fields[XC_SUM_POINTS].data);
  next_slab(problem, slab + 1, more);
done:
  return err;
}
