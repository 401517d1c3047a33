/* Cube files on the root: heads, then the text of slab after slab, which units have made. */
#include "xc_cubes.h"

#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void write_head(const xc_scf *scf, const xc_molecule *m, const xc_lattice *l,
                       const xc_cube *cube, FILE *file) {
  static const char *const titles[XC_N_CUBE_KINDS] = {
      "electron density, electrons/bohr^3", "spin density (alpha - beta), electrons/bohr^3",
      "electrostatic potential, hartree/e", "orbital, bohr^-3/2"};
  const bool orbital = cube->kind == XC_CUBE_ORBITAL;
  (void)fprintf(file, "tesela: %s\n", titles[cube->kind]);
  if (orbital)
    (void)fprintf(file, "orbital %lld of %s, %.10g hartree; bohr; x outermost, z innermost\n",
                  (long long)cube->orbital + 1, cube->spin == 0 ? "alpha" : "beta",
                  scf->levels[cube->spin][cube->orbital]);
  else
    (void)fprintf(file, "bohr; x outermost, z innermost\n");
  (void)fprintf(file, "%5lld%12.6f%12.6f%12.6f\n", (long long)(orbital ? -m->n_atoms : m->n_atoms),
                l->origin[0], l->origin[1], l->origin[2]);
  for (int k = 0; k < 3; k++)
    (void)fprintf(file, "%5lld%12.6f%12.6f%12.6f\n", (long long)l->points[k],
                  k == 0 ? l->step : 0.0, k == 1 ? l->step : 0.0, k == 2 ? l->step : 0.0);
  for (int64_t a = 0; a < m->n_atoms; a++)
    (void)fprintf(file, "%5d%12.6f%12.6f%12.6f%12.6f\n", (int)m->atoms[a].z,
                  (double)xc_nuclear(&m->atoms[a]), m->atoms[a].at[0], m->atoms[a].at[1],
                  m->atoms[a].at[2]);
  if (orbital) (void)fprintf(file, "%5d%5lld\n", 1, (long long)cube->orbital + 1);
}

/* Close the file of cube k; with an error it is lost. */
static void end_cube(xc_cubes *c, int64_t k, tsl_err err) {
  if (c->files[k].stream == NULL) return;
  err = tsl_new_file_close(&c->files[k], err);
  if (err != TSL_OK && c->lattice.cubes[k].kind == XC_CUBE_DENSITY) c->electrons = -1;
  (void)tsl_files_lose(xc_cube_key(&c->lattice.cubes[k]), err);
}

void xc_cubes_begin(const xc_scf *scf, const xc_molecule *molecule, xc_cubes *c) {
  for (int64_t k = 0; k < c->lattice.n; k++) {
    const xc_cube *cube = &c->lattice.cubes[k];
    if (tsl_files_lose(xc_cube_key(cube), tsl_new_file_open(c->names[k], &c->files[k]))) continue;
    write_head(scf, molecule, &c->lattice, cube, c->files[k].stream);
    if (cube->kind == XC_CUBE_DENSITY) c->electrons = 0;
  }
}

/* Blocks in their order, so it is the same sum whoever made them. */
static void add_electrons(xc_cubes *c, const double *sums) {
  const double step = c->lattice.step;
  double sum = 0;
  for (int64_t k = 0; k < xc_lattice_blocks(&c->lattice); k++) sum += sums[k];
  c->electrons += sum * step * step * step;
}

void xc_cubes_put(xc_cubes *c, int64_t slab, const char *text, const double *sums) {
  const xc_lattice *l = &c->lattice;
  const size_t bytes =
      (size_t)(xc_lattice_planes(l, slab) * l->points[1] * xc_lattice_row_bytes(l));
  if (c->electrons >= 0) add_electrons(c, sums);
  for (int64_t k = 0; k < l->n; k++) {
    FILE *file = c->files[k].stream;
    if (file == NULL || fwrite(text + k * xc_lattice_bytes(l), 1, bytes, file) == bytes) continue;
    end_cube(c, k,
             tsl_fail(TSL_ERR_IO, __FILE__, __LINE__, "'%s' cannot be written: %s", c->names[k],
                      strerror(errno)));
  }
}

void xc_cubes_end(xc_cubes *c) {
  for (int64_t k = 0; k < c->lattice.n; k++) end_cube(c, k, TSL_OK);
}
