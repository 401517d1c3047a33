/**
 * @file record.h
 * What is known about a run when it ends, and its way into the output file.
 */
#ifndef TSL_MPI_RECORD_H
#define TSL_MPI_RECORD_H

#include "report.h"

/** The last phase's log and the verdict; arrays on rank 0 only. */
typedef struct tsl_record {
  tsl_out_unit *rows; /**< [n_rows] of all ranks, from tsl_alloc */
  int64_t n_rows;
  tsl_share_line *lines; /**< [n_ranks] */
  tsl_balance balance;
  tsl_summary summary;
} tsl_record;

/** Gather the phase's log on rank 0 and check that every unit ran exactly once. Collective. */
tsl_err tsl_record_phase(tsl_session *session, const tsl_phase *phase, tsl_record *record);

/** Ask the family for its summary and write arrays, tables and texts. Collective; summary.valid is
 *  set on all ranks. */
tsl_err tsl_record_store(tsl_session *session, tsl_record *record, tsl_out *out);

void tsl_record_clear(tsl_record *record);

#endif
