/**
 * @file lang_equation.h
 * What equations of a deck have in common, of pairs and of triples of points: their quantities and
 * parameters, the fields that carry their text, and the fields that carry what is compiled of it.
 */
#pragma once

#include "deck.h"
#include "lang_pair.h"

TSL_C_BEGIN

enum { LANG_QUANTITIES_MAX = 8, LANG_PARAMETERS_MAX = 12 };

/** Entries of `quantities` and `parameters`, and the tables of their keys. */
typedef struct lang_quantity {
  char *name;
  int64_t column; /**< of the input, from 0 */
} lang_quantity;
typedef struct lang_parameter {
  char *name;
  double value;
} lang_parameter;

extern const tsl_key lang_quantity_keys[];
extern const tsl_key lang_parameter_keys[];

/** Keys of an equation in the table of a struct with these members, in two parts. */
#define LANG_VALUE_KEYS(type, value_doc, gradient_doc, symmetric_doc)       \
  TSL_TEXT_KEY("value", offsetof(type, value), "", value_doc),              \
      TSL_TEXT_KEY("gradient", offsetof(type, gradient), "", gradient_doc), \
      TSL_BOOL_KEY("symmetric", offsetof(type, symmetric), "", symmetric_doc)
#define LANG_EQUATION_KEYS(type)                                                              \
  TSL_TEXT_KEY("unit", offsetof(type, unit), "",                                              \
               "Unit of the values, written to the output; default 1."),                      \
      TSL_MAPS_KEY("quantities", offsetof(type, quantities), lang_quantity_keys,              \
                   sizeof(lang_quantity),                                                     \
                   "Numbers of each point: columns of the input (input.columns is needed)."), \
      TSL_MAPS_KEY("parameters", offsetof(type, parameters), lang_parameter_keys,             \
                   sizeof(lang_parameter), "Named numbers.")

/** Where an equation is in its deck, and the type of its reals: TSL_F32 or TSL_F64. */
typedef struct lang_place {
  const tsl_deck *deck;
  const char *path; /**< of its map: "tri.function" */
  int32_t type;
} lang_place;

enum { LANG_PATH = 96 };
/** The path of a key below it. @return path */
const char *lang_key(const lang_place *place, const char *key, char path[LANG_PATH]);

void lang_add_scalar(lang_names *names, const char *name, lang_kind kind, double value);

/**
 * Names of quantities, variables: q_i, q_j, ... of each, in the order of `points`, "ij" or "ijk".
 * @param[in] list  of lang_quantity
 * @return TSL_ERR_INPUT for bad names and too many
 */
tsl_err lang_add_quantities(const lang_place *place, const tsl_maps *list, const char *points,
                            lang_names *names);

/** Names of parameters; list: of lang_parameter. @return likewise, and numbers outside the type */
tsl_err lang_add_parameters(const lang_place *place, const tsl_maps *list, lang_names *names);

/** Names of fields: text u8 [bytes], zero-ended; constants f64 [LANG_CONSTANTS_MAX]. Those of
 *  objects are in lang_objects.h. */
#define LANG_FIELD_TEXT "equation"
#define LANG_FIELD_CONSTANTS "constants"

/**
 * Add all four fields.
 * @param[in,out] text  taken over
 * @param[out] hash  of the text, for signatures
 */
tsl_err lang_fields_add(tsl_problem *problem, lang_text *text, const lang_pair_uses *uses,
                        uint32_t *hash);

/** A program of the text, from tsl_alloc: what declares its functions, and the loops after it. */
tsl_err lang_fields_program(const tsl_problem *problem, const char *declares, const char *loops,
                            char **text);

/** Copy the constants; zeros where there is no such field. */
void lang_fields_constants(const tsl_problem *problem, double constants[LANG_CONSTANTS_MAX]);

/** The k-th of whole numbers below n that are the same in every run, to look at some pairs. */
int64_t lang_pick(uint64_t k, int64_t n);

/** A deck's derivatives beside those by differences of its value. */
typedef struct lang_slopes {
  int64_t compared, differ;
  double by_differences, given; /**< of the last that differs */
} lang_slopes;

/** Compare one more by 1e-3; what is not finite, or 0 in both, does not count.
 *  @return does it differ? */
bool lang_slopes_differ(lang_slopes *slopes, double by_differences, double given);

/** Are the deck's wrong? A kink or a jump makes few differ: most must. */
bool lang_slopes_wrong(const lang_slopes *slopes);

TSL_C_END
