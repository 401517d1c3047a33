/**
 * @file device_probe.h
 * What `tesela probe` measured of devices, as a first guess of their cost models.
 *
 * A line of the calibration file (calibration_file.h) has four figures: flop/s, bytes/s of the
 * device's memory, s of a launch (of a socket a parallel region), bytes/s of results to the host
 * (of a socket those of its memory). A unit is guessed to take
 *
 *     LAUNCH + results / TRANSFER + flops / RATE + bytes / BANDWIDTH      (s)
 *
 * as if each operation were one of a multiply-add that waits for nothing, which is why most take
 * longer and some, of many small integers in a register, less (docs/scheduling.md, section 1).
 */
#pragma once

#include "calibration_file.h"
#include "probe.h"

/** Times of devices that have not computed such units were so many times longer or shorter than
 *  such a guess at most: docs/scheduling.md has the decks that were looked at. */
#define TSL_PROBE_UNSURE 20

/**
 * Of the probes of a device by its name and, where told, host and threads the one measured beside a
 * number of ranks nearest to this one, of these the last. Cards are alike wherever they sit.
 * @param[in]  host  NULL: any
 * @param[in]  threads  0: any
 * @param[out] probe  of kind TSL_NO_LINE when there is none
 * @return TSL_ERR_INPUT with file:line: a figure that is no number above 0, or no key
 */
tsl_err tsl_device_probe_find(const tsl_run_settings *settings, const char *host,
                              const char *device, int threads, int ranks,
                              tsl_calibration_line *probe);

/** That of a rank of this job. @param[in] key  begins as tsl_calibration_key writes it */
tsl_err tsl_device_probe_of(const tsl_run_settings *settings, const char *key,
                            tsl_calibration_line *probe);

/** The guess for a problem's units. @param[in] units  shape [n] */
void tsl_device_probe_speed(const tsl_calibration_line *probe, const tsl_problem *problem,
                            const tsl_unit *units, int64_t n, tsl_speed *speed);

/**
 * Append the figures of a device to an open calibration file.
 * @param[in] placement  of the rank that measured
 * @return TSL_ERR_INTERNAL: a figure that the model needs is missing or is not above 0
 */
tsl_err tsl_device_probe_put(FILE *file, const tsl_placement *placement,
                             const tsl_figures *figures);
