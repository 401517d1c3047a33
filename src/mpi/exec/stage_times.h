/**
 * @file stage_times.h
 * Where the time of a run goes: the main thread's stages, one after another, each from the end of
 * the one before. So they add up to the whole time; rank 0's are in /run/stages.
 */
#pragma once

#include "out_h5.h"

/** Name and word of each stage, in the order of a run and of a phase. */
#define TSL_STAGE_LIST(X)       \
  X(START, "start")             \
  X(DECK, "deck")               \
  X(MACHINE, "machine")         \
  X(CREATE, "create")           \
  X(SHARE, "share")             \
  X(UNITS, "units")             \
  X(OPEN_WORKER, "open worker") \
  X(SHORTCUT, "shortcut")       \
  X(CALIBRATE, "calibrate")     \
  X(PLAN, "plan")               \
  X(REBALANCE, "rebalance")     \
  X(BEGIN, "begin")             \
  X(COMPUTE, "compute")         \
  X(COLLECT, "collect")         \
  X(COMBINE, "combine")         \
  X(CHECKPOINT, "checkpoint")   \
  X(RECORD, "record")           \
  X(ADVANCE, "advance")         \
  X(TRACEBACK, "traceback")     \
  X(FINISH, "finish")           \
  X(WRITE, "write")

#define TSL_STAGE_NAME(name, word) TSL_STAGE_##name,
typedef enum tsl_stage { TSL_STAGE_LIST(TSL_STAGE_NAME) TSL_N_STAGES } tsl_stage;
#undef TSL_STAGE_NAME

/** A row of /run/stages. */
typedef struct tsl_stage_row {
  int64_t phase; /**< -1: before the first phase or after the last */
  char stage[16];
  double seconds;
} tsl_stage_row;

/** Rank 0's rows; other ranks keep none. */
typedef struct tsl_stage_clock {
  double since;               /**< tsl_now() when the last stage ended */
  double spent[TSL_N_STAGES]; /**< s since the rows of the phase before were made */
  tsl_stage_row *rows;        /**< [n_rows], from tsl_alloc */
  int64_t n_rows, capacity;
} tsl_stage_clock;

struct tsl_session;

/** Not collective. Stage START, from the start of the program to the trace's zero, is over. */
void tsl_stage_start(struct tsl_session *session);

/** Collective on session->comm with --trace, else not. A stage ends: all since the end of the one
 *  before was this. With --trace it is noted there. @return TSL_ERR_MEMORY */
tsl_err tsl_stage_end(struct tsl_session *session, tsl_stage stage);

/** Not collective. What was spent since the last call becomes rows of the phase, one for each stage
 *  that took time. @param[in] phase  its number; -1 outside of phases */
tsl_err tsl_stage_rows(struct tsl_session *session, int64_t phase);

/** Rank 0: s of each of the phases [first, first + n), whose rows are there, besides checkpoints;
 *  with messages where all ranks are on one node.
 *  @param[out] seconds  [n] */
void tsl_stage_phases(const struct tsl_session *session, int64_t first, int64_t n, double *seconds);

/** Not collective, of a series: rows of phases become rows outside of phases, one for each stage,
 *  as the next problem counts its phases anew. @return TSL_ERR_MEMORY */
tsl_err tsl_stage_fold(struct tsl_session *session);

/** Rank 0, last of all that is written: stage WRITE ends; /run/stages, and total_seconds, which is
 *  the sum of its rows. */
tsl_err tsl_stage_store(struct tsl_session *session, tsl_out *out);

/** Not collective, of a served job: forget what was; the first stage of a question begins now. */
void tsl_stage_restart(struct tsl_session *session);

/** Rank 0: "1.2 ms create, 0.3 ms share, ...", the stages since tsl_stage_restart. */
void tsl_stage_text(const struct tsl_session *session, char *text, size_t size);

/** Not collective. Free the rows; zeroed clocks are accepted. */
void tsl_stage_clear(tsl_stage_clock *clock);
