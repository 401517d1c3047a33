/**
 * @file whatif.h
 * Plans for machines that are not here: `tesela plan DECK --cluster FILE`.
 *
 * The ranks of a number of nodes are imagined, each with the calibrated speed of its device, and
 * the session plans for them as for ranks of its own: units cut for them, who takes part, the plan.
 * Added is what travels between nodes: the problem, the units and the plan to all, results to
 * rank 0.
 */
#pragma once

#include "calibration_file.h"
#include "cluster.h"
#include "stages.h"

#include <stdio.h>

/** What so many nodes would do. */
typedef struct tsl_whatif_row {
  int64_t nodes, ranks, units;
  int64_t parts;  /**< ranks that take part */
  double share;   /**< s until all have problem, units and plan */
  double compute; /**< s, as `tesela plan` predicts it: of a phase of each set of kinds */
  double between; /**< s that phases take besides, as a run has shown; 0: of one phase, or no run */
  double combine; /**< s that results need beyond computing */
  double seconds; /**< the sum of these four */
  double idle;    /**< part 0..1 of all ranks' time without computing */
  double network_bytes; /**< between nodes */
  double host_bytes;    /**< of rank 0: fields, units, plan */
  double device_bytes;  /**< of a rank: fields and its largest unit; 0: the family does not say */
  int finer;            /**< units are about 2^finer times smaller than those calibrated */
  double planning;      /**< s that units and plan took here, not part of seconds */
} tsl_whatif_row;

typedef struct tsl_whatif {
  tsl_cluster cluster;
  tsl_deck *file;         /**< of cluster */
  tsl_device_rate *rates; /**< [cluster.devices.n] scaled by speed and figures */
  tsl_whatif_row *rows;   /**< [cluster.nodes.n] in the file's order */
  tsl_whatif_row one;     /**< one node */
  int n;                  /**< rows that are done */
} tsl_whatif;

/** Collective on session->comm, after tsl_session_deck. Root reads the file of
 *  session->options->cluster. @param[out] what  root; free with tsl_whatif_clear */
tsl_err tsl_whatif_open(tsl_session *session, tsl_whatif *what);

/** Collective on session->comm, after tsl_session_problem. Root plans for all numbers of nodes.
 *  @return TSL_ERR_INPUT: a device without calibration for this problem, with those that have */
tsl_err tsl_whatif_plan(tsl_session *session, tsl_whatif *what);

/** Root. */
void tsl_whatif_print(const tsl_session *session, const tsl_whatif *what, FILE *file);

/** NULL pointers are accepted. */
void tsl_whatif_clear(tsl_whatif *what);
