/**
 * @file bench_cases.h
 * What `tesela bench dp-paper` runs: problems whose optimum a plain program, an equation of a deck
 * and an engine find.
 */
#pragma once

#include "contract.h"

TSL_C_BEGIN

/** What a plain program found. */
typedef struct tsl_plain_answer {
  double seconds;    /**< filling the table, and the way back when asked for */
  int64_t goal;      /**< the optimum */
  int64_t recovered; /**< what the recovered solution is worth by the input alone */
} tsl_plain_answer;

/** How a solution is asked for. */
typedef enum tsl_paper_mode {
  TSL_PAPER_VALUE,
  TSL_PAPER_RECOVER, /**< where the table is */
  TSL_PAPER_HOST,    /**< on the host */
  TSL_N_PAPER_MODES
} tsl_paper_mode;

/** A problem of `tesela bench dp-paper`: by a plain program, by an equation, by an engine. */
typedef struct tsl_paper_case {
  const char *name;
  bool recovers;    /**< it has solutions besides its value */
  int64_t sizes[8]; /**< ascending, ends with 0 */
  /** Write a deck of size n. @param[in] equation  the deck's own; false: the engine's */
  void (*deck)(bool equation, int64_t n, tsl_paper_mode mode, char *text, size_t size);
  /** The same by a table and loops, one thread. @param[in] problem  that of the engine's deck */
  tsl_err (*plain)(const tsl_problem *problem, bool recover, tsl_plain_answer *answer);
} tsl_paper_case;

/** src/cpu/bench/bench_dp_plain.c; ends with a NULL name. */
extern const tsl_paper_case tsl_paper_cases[];

TSL_C_END
