/**
 * @file tri_cpu_records.h
 * Records that a socket reads itself, unit by unit (params.streamed, fam/tri/tri_records.h).
 */
#pragma once

#include "tri_cpu.h"

/** The unit under way as a problem of its own. */
typedef struct tri_cpu_records tri_cpu_records;

/** The worker's params are then its own. tri_cpu_records_close() also after an error. */
tsl_err tri_cpu_records_open(tsl_worker *worker, const tsl_problem *problem);
void tri_cpu_records_close(tri_cpu_records **records);

/** Read the records of a unit, by all threads; those behind it are asked for ahead.
 *  @param[in,out] unit  out: its rows counted from 0, of the worker's params and letters */
tsl_err tri_cpu_records_take(tsl_worker *worker, tsl_unit *unit);
