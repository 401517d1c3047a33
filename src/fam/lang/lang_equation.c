/* Equations of decks: quantities and parameters, the fields of their text. */
#include "lang_equation.h"

#include "lang_objects.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const tsl_key lang_quantity_keys[] = {TSL_TEXT_KEY("name", offsetof(lang_quantity, name), NULL,
                                                   "Its name: q is q_i, q_j, ... in the equation."),
                                      TSL_INT_KEY("column", offsetof(lang_quantity, column), NULL,
                                                  0, 0x1p24,
                                                  "Column of the input, counted from 0."),
                                      {0}};

const tsl_key lang_parameter_keys[] = {
    TSL_TEXT_KEY("name", offsetof(lang_parameter, name), NULL, "Its name."),
    TSL_REAL_KEY("value", offsetof(lang_parameter, value), NULL, 0, 0, "Its number."),
    {0}};

/* -------------------------------------------------------------------- names */

const char *lang_key(const lang_place *place, const char *key, char path[LANG_PATH]) {
  (void)snprintf(path, LANG_PATH, "%s.%s", place->path, key);
  return path;
}

static const char *key_of(const lang_place *place, const char *list, uint64_t n, const char *key,
                          char path[LANG_PATH]) {
  (void)snprintf(path, LANG_PATH, "%s.%s[%llu].%s", place->path, list, (unsigned long long)n, key);
  return path;
}

void lang_add_scalar(lang_names *names, const char *name, lang_kind kind, double value) {
  lang_scalar *s = &names->scalars[names->n_scalars++];
  (void)snprintf(s->name, sizeof s->name, "%.31s", name);
  s->kind = (int32_t)kind;
  s->whole = kind == LANG_WHOLE ? (int64_t)value : 0;
  s->real = value;
}

/** May a user's name be one? The functions' words are none. */
static tsl_err check_name(const tsl_deck *deck, const lang_names *names, const char *name,
                          const char *path) {
  tsl_err err = TSL_OK;
  for (int f = 0; lang_function_words[f] != NULL; f++)
    if (strcmp(name, lang_function_words[f]) == 0)
      TSL_DECK_FAIL(deck, path, "'%s' is a function of the language; choose another name", name);
  TSL_TRY(tsl_deck_blame(deck, path, lang_check_name(names, name)));
done:
  return err;
}

static tsl_err add_quantity(const lang_place *place, const char *quantity, uint64_t n,
                            const char *points, lang_names *names) {
  tsl_err err = TSL_OK;
  char path[LANG_PATH], name[LANG_NAME_MAX + 4];
  (void)key_of(place, "quantities", n, "name", path);
  if (strlen(quantity) > LANG_NAME_MAX - 3)
    TSL_DECK_FAIL(place->deck, path, "a name of more than %d letters", LANG_NAME_MAX - 3);
  for (const char *point = points; *point != '\0'; point++) {
    (void)snprintf(name, sizeof name, "%s_%c", quantity, *point);
    TSL_TRY(check_name(place->deck, names, name, path));
    lang_add_scalar(names, name, LANG_REAL, 0);
  }
done:
  return err;
}

tsl_err lang_add_quantities(const lang_place *place, const tsl_maps *list, const char *points,
                            lang_names *names) {
  tsl_err err = TSL_OK;
  const lang_quantity *q = list->values;
  char path[LANG_PATH];
  if (list->n > LANG_QUANTITIES_MAX)
    TSL_DECK_FAIL(place->deck, lang_key(place, "quantities", path), "more than %d quantities",
                  LANG_QUANTITIES_MAX);
  for (uint64_t n = 0; n < list->n; n++) TSL_TRY(add_quantity(place, q[n].name, n, points, names));
done:
  return err;
}

tsl_err lang_add_parameters(const lang_place *place, const tsl_maps *list, lang_names *names) {
  tsl_err err = TSL_OK;
  const lang_parameter *p = list->values;
  char path[LANG_PATH];
  if (list->n > LANG_PARAMETERS_MAX)
    TSL_DECK_FAIL(place->deck, lang_key(place, "parameters", path), "more than %d parameters",
                  LANG_PARAMETERS_MAX);
  for (uint64_t n = 0; n < list->n; n++) {
    TSL_TRY(
        check_name(place->deck, names, p[n].name, key_of(place, "parameters", n, "name", path)));
    if (!lang_real_fits(place->type == TSL_F32, p[n].value))
      TSL_DECK_FAIL(place->deck, key_of(place, "parameters", n, "value", path),
                    "%g does not fit %s", p[n].value,
                    place->type == TSL_F32 ? "fp32; use precision: fp64" : "fp64");
    lang_add_scalar(names, p[n].name, LANG_REAL, p[n].value);
  }
done:
  return err;
}

