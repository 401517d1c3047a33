/**
 * @file dp_backend_drive.h
 * Drives backends of dp through the calls of the contract, as the runtime does, in one process:
 * workers on sockets and on a card own lanes, their tiles run in groups, edges go between them as
 * bytes, the walk goes back through them. Plain memory, no MPI.
 */
#pragma once

#include "dp_family.h"

/** A problem from the lines of a dp section, and its tiles. */
typedef struct dp_made {
  tsl_deck *deck;
  tsl_problem problem;
  tsl_units units;
} dp_made;

/** @param[in] ranks, wish  limits for the tiles; wish 0: none */
tsl_err dp_made_open(const char *section, int ranks, int64_t wish, dp_made *made);
void dp_made_close(dp_made *made);

/** A device and what computes on it. */
typedef struct dp_seat {
  const tsl_backend *backend;
  const tsl_device *device;
} dp_seat;

enum { DP_SEATS = 8 };

/** Who computes what. */
typedef struct dp_drive {
  dp_seat placements[DP_SEATS];
  int n_seats;
  const int *owner; /**< [lanes] placement of each lane */
  uint64_t cuts;    /**< seed: into which groups a stage is cut */
  bool trial;       /**< calibrate first */
  bool overlap;     /**< groups in two halves, two of a placement at once, where the backend can */
  const int
      *moved; /**< [lanes] placements from stage `pause` on: all is saved before it and loaded into
                         new workers, where all placements can do that; NULL: owner */
  int64_t pause; /**< INT64_MAX: in the walk, after `turns` of its turns */
  int64_t turns;
} dp_drive;

/** What came out; free with dp_outcome_clear. */
typedef struct dp_outcome {
  tsl_err err; /**< of the run; message in text */
  char text[512];
  char goal[8];       /**< bytes of the field */
  void *table, *best; /**< fields, NULL when there are none */
  int64_t table_bytes, best_bytes;
  void *path; /**< records of the field path */
  int64_t path_bytes;
  bool valid;   /**< verdict of the family */
  void **edges; /**< [n_units] edges that went out, NULL: none */
  int64_t *edge_bytes, n_units;
  int64_t n_steps; /**< of the walk */
  bool paused;     /**< there was a checkpoint */
  uint64_t saved;  /**< of all that it saved: two of the same bytes have the same number */
} dp_outcome;

/** Solve the problem. @return an error of the driver itself; errors of backends are in outcome */
tsl_err dp_drive_run(dp_made *made, const dp_drive *drive, dp_outcome *out);
void dp_outcome_clear(dp_outcome *out);

/** Number of lanes of the tiles. */
int64_t dp_lanes(const dp_made *made);

/** Next of a sequence of numbers, below n. */
int64_t dp_dice(uint64_t *seed, int64_t n);

/* -------------------------------------------------------------------- truth, dp_backend_truth.c */

/**
 * The whole table by the definitions of dp.h, as plain loops; integers are exact as double.
 * @param[out] rows, columns  as the field "table" has them
 * @return [rows][columns] from malloc
 */
double *dp_truth_table(const tsl_problem *problem, int64_t *rows, int64_t *columns);

/**
 * LOCAL: numbers of edges (dp.h) above what the table allows, which has no cell left out: H above
 * H, E' above E', a score of entry 0 above the best one; or H below 0.
 * @param[in] table  of dp_truth_table  @param[in] edge  int32 [rows of the tile + 1][2]
 */
int64_t dp_truth_edge_above(const tsl_problem *problem, const double *table, const tsl_unit *unit,
                            const int32_t *edge);

/** The goal of that table. */
double dp_truth_goal(const tsl_problem *problem, const double *table);
