/**
 * @file calibrate.h
 * Measure the cost coefficients of every rank's device, or read them from the calibration file.
 */
#pragma once

#include "calibration_file.h"
#include "cost.h"
#include "executor.h"
#include "out_unit.h"
#include "settings.h"

#include <mpi.h>

/**
 * Collective on comm. The cost model of all ranks, the same on every rank.
 *
 * Reads the calibration file on the root; ranks whose key (binary, device, driver, threads, ranks
 * on the host, problem signature) is missing measure real units (measure.h),
 * all at once so that shared hardware shows. New measurements are stored as they are; the model has
 * equal coefficients for equal devices whose measurements agree (device_class.h). Where the file
 * has a probe of a device (device_probe.h) trials begin with what that makes of them; with
 * TSL_CALIBRATE_PROBE it is the model, and nothing is measured.
 *
 * @param[in]  units     shape [n_units], the same on all ranks
 * @param[in]  settings  calibrate and calibration
 * @param[out] cost      [n_ranks] speeds, free with tsl_free(cost->speeds)
 * @param[out] measured  number of ranks that measured now; may be NULL
 * @return TSL_ERR_INPUT: a bad probe, or TSL_CALIBRATE_PROBE and none of a device
 */
tsl_err tsl_calibrate(MPI_Comm comm, const tsl_executor *executor, const tsl_unit *units,
                      int64_t n_units, const tsl_run_settings *settings, tsl_cost *cost,
                      int *measured);

/** Root. The way that a trial on this device has found; -1: not known, or to be found anew. */
int32_t tsl_calibration_way(const tsl_run_settings *settings, const tsl_placement *device,
                            const tsl_family *family, const char *what);

/** Root. Keep it; a file that cannot be written is told. */
void tsl_calibration_keep_way(const tsl_run_settings *settings, const tsl_placement *device,
                              const tsl_family *family, const char *what, int32_t way);

/**
 * Root, not collective. Keep what rank 0 did between the phases of a finished run, under rank 0's
 * key, unless the file knows as much within noise.
 * @param[in] seconds  in a phase of each set of kinds; 0 is not kept
 */
void tsl_calibration_between(const tsl_run_settings *settings, const tsl_cost *cost,
                             double seconds);

/**
 * Root, not collective. Hold a finished run against its prediction, and correct the calibration
 * file where it was off by more than a tenth: the kind's coefficients are multiplied by measured
 * over predicted, of all ranks with the same key, or by its root where that is within what times
 * vary from run to run. Off by more than three times is said, unless quiet.
 * @param[in] rows    shape [n], last runs of the units
 * @param[in] phases  of the run; what first runs take more is part of a single phase only
 */
tsl_err tsl_calibration_correct(const tsl_run_settings *settings, const tsl_cost *cost,
                                const tsl_out_unit *rows, int64_t n, int64_t phases, bool quiet);
