/**
 * @file calibrate.h
 * Measure the cost coefficients of every rank's device, or read them from the calibration file.
 */
#pragma once

#include "calibration_file.h"
#include "cost.h"
#include "executor.h"
#include "settings.h"

#include <mpi.h>

/**
 * Collective on comm. The cost model of all ranks, the same on every rank.
 *
 * Reads the calibration file on the root; ranks whose key (binary, device, driver, threads, ranks
 * on the host, problem signature) is missing measure real units (measure.h), all at once so that
 * shared hardware shows. Of ranks with the same key the middle measurement is stored; the model has
 * equal coefficients for equal devices whose measurements agree (device_class.h). With
 * TSL_CALIBRATE_PROBE the file's probe of a device (device_probe.h) stands for what it has not, and
 * nothing is measured.
 *
 * @param[in]  units     shape [n_units], the same on all ranks
 * @param[in]  settings  calibrate and calibration
 * @param[out] cost      [n_ranks] speeds, free with tsl_free(cost->speeds)
 * @param[out] measured  number of ranks that measured now
 * @return TSL_ERR_INPUT: a bad probe, or TSL_CALIBRATE_PROBE and none of a device
 */
tsl_err tsl_calibrate(MPI_Comm comm, const tsl_executor *executor, const tsl_unit *units,
                      int64_t n_units, const tsl_run_settings *settings, tsl_cost *cost,
                      int *measured);

/** What a run has shown of the units of a kind on a rank. */
typedef struct tsl_kind_seconds {
  double terms[TSL_N_TERMS]; /**< of the cost model, in sum; setups of first runs alone */
  double measured;           /**< s that these took */
  int64_t runs;              /**< phases of which that was the middle one */
} tsl_kind_seconds;

/**
 * Root, not collective. Keep a figure of a finished run under rank 0's key, unless the file knows
 * as much within TSL_STEADY.
 * @param[in] kind   TSL_BETWEEN or TSL_WAITING
 * @param[in] value  0 is not kept
 */
void tsl_calibration_keep_phases(const tsl_run_settings *settings, const tsl_cost *cost, int kind,
                                 double value);

/**
 * Root, not collective. Hold a finished run against what the calibration file predicts, and correct
 * the file: for all ranks with the same key, as plans find one line for them. Its coefficients are
 * scaled to what was measured where they were off by more than TSL_STEADY. Where runs before have
 * shown them, a single phase counts only if they were off by more than a tenth, and half way (by
 * the root) where that is within what times vary from run to run; the middle one of several phases
 * is no matter of chance. Off by more than three times is said, unless quiet.
 * @param[in] shown  shape [cost->n_ranks][TSL_MAX_KINDS]
 */
tsl_err tsl_calibration_correct(const tsl_run_settings *settings, const tsl_cost *cost, int n_kinds,
                                const tsl_kind_seconds (*shown)[TSL_MAX_KINDS], bool quiet);
