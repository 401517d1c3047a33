/**
 * @file calibrate.h
 * Measure the cost coefficients of every rank's device, or read them from the calibration file.
 */
#ifndef TSL_MPI_CALIBRATE_H
#define TSL_MPI_CALIBRATE_H

#include "cost.h"
#include "hand.h"
#include "machine.h"
#include "settings.h"

#include <mpi.h>

/** What a rank needs to run units: backend, worker, and the hand that drives them. */
typedef struct tsl_station {
  const tsl_problem *problem; /**< not owned */
  const tsl_backend *backend; /**< not owned */
  tsl_worker *worker;         /**< opened on the hand */
  tsl_hand *hand;
  const tsl_seat *seat; /**< this rank's; not owned */
} tsl_station;

/**
 * The cost model of all ranks, the same on every rank.
 *
 * Reads the calibration file on the root; ranks whose key (binary, device, driver, threads, ranks
 * on the host, problem signature) is missing measure growing samples of real units for 0.2-0.5 s,
 * all at once so that shared hardware shows. New measurements are stored as they are; the model has
 * equal coefficients for equal devices whose measurements agree (alike.h).
 *
 * Collective: on comm.
 * @param[in]  units     shape [n_units], the same on all ranks
 * @param[in]  settings  calibrate and calibration
 * @param[out] cost      [n_ranks] speeds, free with tsl_free(cost->speeds)
 * @param[out] measured  number of ranks that measured now; may be NULL
 */
tsl_err tsl_calibrate(MPI_Comm comm, const tsl_station *station, const tsl_unit *units,
                      int64_t n_units, const tsl_run_settings *settings, tsl_cost *cost,
                      int *measured);

/** Path of the calibration file: the setting, or below the cache folder; path holds size bytes. */
tsl_err tsl_calibration_path(const tsl_run_settings *settings, char *path, size_t size);

/** Make the folders of such a path where they are missing; a failure shows when the file is opened.
 */
void tsl_calibration_folders(const char *path);

#endif
