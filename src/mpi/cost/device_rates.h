/**
 * @file device_rates.h
 * What the calibration file knows of devices, here or elsewhere, for a family's problems.
 */
#pragma once

#include "cost.h"

enum { TSL_DEVICE_RATES = 256 }; /**< a file's rates for one problem that are looked at */

/** A device as lines of the calibration file name it; text with blanks back in place. */
typedef struct tsl_device_rate {
  char host[64]; /**< "" for a card: cards of a kind are alike wherever they sit */
  char device[80];
  char threads[32]; /**< "16 threads" */
  char ranks[32];   /**< "2 ranks" that measured side by side */
  char program[40]; /**< time and size of the program that measured */
  tsl_speed speed;
  double between; /**< s of rank 0 in the phases of an iteration, besides computing; 0: no run of
                       these ranks has told */
  int size;       /**< units of about 2^size items were measured, of the first kind */
  int64_t
      lanes;  /**< strips: of a rank; what a band costs besides its cells is divided among them */
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

/** Was it measured by another build of the program? */
bool tsl_device_rate_older(const tsl_device_rate *rate);
