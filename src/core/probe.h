/**
 * @file probe.h
 * What `tesela probe` measures: figures of a device, each beside what it could reach at best.
 *
 * After the advice of the CUDA optimisation guide of the seeds: effective bandwidth decides, so a
 * figure says what a recommendation is worth on this very device.
 */
#pragma once

#include "error.h"

#include <stdint.h>

TSL_C_BEGIN

enum { TSL_MAX_FIGURES = 128 };

/** Terms of the cost model that a figure is the first guess of. */
typedef enum tsl_figure_term {
  TSL_TERM_NONE,
  TSL_TERM_COMPUTE, /**< operations/s of the whole device */
  TSL_TERM_MEMORY,  /**< bytes/s of its memory */
  TSL_TERM_LAUNCH,  /**< s until its work begins */
  TSL_TERM_TRANSFER /**< bytes/s of results to the host, where that is another memory */
} tsl_figure_term;

/** One measurement; plain data, sent between ranks as bytes. */
typedef struct tsl_figure {
  char group[40]; /**< "global memory", the heading it stands under */
  char name[64];  /**< "stride 2 words" */
  char unit[16];  /**< "GB/s", "us", "TFLOP/s" */
  double value;
  double peak;      /**< best possible in the same unit, or 0 where nothing bounds it */
  int32_t smaller;  /**< 1: smaller is better (times) */
  int32_t term;     /**< tsl_figure_term */
  char advice[160]; /**< one line; empty where the group's first figure says it */
} tsl_figure;

/** Figures of one device; zero-initialise. */
typedef struct tsl_figures {
  tsl_figure list[TSL_MAX_FIGURES];
  int64_t n;
  char group[40]; /**< heading of the figures that come */
} tsl_figures;

/** Begin a group. */
void tsl_figures_group(tsl_figures *figures, const char *group);

/**
 * Append a figure to the group.
 * @param[in] peak    0: nothing bounds it
 * @param[in] advice  what to do about a figure below its peak, or NULL; not given within 10 % of it
 * @return TSL_ERR_INTERNAL when the list is full
 */
tsl_err tsl_figures_add(tsl_figures *figures, const char *name, double value, const char *unit,
                        double peak, const char *advice);
/** The same where smaller is better. */
tsl_err tsl_figures_add_time(tsl_figures *figures, const char *name, double value, const char *unit,
                             double peak, const char *advice);

/** Say something of the last figure whatever its value. */
void tsl_figures_note(tsl_figures *figures, const char *note);

/** The last figure is the guess of a term. */
void tsl_figures_mark(tsl_figures *figures, tsl_figure_term term);

/** The value in operations/s, bytes/s or s: its unit's first letter is a prefix (T G M m u n). */
double tsl_figure_si(const tsl_figure *figure);

TSL_C_END
