/**
 * @file report.h
 * What a person sees: the plan before, predicted against measured after.
 */
#pragma once

#include "run_tables.h"
#include "slab_pool.h"
#include "stages.h"

#include <stdio.h>

/** Balance of one phase or of the whole run. */
typedef struct tsl_balance {
  double wall;         /**< s, until the last rank's last unit ended */
  double ideal;        /**< s, all items over the sum of the measured speeds (items per second) */
  double static_share; /**< share 0..1 of the items in units dealt before the run */
  int64_t dynamic;     /**< units taken from other ranks */
  double idle;         /**< s, sum of the ranks' idle seconds */
  double predicted;    /**< s, of the plan */
  double waiting;      /**< share 0..1 of rank time in which the device had no unit */
  double imbalance;    /**< latest finish / mean finish - 1 */
} tsl_balance;

/** The phase that took longest. */
typedef struct tsl_slowest {
  int64_t n_phases, phase; /**< of how many; its number */
  double seconds;
} tsl_slowest;

/** Print version, family, title. */
void tsl_report_head(const tsl_session *session, FILE *file);

/** Print units and the plan: per rank predicted seconds, units and bytes of results.
 *  @param[in] shortcut  s that a shortcut (shortcut.h) is likely to take; 0: none is foreseen */
void tsl_report_plan(const tsl_session *session, double shortcut, FILE *file);

/** Sum up the log of all ranks. @param[out] lines shape [n_ranks], busy and finish already set */
void tsl_report_balance(const tsl_session *session, const tsl_out_unit *rows, int64_t n_rows,
                        tsl_share_line *lines, tsl_balance *balance);

/** Print the table per rank, the balance, the slowest phase of several, and a hint when more than
 *  5 % was lost waiting. */
void tsl_report_run(const tsl_session *session, const tsl_share_line *lines,
                    const tsl_balance *balance, const tsl_slowest *slowest, FILE *file);

/** Print the result lines and the verdict. */
void tsl_report_summary(const tsl_summary *summary, FILE *file);