/* ------------------------------------------------------------------- fields */

static tsl_err add_field(tsl_problem *problem, const char *name, const char *doc, tsl_type type,
                         int64_t n, void *data) {
  tsl_err err = TSL_OK;
  tsl_field *added = NULL;
  tsl_field field = {.role = TSL_IN,
                     .type = (int32_t)type,
                     .rank = 1,
                     .shape = {n, 1, 1},
                     .hidden = 1,
                     .device = 1};
  tsl_field_label(&field, name, "1", doc);
  TSL_TRY(tsl_problem_add(problem, &field, &added));
  added->data = data;
done:
  return err;
}

tsl_err lang_fields_add(tsl_problem *problem, lang_text *text, const lang_pair_uses *uses,
                        uint32_t *hash) {
  tsl_err err = TSL_OK;
  double *constants = NULL;
  *hash = 0;
  TSL_TRY(text->err);
  TSL_TRY(tsl_alloc(LANG_CONSTANTS_MAX, sizeof *constants, "constants", (void **)&constants));
  memcpy(constants, uses->constants, sizeof uses->constants);
  for (size_t c = 0; c < text->used; c++)
    *hash = (*hash ^ (uint8_t)text->text[c]) * 0x01000193u; /* FNV-1a */
  TSL_TRY(add_field(problem, LANG_FIELD_TEXT, "The equation as code.", TSL_U8,
                    (int64_t)text->used + 1, text->text));
  text->text = NULL;
  TSL_TRY(add_field(problem, LANG_FIELD_CONSTANTS, "Numbers of the equation.", TSL_F64,
                    LANG_CONSTANTS_MAX, constants));
  constants = NULL;
  TSL_TRY(add_field(problem, LANG_FIELD_CPU, "Compiled for sockets.", TSL_U8, 0, NULL));
  TSL_TRY(add_field(problem, LANG_FIELD_GPU, "Compiled for cards.", TSL_U8, 0, NULL));
done:
  tsl_free(constants);
  return err;
}

tsl_err lang_fields_program(const tsl_problem *problem, const char *declares, const char *loops,
                            char **text) {
  tsl_err err = TSL_OK;
  lang_text t = {0};
  const int field = tsl_problem_find(problem, LANG_FIELD_TEXT);
  *text = NULL;
  if (field < 0) TSL_FAIL(TSL_ERR_INTERNAL, "no field '%s'", LANG_FIELD_TEXT);
  lang_put(&t, "/* emitted by tesela */\ntypedef long long i64;\n#define LANG_FN %s\n%s%s",
           declares, (const char *)problem->fields[field].data, loops);
  TSL_TRY(t.err);
  *text = t.text;
  t.text = NULL;
done:
  tsl_free(t.text);
  return err;
}

void lang_fields_constants(const tsl_problem *problem, double constants[LANG_CONSTANTS_MAX]) {
  const int field = tsl_problem_find(problem, LANG_FIELD_CONSTANTS);
  memset(constants, 0, LANG_CONSTANTS_MAX * sizeof *constants);
  if (field >= 0)
    memcpy(constants, problem->fields[field].data, LANG_CONSTANTS_MAX * sizeof *constants);
}

/** splitmix64 (Steele, Lea, Flood 2014). */
int64_t lang_pick(uint64_t k, int64_t n) {
  uint64_t z = (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return (int64_t)((z ^ z >> 31) % (uint64_t)n);
}

bool lang_slopes_differ(lang_slopes *s, double by_differences, double given) {
  const double tolerance = 1e-3, size = fmax(fabs(by_differences), fabs(given));
  if (!isfinite(by_differences) || !isfinite(given) || size == 0) return false;
  s->compared++;
  if (fabs(by_differences - given) <= tolerance * size) return false;
  s->differ++;
  s->by_differences = by_differences, s->given = given;
  return true;
}

bool lang_slopes_wrong(const lang_slopes *s) {
  return 2 * s->differ > s->compared;
}
