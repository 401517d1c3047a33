/**
 * @file calibrate.h
 * Measure the cost coefficients of every rank's device, or read them from the calibration file.
 */
#pragma once

#include "cost.h"
#include "executor.h"
#include "out_unit.h"
#include "settings.h"

#include <mpi.h>
#include <stdio.h>

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

/** Path of the calibration file: the setting, or below the cache folder; path holds size bytes. */
tsl_err tsl_calibration_path(const tsl_run_settings *settings, char *path, size_t size);

/** May lines be added to a file that the deck names? @return TSL_ERR_INPUT: it holds other lines */
tsl_err tsl_calibration_check(const char *path);

/** The file, open for reading; NULL when there is none, or no regular one. */
FILE *tsl_calibration_open(const char *path);

/** Are these seconds for each term, and of the first run, such that predictions stay finite? */
bool tsl_calibration_makes_sense(const double c[TSL_N_COEFFICIENTS], double setup);

/** "host|device|id|driver|2 threads|1 ranks" of a rank, the beginning of its keys. */
void tsl_calibration_device(const tsl_placement *placement, char key[TSL_COST_KEY]);

/** Time and size of the program, which tell its builds apart. */
void tsl_calibration_program(char *text, size_t size);

/** The file, open for more lines; NULL, with a note, when it cannot be. */
FILE *tsl_calibration_append(const char *path);

/** Add the coefficients of a kind; of lines with the same key and kind the last one holds. */
void tsl_calibration_put(FILE *file, const char *key, int kind, const tsl_speed *speed);

/** Lines of these kinds hold what rank 0 does between phases, and a way (tsl_trial). */
enum { TSL_BETWEEN = -1, TSL_WAY = -2 };

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
tsl_err tsl_calibration_between(const tsl_run_settings *settings, const tsl_cost *cost,
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

/** Make the folders of such a path where they are missing; a failure shows when the file is opened.
 */
void tsl_calibration_folders(const char *path);
