/**
 * @file device_probe.h
 * What `tesela probe` measured of devices, as a first guess of their cost models.
 *
 * A line of the calibration file is "probe RATE BANDWIDTH LAUNCH TRANSFER KEY": flop/s, bytes/s of
 * its memory, s of a launch (of a socket a parallel region), bytes/s of results to the host (of a
 * socket BANDWIDTH), and host|device|id|driver|threads|ranks|program of who measured. A unit is
 * guessed to take
 *
 *     LAUNCH + results / TRANSFER + flops / RATE + bytes / BANDWIDTH      (s)
 *
 * as if each operation were one of a multiply-add that waits for nothing, which is why most take
 * longer and some, of many small integers in a register, less (docs/scheduling.md, section 1).
 */
#pragma once

#include "cost.h"
#include "placement.h"
#include "probe.h"

#include <stdio.h>

enum { TSL_DEVICE_PROBES = 256 }; /**< of a file that are looked at */

/** Times of devices that have not computed such units were so many times longer or shorter than
 *  such a guess at most: docs/scheduling.md has the decks that were looked at. */
#define TSL_PROBE_UNSURE 20

/** Plain data; text with blanks back in place, as in tsl_device_rate. */
typedef struct tsl_device_probe {
  char host[64], device[80], threads[32], ranks[32], program[40];
  double rate, bandwidth, launch, transfer; /**< flop/s, bytes/s, s, bytes/s; all above 0 */
} tsl_device_probe;

/** Is it a line of a probe, good or bad? */
bool tsl_device_probe_is(const char *line);

/**
 * The probes that a calibration file holds, the last first.
 * @param[out] probes  shape [TSL_DEVICE_PROBES]
 * @param[out] n       their number; 0 when there is no file
 * @return TSL_ERR_INPUT with file:line: a figure that is no number above 0, or no key
 */
tsl_err tsl_device_probes_read(const char *path, tsl_device_probe *probes, int *n);

/**
 * Of a device by its name and, where told, host and threads the one measured beside a number of
 * ranks nearest to this one, of these the last. Cards are alike wherever they sit.
 * @param[in] host  NULL: any
 * @param[in] threads  0: any
 * @return NULL: there is none
 */
const tsl_device_probe *tsl_device_probe_find(const tsl_device_probe *probes, int n,
                                              const char *host, const char *device, int threads,
                                              int ranks);

/** That of a rank of this job. @param[in] key  begins as tsl_calibration_device writes it */
const tsl_device_probe *tsl_device_probe_of(const tsl_device_probe *probes, int n, const char *key);

/** The guess for a problem's units. @param[in] units  shape [n] */
void tsl_device_probe_speed(const tsl_device_probe *probe, const tsl_problem *problem,
                            const tsl_unit *units, int64_t n, tsl_speed *speed);

/**
 * Append the figures of a device to an open calibration file.
 * @param[in] placement  of the rank that measured
 * @return TSL_ERR_INTERNAL: a figure that the model needs is missing or is not above 0
 */
tsl_err tsl_device_probe_put(FILE *file, const tsl_placement *placement,
                             const tsl_figures *figures);
