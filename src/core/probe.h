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

/** One measurement; plain data, sent between ranks as bytes. */
typedef struct tsl_figure {
  char group[40]; /**< "global memory", the heading it stands under */
  char name[64];  /**< "stride 2 words" */
  char unit[16];  /**< "GB/s", "us", "TFLOP/s" */
  double value;
  double peak;      /**< best possible in the same unit, or 0 where nothing bounds it */
  int32_t smaller;  /**< 1: smaller is better (times) */
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

TSL_C_END
