/* Molecules in MolSSI's QCSchema; jansson's header is visible here alone. */
#include "xc_molecule.h"
#include "xc_words.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Longest file that is read as JSON. */
static const int64_t longest = INT64_C(64) << 20;

static tsl_err xc_molecule_json_parse(const char *path, const char *text, int64_t bytes,
                                      json_t **root) {
  tsl_err err = TSL_OK;
  json_error_t at;
  *root = NULL;
  if (bytes > longest)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld bytes; a JSON file may have %lld", path, (long long)bytes,
             (long long)longest);
  *root = json_loadb(text, (size_t)bytes, JSON_REJECT_DUPLICATES, &at);
  if (*root == NULL) TSL_FAIL(TSL_ERR_INPUT, "%s:%d:%d: %s", path, at.line, at.column, at.text);
  if (!json_is_object(*root)) TSL_FAIL(TSL_ERR_INPUT, "%s: not a JSON object", path);
done:
  return err;
}

/* Array member of an object, n entries long (n < 0: any). */
static tsl_err find_array(const char *path, const json_t *object, const char *key, int64_t n,
                          const json_t **array) {
  tsl_err err = TSL_OK;
  *array = json_object_get(object, key);
  if (!json_is_array(*array))
    TSL_FAIL(TSL_ERR_INPUT, "%s: '%s' is %s; an array is needed", path, key,
             *array == NULL ? "missing" : "of another type");
  if (n >= 0 && (int64_t)json_array_size(*array) != n)
    TSL_FAIL(TSL_ERR_INPUT, "%s: '%s' has %lld entries; %lld are needed", path, key,
             (long long)json_array_size(*array), (long long)n);
done:
  return err;
}

/* Integral number, standard when absent. */
static tsl_err find_integer(const char *path, const json_t *object, const char *key,
                            int32_t standard, int32_t lo, int32_t hi, int32_t *out) {
  tsl_err err = TSL_OK;
  const json_t *value = json_object_get(object, key);
  *out = standard;
  if (value == NULL) goto done;
  const double real = json_number_value(value);
  if (!json_is_number(value) || !(real >= lo && real <= hi) || real != floor(real))
    TSL_FAIL(TSL_ERR_INPUT, "%s: '%s' must be an integer in %d..%d", path, key, (int)lo, (int)hi);
  *out = (int32_t)real;
done:
  return err;
}

