/**
 * @file checkpoint_manager.h
 * Checkpoints of a run: when they are due, what goes into them, and how a run goes on from one.
 *
 * A phase pauses by draining: no unit begins any more, those begun are delivered, and accumulators
 * so far go to rank 0, which gathers the checkpoint in its memory while the others wait; of a WAVE
 * family what the workers keep between stages goes with it. Then the phase goes on with the units
 * that are left, or the run ends with TSL_ERR_PAUSED. A walk can be left between its turns: its
 * checkpoint has all tiles finished, and after a restart it begins anew. A family with restore is
 * saved between its phases, by its STATE fields; others within phase 0. Files: OUTPUT.ckpt.0 and .1
 * in turn; rows of streamed fields stay in OUTPUT.part.
 *
 * A gathered checkpoint is written by a thread of rank 0 beside the computation
 * (checkpoint_thread.h), one at a time: the next that is due is put off until it is on the disk.
 * It takes at most half of the memory that the host has free; what is beyond is written while it
 * is gathered, and the ranks wait for that. What the computation waits for checkpoints is at most
 * 2 % of the run's time, but for the first one: run.checkpoint is lengthened where it has to be,
 * and a line says so once. At the end of the run, when it is stopped, and when a rank is lost, the
 * writing is waited for.
 *
 * A call that is collective on session->comm agrees on its verdict.
 */
#pragma once

#include "checkpoint_thread.h"
#include "session.h"

/** Owned by the session. */
typedef struct tsl_checkpoint_manager {
  bool on;              /**< checkpoints are written; the same on all ranks */
  bool between;         /**< between phases only */
  bool restart;         /**< the run goes on from a checkpoint */
  bool walks;           /**< which has all tiles finished: the walk is left */
  bool safe;            /**< there is a checkpoint on disk that the run can be continued from; the
                             same on all ranks after tsl_checkpoints_settle */
  const char *why_not;  /**< why not on, for people, static; NULL: on; the same on all ranks */
  int phase;            /**< to begin with */
  uint8_t *finished;    /**< [n_units] units of this phase; the same on all ranks */
  double due, deadline; /**< root, tsl_now(): of the next checkpoint; of the end, INFINITY none */
  double spent;         /**< root, s that the computation has waited for checkpoints */
  bool told;            /**< root, that they are further apart than asked for */
  double before;        /**< root, s that earlier parts of the run had taken */
  int64_t sequence;     /**< root, of the last file */
  int written, slot;    /**< root, files of this run; number in the next one's name */
  tsl_checkpoint from;  /**< root, while a restart is under way */
  tsl_cursor cursor;    /**< root, where a traceback stands, also that of an earlier run */
  int64_t (*steps)[2];  /**< root, [n_steps] its steps of an earlier run, owned */
  int64_t n_steps;
  uint64_t inputs;               /**< root, checksum of the IN fields */
  void *base[TSL_MAX_FIELDS];    /**< root, accumulators before this part of the phase; NULL none */
  int64_t place[TSL_MAX_FIELDS]; /**< root, of streamed fields in FILE.part */
  tsl_behind *behind; /**< this rank's part of a checkpoint that is being written; NULL: none */
  double taken;       /**< tsl_now() of what is in it */
  const char *output; /**< name of the output, the session's */
  tsl_err_copy rows;  /**< code TSL_OK, or why this rank's rows did not get to the disk */
  bool looked;        /**< hosts is known */
  bool several;       /**< this rank is one of hosts */
  MPI_Comm hosts;     /**< one rank of each host that has rows to sync */
  bool apart;         /**< not all of them are known to have synced; heard will tell */
  bool meeting;       /**< this one has told the others */
  MPI_Request heard;
  int all_synced; /**< what is heard */
} tsl_checkpoint_manager;

/** Collective on session->comm. After the deck: settings, and with --restart the checkpoint, which
 *  must be of this deck.
 *  @return TSL_ERR_INPUT: none found, damaged, of another deck or version; or there is one, and the
 *          run would begin anew without --overwrite */
tsl_err tsl_checkpoints_open(tsl_session *session);

/** Root, not collective. Once the files of the run are checked: remove the checkpoints of an
 *  earlier run, which --overwrite allows; nothing with --restart. @return TSL_ERR_INPUT */
tsl_err tsl_checkpoints_forget_old(const tsl_session *session);

/** Collective on session->comm. After the problem: does the checkpoint fit it? STATE fields are
 *  restored and inputs shared. */
tsl_err tsl_checkpoints_ready(tsl_session *session);

/** Not collective. The units were cut anew: none of them is finished. Nothing is done before
 *  tsl_checkpoints_ready. @return TSL_ERR_MEMORY */
tsl_err tsl_checkpoints_recut(tsl_session *session);

/** Not collective. Does the run take over rows of an earlier one? The same answer on all ranks. */
bool tsl_checkpoints_resumes(const tsl_session *session);

/** Collective on session->comm. After the streamed fields are in the output: are the rows of
 *  finished units as they were? */
tsl_err tsl_checkpoints_output(tsl_session *session, tsl_out *out);

/** Collective on session->comm. Before each part of a phase: what is finished, and when to pause.
 *  The first time after a restart rank 0 gets the log, lists, arrays and accumulators of the
 *  checkpoint. */
tsl_err tsl_checkpoints_enter(tsl_session *session, tsl_phase *phase);

/** Collective on session->comm. After begin: of a WAVE family, the first time after a restart, the
 *  workers load what the checkpoint has of their tiles. */
tsl_err tsl_checkpoints_begun(tsl_session *session);

