/**
 * @file settings.h
 * The deck sections every family shares: `run:` and `output:`.
 */
#pragma once

#include "contract.h"

typedef enum tsl_calibrate_mode {
  TSL_CALIBRATE_AUTO,   /**< from the file when its key matches, else measured and stored */
  TSL_CALIBRATE_ALWAYS, /**< measured, then stored */
  TSL_CALIBRATE_PROBE   /**< plans alone: from the file, else a guess from its probe */
} tsl_calibrate_mode;

typedef enum tsl_plan_kind {
  TSL_PLAN_STRIPS, /**< contiguous cut: the smallest time T for which every rank's strip fits */
  TSL_PLAN_LPT,    /**< longest processing time first, each to the rank that ends earliest (Graham
                      1969) */
  TSL_PLAN_BINS, /**< binary search on the capacity, first-fit decreasing for each (seeds: Algorithm
                    4) */
  TSL_PLAN_ROUNDROBIN, /**< unit i to rank i mod ranks; ignores cost */
  TSL_PLAN_SHARE, /**< fixed share: the first part of the domain to the fast ranks, the rest to the
                     others, evenly within each side; ignores cost, nothing is taken (seeds:
                     heterogeneous Mandelbrot) */
  TSL_N_PLANS
} tsl_plan_kind;

/** Words of the deck key run.plan, NULL-ended, in the order of the enum. */
extern const char *const tsl_plan_words[];

/** The key run.ranks. */
typedef enum tsl_useful_ranks { TSL_RANKS_USEFUL, TSL_RANKS_ALL } tsl_useful_ranks;

/** Words of the deck key run.ranks, NULL-ended, in the order of the enum. */
extern const char *const tsl_useful_words[];

/** Section `run:`; texts belong to the deck. */
typedef struct tsl_run_settings {
  char *device;               /**< auto | gpu | cpu | list "gpu0,gpu1,cpu" */
  int64_t threads;            /**< per CPU rank, 0: all cores of its share */
  int32_t plan;               /**< tsl_plan_kind */
  double dynamic;             /**< part of a rank's units that others may take */
  int32_t ranks;              /**< tsl_useful_ranks */
  bool rebalance;             /**< move units between phases by measured times */
  double rebalance_threshold; /**< longest over shortest rank - 1 that is left alone */
  double gpu_share;           /**< plan share: part of the domain for the fast ranks */
  int64_t units;              /**< wanted number of units, 0: automatic */
  int64_t memory;             /**< bytes of host memory one rank may use for results in flight */
  int64_t host_memory;        /**< bytes of host memory that a rank may use; 0: see machine.h */
  double device_memory;       /**< share of the card's free memory a rank may use */
  int32_t calibrate;          /**< tsl_calibrate_mode */
  char *calibration;          /**< file, NULL: $XDG_CACHE_HOME/tesela/calibration */
  double checkpoint;          /**< s between checkpoints, 0: none */
  double watchdog;            /**< s without a unit's end after which the run is ended, 0: never */
  double heartbeat;           /**< s of a rank's silence after which the job ends, 0: never */
  bool allow_shared_gpu;
} tsl_run_settings;

/** Section `output:`. */
typedef struct tsl_output_settings {
  char *file; /**< NULL: deck name with .h5 in the working folder */
  bool overwrite;
  int64_t compress; /**< deflate level 0..9, serial HDF5 only */
} tsl_output_settings;

extern const tsl_key tsl_run_keys[];
extern const tsl_key tsl_output_keys[];

/**
 * Bind everything of a deck that is not the family's own and find the family.
 * Any rank: the same text gives the same result.
 */
tsl_err tsl_settings_bind(tsl_deck *deck, const tsl_family **family, tsl_run_settings *run,
                          tsl_output_settings *output);
