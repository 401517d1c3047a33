/**
 * @file xc_qcschema.c
 * The result as MolSSI's QCSchema: an AtomicResult (schema_name qcschema_output, version 1), which
 * xc_molecule_read_json reads as well. Source: https://github.com/MolSSI/QCSchema, version 1.
 */
#include "xc_qcschema.h"

#include <math.h>
#include <stdio.h>

/** Steals value; false when memory is short. */
static bool xc_qcschema_put(json_t *object, const char *key, json_t *value) {
  return json_object_set_new(object, key, value) == 0;
}

static json_t *reals(const double *list, int64_t n) {
  json_t *array = json_array();
  for (int64_t k = 0; k < n; k++)
    if (json_array_append_new(array, json_real(list[k])) != 0) break;
  return array;
}

static json_t *provenance_of(const char *routine) {
  return json_pack("{s:s, s:s, s:s}", "creator", "tesela", "version", TSL_PROJECT_VERSION,
                   "routine", routine);
}

static json_t *molecule_of(const xc_molecule *m) {
  json_t *symbols = json_array(), *geometry = json_array(), *real = json_array();
  for (int64_t k = 0; k < m->n_atoms; k++) {
    (void)json_array_append_new(symbols, json_string(xc_symbol(m->atoms[k].z)));
    (void)json_array_append_new(real, json_boolean(!m->atoms[k].ghost));
    for (int x = 0; x < 3; x++) (void)json_array_append_new(geometry, json_real(m->atoms[k].at[x]));
  }
  return json_pack("{s:s, s:i, s:o, s:o, s:o, s:f, s:i, s:b, s:b, s:o}", "schema_name",
                   "qcschema_molecule", "schema_version", 2, "symbols", symbols, "geometry",
                   geometry, "real", real, "molecular_charge", (double)m->charge,
                   "molecular_multiplicity", (int)m->multiplicity, "fix_com", 1, "fix_orientation",
                   1, "provenance", provenance_of("tesela run"));
}

/** Of all atoms; null when the field did not converge. */
static json_t *gradient_of(const xc_own *own) {
  return own->gradient_done ? reals(own->gradient[0], 3 * own->molecule.n_atoms) : json_null();
}

static json_t *properties_of(const xc_params *p, const xc_own *own) {
  const xc_scf *scf = &own->scf;
  const xc_energies *e = &scf->energies;
  json_t *object = json_object();
  (void)xc_qcschema_put(object, "calcinfo_nbasis", json_integer(p->n));
  (void)xc_qcschema_put(object, "calcinfo_nmo", json_integer(scf->m));
  (void)xc_qcschema_put(object, "calcinfo_nalpha", json_integer(scf->electrons[0]));
  (void)xc_qcschema_put(object, "calcinfo_nbeta", json_integer(scf->electrons[1]));
  (void)xc_qcschema_put(object, "calcinfo_natom", json_integer(own->molecule.n_atoms));
  (void)xc_qcschema_put(object, "nuclear_repulsion_energy", json_real(e->nuclei));
  (void)xc_qcschema_put(object, "return_energy", json_real(e->total));
  (void)xc_qcschema_put(object, "scf_one_electron_energy", json_real(e->kinetic + e->attraction));
  (void)xc_qcschema_put(object, "scf_two_electron_energy", json_real(e->coulomb + e->exchange));
  (void)xc_qcschema_put(object, "scf_xc_energy", json_real(e->xc));
  if (own->dispersion.kind != XC_DISPERSION_NONE)
    (void)xc_qcschema_put(object, "scf_dispersion_correction_energy", json_real(e->dispersion));
  (void)xc_qcschema_put(object, "scf_dipole_moment", reals(own->dipole, 3));
  (void)xc_qcschema_put(object, "scf_total_energy", json_real(e->total));
  if (own->gradient_done) {
    (void)xc_qcschema_put(object, "return_gradient", gradient_of(own));
    (void)xc_qcschema_put(object, "scf_total_gradient", gradient_of(own));
  }
  (void)xc_qcschema_put(object, "scf_iterations", json_integer(scf->iteration));
  return object;
}