/* Text member, "" when absent. */
static tsl_err find_text(const char *path, const json_t *object, const char *key, size_t room,
                         char *out) {
  tsl_err err = TSL_OK;
  const json_t *value = json_object_get(object, key);
  memset(out, 0, room);
  if (value == NULL || json_is_null(value)) goto done;
  if (!json_is_string(value)) TSL_FAIL(TSL_ERR_INPUT, "%s: '%s' must be a text", path, key);
  if (json_string_length(value) >= room || strlen(json_string_value(value)) == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: '%s' must have 1 to %zu characters", path, key, room - 1);
  (void)strcpy(out, json_string_value(value));
done:
  return err;
}

static tsl_err read_atom(const char *path, const json_t *symbols, const json_t *geometry, size_t k,
                         xc_atom *atom) {
  tsl_err err = TSL_OK;
  const char *symbol = json_string_value(json_array_get(symbols, k));
  char shown[48];
  if (symbol == NULL) TSL_FAIL(TSL_ERR_INPUT, "%s: symbols[%zu] is no text", path, k);
  atom->z = xc_element(symbol);
  if (atom->z == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: symbols[%zu]: unknown element '%s'; H to %s are known", path, k,
             table_shown(symbol, symbol + strlen(symbol), shown), xc_symbol(XC_MAX_Z));
  for (size_t i = 0; i < 3; i++) {
    const json_t *number = json_array_get(geometry, 3 * k + i);
    if (!json_is_number(number))
      TSL_FAIL(TSL_ERR_INPUT, "%s: geometry[%zu] is no number", path, 3 * k + i);
    atom->at[i] = json_number_value(number);
  }
done:
  return err;
}

/* Atoms that are not real are ghosts. */
static tsl_err read_real(const char *path, const json_t *object, size_t n, xc_atom *atoms) {
  tsl_err err = TSL_OK;
  const json_t *real = NULL;
  if (json_object_get(object, "real") == NULL) goto done;
  TSL_TRY(find_array(path, object, "real", (int64_t)n, &real));
  for (size_t k = 0; k < n; k++) {
    const json_t *value = json_array_get(real, k);
    if (!json_is_boolean(value))
      TSL_FAIL(TSL_ERR_INPUT, "%s: real[%zu] is neither true nor false", path, k);
    atoms[k].ghost = !json_is_true(value);
  }
done:
  return err;
}

static tsl_err read_molecule(const char *path, const json_t *object, xc_molecule *molecule) {
  tsl_err err = TSL_OK;
  const json_t *symbols = NULL, *geometry = NULL;
  xc_atom *atoms = NULL;
  if (!json_is_object(object)) TSL_FAIL(TSL_ERR_INPUT, "%s: 'molecule' is no object", path);
  TSL_TRY(find_array(path, object, "symbols", -1, &symbols));
  const size_t n = json_array_size(symbols);
  if (n < 1 || n > XC_MAX_ATOMS)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %zu symbols; 1 to %d are allowed", path, n, XC_MAX_ATOMS);
  TSL_TRY(find_array(path, object, "geometry", 3 * (int64_t)n, &geometry));
  TSL_TRY(find_integer(path, object, "molecular_charge", 0, -XC_MAX_CHARGE, XC_MAX_CHARGE,
                       &molecule->charge));
  TSL_TRY(find_integer(path, object, "molecular_multiplicity", 0, 1, INT32_MAX,
                       &molecule->multiplicity));
  TSL_TRY(tsl_alloc((int64_t)n, sizeof *atoms, "atoms", (void **)&atoms));
  for (size_t k = 0; k < n; k++) TSL_TRY(read_atom(path, symbols, geometry, k, &atoms[k]));
  TSL_TRY(read_real(path, object, n, atoms));
  tsl_free(molecule->atoms);
  molecule->atoms = atoms, molecule->n_atoms = (int64_t)n;
  atoms = NULL;
done:
  tsl_free(atoms);
  return err;
}

static tsl_err read_model(const char *path, const json_t *root, xc_model *model) {
  tsl_err err = TSL_OK;
  const json_t *object = json_object_get(root, "model");
  TSL_TRY(find_text(path, root, "driver", sizeof model->driver, model->driver));
  if (json_object_size(json_object_get(root, "keywords")) > 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s: 'keywords' are those of another program; leave them out and use a deck or --set",
             path);
  if (object == NULL) goto done;
  if (!json_is_object(object)) TSL_FAIL(TSL_ERR_INPUT, "%s: 'model' is no object", path);
  TSL_TRY(find_text(path, object, "method", sizeof model->method, model->method));
  TSL_TRY(find_text(path, object, "basis", sizeof model->basis, model->basis));
done:
  return err;
}

/* Point charges as outputs have them, x y z q in turn (bohr): extras.tesela.point_charges. */
static tsl_err read_charges(const char *path, const json_t *root, xc_charge **out, int64_t *count) {
  tsl_err err = TSL_OK;
  const json_t *own = json_object_get(json_object_get(root, "extras"), "tesela"), *list = NULL;
  xc_charge *charges = NULL;
  double number[4];
  if (json_object_get(own, "point_charges") == NULL) goto done;
  TSL_TRY(find_array(path, own, "point_charges", -1, &list));
  const size_t n = json_array_size(list);
  if (n % 4 != 0 || n == 0)
    TSL_FAIL(TSL_ERR_INPUT, "%s: 'point_charges' has %zu numbers; x y z q of each are needed", path,
             n);
  TSL_TRY(tsl_alloc((int64_t)(n / 4), sizeof *charges, "point charges", (void **)&charges));
  for (size_t k = 0; k < n; k++) {
    const json_t *value = json_array_get(list, k);
    if (!json_is_number(value))
      TSL_FAIL(TSL_ERR_INPUT, "%s: point_charges[%zu] is no number", path, k);
    number[k % 4] = json_number_value(value);
    charges[k / 4] = (xc_charge){{number[0], number[1], number[2]}, number[3]};
  }
  *out = charges, *count = (int64_t)(n / 4);
  charges = NULL;
done:
  tsl_free(charges);
  return err;
}

tsl_err xc_molecule_parse_json(const char *path, const char *text, int64_t bytes,
                               xc_molecule *molecule, xc_model *model) {
  tsl_err err = TSL_OK;
  json_t *root = NULL;
  xc_charge *charges = NULL;
  int64_t n_charges = 0;
  memset(model, 0, sizeof *model);
  TSL_TRY(xc_molecule_json_parse(path, text, bytes, &root));
  const json_t *inner = json_object_get(root, "molecule");
  TSL_TRY(read_model(path, root, model));
  TSL_TRY(read_charges(path, root, &charges, &n_charges));
  TSL_TRY(read_molecule(path, inner != NULL ? inner : root, molecule));
  if (n_charges == 0) goto done;
  tsl_free(molecule->charges);
  molecule->charges = charges, molecule->n_charges = n_charges;
  charges = NULL;
done:
  tsl_free(charges);
  json_decref(root);
  return err;
}

tsl_err xc_molecule_read_json(const char *path, xc_molecule *molecule, xc_model *model) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  int64_t bytes = 0;
  TSL_TRY(table_file_load(path, &text, &bytes));
  TSL_TRY(xc_molecule_parse_json(path, text, bytes, molecule, model));
done:
  tsl_free(text);
  return err;
}
