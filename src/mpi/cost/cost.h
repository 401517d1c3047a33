/**
 * @file cost.h
 * Predicted seconds of a unit on a rank's device: c0 + c1 flops + c2 bytes + c3 count, c >= 0; the
 * first time that a rank runs the unit, s setup more, s >= 0.
 *
 * The coefficients are measured on the rank's own device with real units (calibrate.h) and
 * kept in a file; families give features only.
 */
#pragma once

#include "contract.h"

enum { TSL_N_COEFFICIENTS = 4, TSL_MAX_KINDS = 8 };
/** The terms of a kind: the coefficients, and s, of an operation of the first run alone. */
enum { TSL_SETUP = TSL_N_COEFFICIENTS, TSL_N_TERMS };

/** Times of a device vary by this from one measurement to the next. Of 240 measurements of a socket
 *  by four ranks of a thread side by side, with others on the machine, 90 % were within 6 % of the
 *  median of their four, 98 % within 10 %. */
#define TSL_NOISE 0.1
/** And the middle one of several phases of a run. */
#define TSL_STEADY (TSL_NOISE / 2)
/** s: shorter times say little. */
#define TSL_PRECISE 0.05

/** Phases in which a unit of an iterating family runs, as planners expect. */
enum { TSL_COST_PHASES = 10 };

/** Coefficients of one device for the kinds of one problem; plain data. */
typedef struct tsl_speed {
  double c[TSL_MAX_KINDS][TSL_N_TERMS];
} tsl_speed;

/** Bytes of a key of the calibration file. */
enum { TSL_COST_KEY = 640 };

/** The model of all ranks. */
typedef struct tsl_cost {
  int n_ranks;
  tsl_speed *speeds; /**< [n_ranks], from tsl_alloc */
  bool *left_out;    /**< [n_ranks] ranks that take no units, from tsl_alloc; NULL: none */
  bool sampled;      /**< speeds are of samples that were taken now; no run has shown more */
  int guessed;       /**< root: ranks whose speed is a guess from a probe (device_probe.h) */
  char *keys; /**< root, [n_ranks] keys of the calibration file, TSL_COST_KEY bytes each, from
                 tsl_alloc; NULL: it has none of these */
} tsl_cost;

/** Root: a rank's key of the calibration file. */
static inline const char *tsl_cost_key(const tsl_cost *cost, int on) {
  return cost->keys + (size_t)on * TSL_COST_KEY;
}

/** One measurement of a unit. */
typedef struct tsl_sample {
  tsl_unit unit;
  double seconds;
} tsl_sample;

/** Does the rank take units? */
bool tsl_cost_takes_part(const tsl_cost *cost, int rank);

/**
 * Which ranks cannot be told apart: equal coefficients, and both take part or neither.
 * @param[out] like  shape [cost->n_ranks], the first such rank
 */
void tsl_cost_like(const tsl_cost *cost, int32_t *like);

/** tsl_seconds_fn: a run of the unit with everything in place; model is a tsl_cost. */
double tsl_cost_seconds(const void *model, int rank, const tsl_unit *unit);

/** tsl_seconds_fn: what the rank's first run of the unit takes more. */
double tsl_cost_setup(const void *model, int rank, const tsl_unit *unit);

/** tsl_seconds_fn: the rank's first run of the unit. */
double tsl_cost_first(const void *model, int rank, const tsl_unit *unit);

/** The unit as phase 0 and runs before it have it (tsl_unit.phase0_skipped). */
tsl_unit tsl_unit_begin(const tsl_unit *unit);

/** tsl_seconds_fn: the unit in the first phase, with what its first run takes more. */
double tsl_cost_begin(const void *model, int rank, const tsl_unit *unit);

/** tsl_seconds_fn for plans: the mean of TSL_COST_PHASES runs, of which one is the first. */
double tsl_cost_mean(const void *model, int rank, const tsl_unit *unit);

/** Seconds on a device with these coefficients, of a run with everything in place. */
double tsl_speed_seconds(const tsl_speed *speed, const tsl_unit *unit);

/**
 * Fit the coefficients of one kind to samples by least squares of the relative error with c >= 0.
 * @param[in]  samples  shape [n], all of the kind; n >= 1
 * @param[out] c        shape [TSL_N_COEFFICIENTS], seconds per unit, flop, byte, item
 */
void tsl_cost_fit(const tsl_sample *samples, int n, double *c);