/** Collective on session->comm. After each part of a phase, its fields combined: add what was
 *  before, and write a checkpoint when it paused. @return TSL_ERR_PAUSED, when the run is to end
 *  now */
tsl_err tsl_checkpoints_leave(tsl_session *session, tsl_out *out, tsl_phase *phase);

/** Collective on session->comm. Between phases: write a checkpoint when it is due.
 *  @param[in] next  the phase that follows
 *  @return TSL_ERR_PAUSED, when the run is to end now */
tsl_err tsl_checkpoints_between(tsl_session *session, tsl_out *out, int next);

/** Not collective: it never waits. Take note of what has been written meanwhile. Errors of MPI
 *  only. */
tsl_err tsl_checkpoints_tend(tsl_session *session);

/** Collective on session->comm. Wait for the checkpoint that is being written.
 *  @param[in] out  NULL: it is finished
 *  @return TSL_ERR_IO: rows of the results did not get to the disk, and the run has to end */
tsl_err tsl_checkpoints_settle(tsl_session *session, tsl_out *out);

/** Not collective. The same after an error, or when a rank is lost: a checkpoint whose rows other
 *  hosts may still be writing is dropped. */
void tsl_checkpoints_abandon(tsl_session *session);

/** Collective on session->comm. Between turns of the walk: write a checkpoint when it is due.
 *  @param[in] log     rank 0: shape [n], the last phase's units
 *  @param[in] cursor  where the traceback stands
 *  @return TSL_ERR_PAUSED, when the run is to end now */
tsl_err tsl_checkpoints_walk(tsl_session *session, tsl_out *out, const tsl_out_unit *log, int64_t n,
                             const tsl_cursor *cursor);

/** Collective on session->comm. For the plan alone: would a run have checkpoints? Nothing is read
 *  or written. */
tsl_err tsl_checkpoints_foresee(tsl_session *session);

/** Root, not collective. One line for the plan, or nothing. */
void tsl_checkpoints_print(const tsl_session *session, FILE *file);

/** Collective on session->comm. The run has ended: remove the files. When more phases could mend
 *  its result, a checkpoint to go on from is written instead, and how is said.
 *  @param[in] summary  the same on all ranks */
tsl_err tsl_checkpoints_end(tsl_session *session, const tsl_summary *summary);

/** Not collective on session->comm; MPI_Comm_free of hosts on the ranks that have it. Free the
 *  checkpoints; a session without one is accepted. */
void tsl_checkpoints_free(tsl_session *session);

/* ---- between the files checkpoints*.c */

/** "OUTPUT.ckpt.N"; the pointer is path. */
char *tsl_checkpoints_path(const tsl_session *session, int slot, char path[1100]);

/** Collective on session->comm. Gather a checkpoint and begin to write it. A full disk is a
 *  warning, then or later, and the one before stays.
 *  @param[in] out  NULL: it is finished
 *  @param[in] phase  NULL: between phases */
tsl_err tsl_checkpoints_save(tsl_session *session, tsl_out *out, const tsl_phase *phase, int next);

/** Collective on session->comm. Rows to the system, from where they are synced. When a rank is
 *  silent: of this rank alone. */
tsl_err tsl_checkpoints_flush(tsl_session *session, tsl_out *out);

/** Collective on session->comm. Write what was gathered, beside the computation.
 *  @param[in] writer  taken; NULL: nothing, but the rows are synced */
tsl_err tsl_checkpoints_write(tsl_session *session, tsl_out *out, tsl_checkpoint_writer *writer);

/** Root: there is no new checkpoint. */
void tsl_checkpoints_warn(tsl_session *session, const tsl_err_copy *why);

/** Not collective. The interval begins, and the end of the time is known. */
void tsl_checkpoints_start_clock(tsl_session *session);

/** Root: tsl_now() at which to pause. Never for the next checkpoint while one is being written. */
double tsl_checkpoints_pause_at(const tsl_checkpoint_manager *checkpoints);

/** Root: the computation has waited so long for a checkpoint; when is the next due? */
void tsl_checkpoints_spend(tsl_session *session, double cost);

/** Root: a checkpoint is on the disk, which took so long; has that put the next one off? */
void tsl_checkpoints_put_off(tsl_session *session, double seconds);

/** Root, not collective: check the checkpoint against the problem, take its phase, restore STATE
 *  fields. */
tsl_err tsl_checkpoints_fit(tsl_session *session);

/** Where rank 0 puts what is saved of tiles; not called on other ranks. */
typedef struct tsl_checkpoints_sink {
  void *state; /**< first argument of both */
  /** Begin the two blocks: sizes of all tiles, shape [n], and so many bytes of states. */
  void (*begin)(void *state, const int64_t *tiles, int64_t n, int64_t bytes);
  /** The next n bytes of the states. */
  void (*put)(void *state, const void *bytes, int64_t n);
} tsl_checkpoints_sink;

/** Collective on session->comm. Of a WAVE family: what the workers save of finished tiles to rank
 *  0's sink, tile after tile in order of ids. @return the first error of a worker, on all ranks */
tsl_err tsl_checkpoints_save_tiles(tsl_session *session, const tsl_checkpoints_sink *sink);

/** The keys that may be changed in a restart, as "a, b"; the pointer is text. */
const char *tsl_checkpoints_free_keys(const tsl_session *session, char text[300]);

/** First stage that is not finished; INT64_MAX when all are. */
int64_t tsl_checkpoints_stage(const tsl_session *session, const uint8_t *finished);

/** Is the field's array part of a checkpoint? Does it stream to the file? */
bool tsl_checkpoints_saves(const tsl_checkpoint_manager *checkpoints, const tsl_field *field);
bool tsl_checkpoints_streams(const tsl_field *field);