/** What QCSchema has no names for. */
static json_t *extras_of(const xc_own *own, const double *charges) {
  const xc_scf *scf = &own->scf;
  const xc_molecule *m = &own->molecule;
  json_t *inner = json_object(), *outer = json_object();
  (void)xc_qcschema_put(inner, "kinetic_energy", json_real(scf->energies.kinetic));
  (void)xc_qcschema_put(inner, "exact_exchange_energy", json_real(scf->energies.exchange));
  (void)xc_qcschema_put(inner, "coulomb_energy", json_real(scf->energies.coulomb));
  (void)xc_qcschema_put(
      inner, "electrons_integrated",
      json_real(own->integrals[XC_INTEGRAL_ALPHA] + own->integrals[XC_INTEGRAL_BETA]));
  (void)xc_qcschema_put(inner, "mulliken_charges", reals(charges, m->n_atoms));
  if (own->hirshfeld != NULL)
    (void)xc_qcschema_put(inner, "hirshfeld_charges", reals(own->hirshfeld, m->n_atoms));
  (void)xc_qcschema_put(inner, "orbital_energies", reals(scf->levels[0], scf->m));
  if (scf->n_spin == 2)
    (void)xc_qcschema_put(inner, "orbital_energies_beta", reals(scf->levels[1], scf->m));
  if (scf->options.smearing != XC_SMEARING_NONE)
    (void)xc_qcschema_put(inner, "free_energy",
                          json_real(scf->energies.total - scf->options.width * scf->entropy));
  if (own->stability.known && isfinite(own->stability.lowest))
    (void)xc_qcschema_put(inner, "lowest_second_derivative", json_real(own->stability.lowest));
  if (m->n_charges > 0)
    (void)xc_qcschema_put(inner, "point_charges",
                          reals((const double *)m->charges, 4 * m->n_charges));
  if (own->lennard_jones.sites != NULL)
    (void)xc_qcschema_put(inner, "lennard_jones_energy", json_real(scf->energies.lennard_jones));
  if (own->gradient_done && m->n_charges > 0)
    (void)xc_qcschema_put(inner, "charge_gradient",
                          reals(own->gradient[m->n_atoms], 3 * m->n_charges));
  (void)xc_qcschema_put(outer, "tesela", inner);
  return outer;
}

static json_t *error_of(const xc_scf *scf) {
  char text[128];
  if (scf->state == XC_SCF_CONVERGED) return json_null();
  (void)snprintf(text, sizeof text, "not converged in %d iterations: the commutator is %.2e",
                 (int)scf->iteration, scf->commutator);
  return json_pack("{s:s, s:s}", "error_type", "convergence_error", "error_message", text);
}

static json_t *result_of(const xc_params *p, const xc_own *own, const double *charges) {
  const bool good = own->scf.state == XC_SCF_CONVERGED;
  return json_pack(
      "{s:s, s:i, s:o, s:s, s:{s:s, s:s}, s:{}, s:o, s:o, s:o, s:b, s:n, s:n, s:o, s:o}",
      "schema_name", "qcschema_output", "schema_version", 1, "molecule",
      molecule_of(&own->molecule), "driver", p->gradient ? "gradient" : "energy", "model", "method",
      own->method, "basis", own->basis_name, "keywords", "properties", properties_of(p, own),
      "return_result", p->gradient ? gradient_of(own) : json_real(own->scf.energies.total),
      "extras", extras_of(own, charges), "success", good, "stdout", "stderr", "error",
      error_of(&own->scf), "provenance", provenance_of("xc"));
}

tsl_err xc_qcschema_result(const xc_params *p, const xc_own *own, json_t **result) {
  tsl_err err = TSL_OK;
  double *charges = NULL;
  *result = NULL;
  TSL_TRY(tsl_alloc(own->molecule.n_atoms, sizeof *charges, "charges", (void **)&charges));
  xc_scf_mulliken(&own->scf, &own->molecule, &own->orbital, charges);
  *result = result_of(p, own, charges);
  if (*result == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for the result as JSON");
done:
  tsl_free(charges);
  return err;
}

tsl_err xc_qcschema_write(const xc_params *p, const xc_own *own, FILE *file) {
  tsl_err err = TSL_OK;
  json_t *root = NULL;
  TSL_TRY(xc_qcschema_result(p, own, &root));
  if (json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) != 0)
    TSL_FAIL(TSL_ERR_IO, "the result cannot be written as JSON");
  (void)fputc('\n', file);
done:
  json_decref(root);
  return err;
}
