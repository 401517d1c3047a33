/**
 * @file record.h
 * What is known about a run when it ends, and its way into the output file.
 */
#pragma once

#include "report.h"

/** One phase; a row of /run/phases. */
typedef struct tsl_phase_line {
  int64_t phase, kinds;  /**< its number; kinds of units that were active, as bits */
  int64_t units, moved;  /**< computed; moved to other ranks after it */
  double wall, computed; /**< s until the last rank's last unit ended; device time of all ranks */
  double predicted;      /**< s, by the cost model, or by what phases before have shown */
  double imbalance;      /**< of device time: longest rank over mean - 1 */
  double imbalance_before, imbalance_after; /**< predicted for the next such phase,
 without and with the moves; 0: none */
  double communication; /**< s on rank 0 in which inputs were shared and results combined */
} tsl_phase_line;

/** One kind of units on one rank in one phase; a row of /run/phase_times. */
typedef struct tsl_phase_time {
  int64_t phase;
  int32_t rank, kind;
  int64_t units;
  double seconds;   /**< of device time */
  double predicted; /**< s, by the cost model, with what first runs take more */
} tsl_phase_time;

/** What a rank's worker did without for lack of memory; a row of /run/memory. */
typedef struct tsl_worker_note {
  int32_t rank;
  char text[TSL_NOTES];
} tsl_worker_note;

/** Rows of /run/phase_times at most; phases beyond are in /run/phases alone. */
#define TSL_PHASE_TIMES 65536

/** The units' last runs, all phases in sum and one by one, the verdict; arrays on rank 0 only. */
typedef struct tsl_record {
  tsl_out_unit *rows; /**< [n_rows] the last run of each unit, rank by rank; from tsl_alloc */
  int64_t n_rows;
  tsl_out_unit *last; /**< [n_last] the last phase alone, likewise */
  int64_t n_last;
  tsl_share_line *lines;                 /**< [n_ranks] sums over the phases */
  tsl_balance balance;                   /**< likewise */
  double items;                          /**< of all phases */
  tsl_phase_line *phases;                /**< [n_phases] */
  tsl_phase_time *times;                 /**< [n_times] */
  int64_t n_phases, n_times, n_detailed; /**< n_detailed: phases that times has */
  int64_t room_phases, room_times;       /**< lines that there is memory for (tsl_grow) */
  double expected;       /**< s that the phase to come takes as others have shown; 0: not known */
  tsl_worker_note *told; /**< [n_told] of ranks that did without something (worker_notes.h) */
  int64_t n_told;
  tsl_summary summary;
} tsl_record;

/** Collective on session->comm. Gather the phase's log on rank 0, check that every unit ran exactly
 *  once, and add it to the record. */
tsl_err tsl_record_phase(tsl_session *session, const tsl_phase *phase, tsl_record *record);

/** Add a phase, whose log is record->last, to the sums and tables. Rank 0.
 *  @param[in,out] lines  [n_ranks] of the phase; busy and finish are set */
tsl_err tsl_record_add(const tsl_session *session, const tsl_phase *phase, tsl_share_line *lines,
                       tsl_record *record);

/** Print what came out of the plan: sums and the slowest phase. Rank 0. */
void tsl_record_print(const tsl_session *session, const tsl_record *record, FILE *file);

/**
 * Rank 0. What phases take besides their units: of each set of kinds the middle one of the later
 * half of its phases, in sum.
 * @param[out] between  s of rank 0 before the first unit and after the last; 0: of a single phase
 * @param[out] waiting  time from then to then over the mean rank's device time; 0: likewise
 */
tsl_err tsl_record_besides(const tsl_session *session, const tsl_record *record, double *between,
                           double *waiting);

/**
 * Rank 0. What each rank and kind took, likewise: of each set of kinds the phase in which the kind
 * took neither much nor little; of a single phase all.
 * @param[out] all  shape [size][TSL_MAX_KINDS]
 */
tsl_err tsl_record_kinds(const tsl_session *session, const tsl_record *record,
                         tsl_kind_seconds (*all)[TSL_MAX_KINDS]);

/** Write /run/phases and /run/phase_times. Rank 0. */
tsl_err tsl_record_store_phases(const tsl_record *record, tsl_out *out);

/** Collective on session->comm. Ask the family for its summary and write arrays, tables and texts;
 *  record->summary is then the same on all ranks. */
tsl_err tsl_record_store(tsl_session *session, tsl_record *record, tsl_out *out);

/** Free the arrays and zero the record; zeroed ones are accepted. */
void tsl_record_clear(tsl_record *record);
