/**
 * @file session.h
 * Everything of one invocation with a deck. The stages that fill it: run/stages.h.
 */
#pragma once

#include "options.h"
#include "phase.h"
#include "select_ranks.h"
#include "stage_times.h"
#include "timing_history.h"

/** Opened by tsl_session_open, freed by tsl_session_close. */
typedef struct tsl_session {
  MPI_Comm comm;
  int rank, size;
  const tsl_options *options; /**< not owned */
  tsl_deck *deck;
  const tsl_family *family;
  tsl_run_settings run;
  tsl_output_settings output;
  char path[1024];           /**< output file */
  tsl_placement *placements; /**< [size] */
  bool met;                  /**< the memory of the ranks' devices is known (tsl_session_memory) */
  tsl_problem problem;
  tsl_units units;
  tsl_executor executor;
  tsl_cost cost;
  int measured; /**< ranks that calibrated now */
  bool guesses; /**< nothing is computed: speeds may be guesses */
  bool settled; /**< likewise: units are dealt by their later runs alone, as moves between phases do
                      once all is set up */
  tsl_use *use; /**< [size] who takes part, once planned */
  int64_t finer; /**< units are cut so many times finer than for equal ranks */
  double widest; /**< WAVE: largest part of a stage that a rank has by the plan; 0: not known */
  tsl_plan plan;
  double shortcut;            /**< root, s that it took (tsl_session_shortcut) */
  double first;               /**< root, s predicted of the first phase; 0: as of others */
  tsl_kind_sets sets;         /**< kinds of units that are active together */
  tsl_timing_history learned; /**< root, once a second phase follows */
  char ways_of[96];    /**< root: what the ways to cut the work are of (trial.h); empty: no ways */
  int32_t n_ways, way; /**< root: their number, and the one taken */
  bool way_open;       /**< root: a trial has yet to decide */
  int n_files;         /**< root: files that were named before the problem's */
  tsl_limits limits;   /**< root: the units were cut by */
  bool limited;        /**< limits are those of a checkpoint */
  struct tsl_checkpoint_manager
      *checkpoints; /**< checkpoints (checkpoint_manager.h); NULL: none are written or read */
  const uint8_t *finished; /**< [n_units] units that a restart finds done; NULL: none */
  void *talk;              /**< root, of a served job (tsl_service): not owned; else NULL */
  char calibrated[96];     /**< signature of the problem that cost is of; empty: of none */
  tsl_timeline trace;
  tsl_stage_clock stages; /**< where the time goes */
  const struct tsl_network
      *network;   /**< between imagined ranks (network.h), not owned; NULL: the ranks are real */
  bool rescued;   /**< root: after a rank was lost the others have written a checkpoint */
  double opened;  /**< tsl_now() when the program began */
  char began[32]; /**< when the session began, UTC text, ISO 8601 */
} tsl_session;

/** The session's units by its cost model. */
static inline tsl_workload tsl_session_work(const tsl_session *s, tsl_seconds_fn seconds) {
  return (tsl_workload){s->units.list, s->units.n, s->size, seconds, &s->cost};
}
