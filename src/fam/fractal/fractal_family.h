/**
 * @file fractal_family.h
 * What the files of the family share among themselves: the deck section, the steps of create, the
 * map of expected cost, and pictures.
 */
#pragma once

#include "fractal.h"

/* ------------------------------------------------------------------- deck */

/** In the order of the deck's words. */
typedef enum fractal_palette { FRACTAL_GREY, FRACTAL_VIRIDIS, FRACTAL_N_PALETTES } fractal_palette;

/** Section `fractal:`; the keys and their meaning are in fractal_deck.c. */
typedef struct fractal_deck {
  int32_t set, precision, palette, schedule, memory, threads, mean;
  int64_t block;
  bool exact, interior, periodicity, binarise;
  int64_t xres, yres, maxiter;
  tsl_reals c;
  struct {
    tsl_reals corners, centre;
    double width;
  } view;
  char *png, *binarised_png; /**< NULL when not asked for */
} fractal_deck;

extern const tsl_key fractal_keys[];

/** Refuse given keys that the other choices do not use, and ask for those that they need. */
tsl_err fractal_deck_settle(const tsl_deck *deck, fractal_deck *s);

/* ----------------------------------------------------------------- create */

/** The rectangle seen, and its pixels: coordinate = centre + (place + 0.5 - n/2) * step. */
typedef struct fractal_view {
  double centre[2], step[2]; /**< x, y; step > 0 */
} fractal_view;

/** View of the deck or the set's own, with square pixels unless corners are given. */
tsl_err fractal_view_make(const tsl_deck *deck, const fractal_deck *s, fractal_view *view);

/**
 * Refuse a view whose neighbouring coordinates would be one number in the chosen precision; the
 * message has the smallest width (height) at which they are not.
 */
tsl_err fractal_view_check(const tsl_deck *deck, const fractal_deck *s, const fractal_view *view);

/** Coordinate i of n along axis 0 (x, increasing) or 1 (y, decreasing), before rounding to type. */
double fractal_coordinate(const fractal_view *view, int axis, int64_t n, int64_t i);

/** Pictures wanted, on the root: problem->own. */
typedef struct fractal_own {
  int32_t palette;
  char *png, *binarised_png; /**< NULL when not asked for; copies */
} fractal_own;

/**
 * Refuse a picture that cannot be written: wrong ending, above the sizes of the format, no such
 * folder, no right to write, a file there that is no PNG, two pictures of one name, a picture named
 * as the output (NULL: there is none).
 */
tsl_err fractal_check_pictures(const tsl_deck *deck, const fractal_deck *s);

/* ------------------------------------------------------------------- cost */

/**
 * Expected steps, from samples on a grid over a box of the image. Made by walking the plain loop
 * with the shortcuts that the deck allows; the same on all machines.
 */
typedef struct fractal_cost {
  int64_t lo[2], hi[2]; /**< box of rows and columns */
  int64_t n[2];         /**< samples along each */
  double *before;       /**< [n[0] + 1][n[1] + 1] expected steps of the pixels above and left */
} fractal_cost;

enum {
  FRACTAL_COST_FIXED = 8
}; /**< of each pixel, in steps: start, replay after the test, store */

/** What samples may cost. */
typedef struct fractal_effort {
  int64_t first;  /**< samples along a side of the first grid, at most 256 */
  int64_t budget; /**< most steps to walk, about */
  double part;    /**< of the steps of all pixels: what one more grid may take */
} fractal_effort;

/** Sample a box, finer and finer while that stays a small part of its work. */
tsl_err fractal_cost_make(const tsl_problem *problem, const int64_t lo[2], const int64_t hi[2],
                          const fractal_effort *effort, fractal_cost *cost);

/** Expected steps of rows [a, b) x columns [c, d) of the box, above 0 when there are pixels. */
double fractal_cost_of(const fractal_cost *cost, int64_t a, int64_t b, int64_t c, int64_t d);

void fractal_cost_clear(fractal_cost *cost);

tsl_err fractal_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);
void fractal_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                    tsl_unit *out);
void fractal_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                    int64_t hi[3]);

/* ---------------------------------------------------------------- results */

/** Smallest value that is not below the mean sum / pixels; pixels >= 1. Global for tests. */
uint64_t fractal_threshold(uint64_t sum, uint64_t pixels);

tsl_err fractal_finish(tsl_problem *problem, const tsl_field_rows *store);
tsl_err fractal_summary(const tsl_problem *problem, tsl_summary *summary);

/* --------------------------------------------------------------- pictures */

/** Red, green, blue; entry 0 is black, the others run from dark violet to yellow. */
extern const uint8_t fractal_viridis[256][3];

enum { FRACTAL_BINS = 6400 };

/** Bin of a value: below 512 the value itself, above that 256 bins to each doubling. */
int fractal_bin(uint32_t value);

/** How many pixels have which value: what the colours of a picture follow from. */
typedef struct fractal_tally {
  uint64_t count[FRACTAL_BINS];
} fractal_tally;

/**
 * Colour index of each bin: 0 for value 0; the others grow with the logarithm of the value, from 1
 * at the smallest value to 255 at the value that one pixel in 1000 exceeds.
 */
void fractal_colours(const fractal_tally *tally, uint8_t colour[FRACTAL_BINS]);

/** A PNG file being written row by row; fractal_png.c alone sees libpng. */
typedef struct fractal_png fractal_png;

#define FRACTAL_PNG_MAX INT64_C(2147483647) /**< pixels along a side: the format's limit */

/**
 * Start FILE.part beside the file.
 * @param[in]  palette  [256] colours, not kept; NULL: grey values
 * @return TSL_ERR_INPUT when the file cannot be made, TSL_ERR_IO when it cannot be written
 */
tsl_err fractal_png_open(const char *path, int64_t columns, int64_t rows,
                         const uint8_t (*palette)[3], fractal_png **out);

/** Append rows; shape [n][columns]. @return TSL_ERR_IO */
tsl_err fractal_png_rows(fractal_png *png, const uint8_t *pixels, int64_t n);

/** Finish the file and give it its name; png is freed and NULL also on failure. */
tsl_err fractal_png_close(fractal_png **png);

/** Remove an unfinished file; NULL accepted, sets NULL. */
void fractal_png_discard(fractal_png **png);
