/**
 * @file device_rates.h
 * What the calibration file knows of devices, here or elsewhere, for a family's problems.
 */
#pragma once

#include "calibration_file.h"

enum { TSL_DEVICE_RATES = 256 }; /**< a file's rates for one problem that are looked at */

/** A device as lines of the calibration file know it. */
typedef struct tsl_device_rate {
  tsl_calibration_line by; /**< whose it is, and of what units; the last of its lines */
  tsl_speed speed;
  double between; /**< s of rank 0 in the phases of an iteration, besides computing; 0: no run of
                       these ranks has told */
  double waiting; /**< time of these phases over the mean rank's device time; 0: likewise */
  bool guess; /**< of a probe (device_probe.h), not of such units: size and lanes are not known */
  unsigned found; /**< bits of the kinds that have a line */
} tsl_device_rate;

/**
 * The rates that a file holds for a family and the signature of a problem; later lines win.
 * @param[out] rates  shape [room]
 * @return their number; 0 when there is no file
 */
int tsl_device_rates_read(const char *path, const char *family, const char *signature,
                          tsl_device_rate *rates, int room);
