/**
 * @file fault.h
 * Faults on request, for tests: the environment TSL_TEST_FAULT=WHAT:RANK:UNIT.
 *
 * WHAT happens to the rank when it computes that unit:
 *   error   the device fails             oom   it has no memory left
 *   nan     a result is not a number     hang  it never ends      kill  the process is killed
 */
#pragma once

#include "contract.h"

/** Before the units begin: all but hang and nan. @return the injected error */
tsl_err tsl_fault_begin(int rank, const tsl_unit *units, int64_t n);

/** Where their end is waited for: hang. */
void tsl_fault_wait(int rank, const tsl_unit *units, int64_t n);

/** Both, where the units begin and end in one call. @return the injected error */
tsl_err tsl_fault_before(int rank, const tsl_unit *units, int64_t n);

/** After it: spoil a floating-point result of the unit. @param[in,out] parts  shape [n] */
void tsl_fault_after(const tsl_problem *problem, int rank, const tsl_unit *units, int64_t n,
                     tsl_part *parts);
