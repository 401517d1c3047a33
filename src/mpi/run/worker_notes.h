/**
 * @file worker_notes.h
 * What the ranks' workers did without for lack of memory (tsl_backend.notes), for people and the
 * output.
 */
#pragma once

#include "record.h"

/** Collective on session->comm. Ask the workers after the last phase.
 *  @param[out] record  rank 0: told */
tsl_err tsl_worker_notes_gather(tsl_session *session, tsl_record *record);

/** Rank 0. Print a line for each rank that has something to say. */
void tsl_worker_notes_print(const tsl_record *record, FILE *file);

/** Write /run/memory. Rank 0. */
tsl_err tsl_worker_notes_store(const tsl_record *record, tsl_out *out);
