/**
 * @file triples_family.h
 * What the files of the family share among themselves: the deck section and the steps of create.
 */
#pragma once

#include "points.h"
#include "triples_equation.h"

/** The map `function`. */
typedef struct triples_function_deck {
  int32_t name; /**< triples_function; the rest is of equations */
  char *value, *gradient, *unit;
  bool symmetric;
  tsl_maps quantities, parameters; /**< lang_quantity, lang_parameter */
} triples_function_deck;

extern const tsl_key triples_function_keys[];

/** Section `triples:`; the keys and their meaning are in triples_deck.c. */
typedef struct triples_deck {
  triples_function_deck function;
  int32_t precision, output;
  char *unit;
  double strength, cutoff;
  tsl_reals box, range;
  int64_t bins;
  points_input input;
  points_generator generator;
} triples_deck;

extern const tsl_key triples_keys[];

/** Points as read or made; release with table_rows_clear(&points.table). */
typedef struct triples_points {
  table_rows table; /**< [n][d], then quantities */
  char unit[32];    /**< of the coordinates, "1" when unknown */
  char from[512];   /**< where they come from, for people */
  bool made;        /**< by a generator */
} triples_points;

/** Refuse keys that the function does not use, and what cannot be computed; fills the parameters
 *  but those of the points. */
tsl_err triples_check(const tsl_deck *deck, const triples_deck *s, triples_params *p);

/** Read or make the points. */
tsl_err triples_load(const tsl_deck *deck, triples_deck *s, triples_points *points);

/** An equation on the root; zero it first, release with triples_equation_clear. */
typedef struct triples_equation {
  lang_names names;
  lang_expr value, gradient;
  int32_t n_variables; /**< first scalars: squares of the sides ij, jk, ki, the sides, and q_i, q_j,
                          q_k of each quantity */
} triples_equation;
enum { TRIPLES_SIDES = 6 };

/** Names and tree. p: type and d. */
tsl_err triples_equation_parse(const tsl_deck *deck, const triples_function_deck *s,
                               const triples_params *p, triples_equation *equation);
void triples_equation_clear(triples_equation *equation);

/** Add its fields (triples.h), and look at some triples. Points are prepared. */
tsl_err triples_equation_fields(const tsl_deck *deck, const triples_equation *equation,
                                const triples_points *points, tsl_problem *problem);

/** Is the value of some triples the same in any order? @return TSL_ERR_INPUT naming points */
tsl_err triples_equation_sample(const tsl_deck *deck, const triples_equation *equation,
                                const tsl_problem *problem);

/** Is the gradient the value's derivative by r_ij? @return TSL_ERR_INPUT naming points */
tsl_err triples_equation_slope(const tsl_deck *deck, const triples_equation *equation,
                               const tsl_problem *problem);

/** Root: what problem->own holds. */
typedef struct triples_own {
  char text[1024]; /**< how the points came about */
  double *work;    /**< TRIANGLES: [cells + 1] what the rows before each cell take; or NULL */
} triples_own;

/**
 * Fill n, n_pad, d, length and blocks, and add the field TRIPLES_POINTS: coordinates wrapped into
 * the box, counted from the middle of the cloud without one, in units of 2^length.
 * @return TSL_ERR_INPUT naming the points that coincide
 */
tsl_err triples_prepare(const tsl_deck *deck, const triples_points *points, tsl_problem *problem);

/** Add the field TRIPLES_CELLS. TRIANGLES: choose the cells, sort the points into them, and set
 *  own->work. */
tsl_err triples_cells_make(tsl_problem *problem);

tsl_err triples_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);
void triples_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                    tsl_unit *out);
void triples_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                    int64_t hi[3]);
tsl_err triples_advance(tsl_problem *problem, int phase, bool *more);
tsl_err triples_summary(const tsl_problem *problem, tsl_summary *summary);
