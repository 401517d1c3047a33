/**
 * @file calibration_file.h
 * The calibration file: what units take on devices, here or elsewhere, and what probes measured.
 *
 * A line is "HASH KIND C0 C1 C2 C3 +SETUP KEY", or of a probe (device_probe.h) "probe RATE
 * BANDWIDTH LAUNCH TRANSFER KEY". A key is host|device|id|driver|threads|ranks|family|signature|
 * program|..., of a probe without family and signature, with commas for blanks; of a card the host
 * is left out, as cards of a kind are alike wherever they sit. Of lines with the same key and kind
 * the last one holds. Other lines are of no use and no error.
 */
#pragma once

#include "cost.h"
#include "placement.h"
#include "settings.h"

#include <stdio.h>

/** Kinds of lines that are of no kind of units. */
enum {
  TSL_BETWEEN = -1, /**< s of rank 0 in the phases of an iteration, besides computing */
  TSL_WAY = -2,     /**< a way to cut (tsl_trial) */
  TSL_WAITING = -3, /**< time of these phases over the mean rank's device time in them */
  TSL_PROBE = -4,   /**< a probe: rate, bandwidth, launch, transfer */
  TSL_BAD_PROBE = -5,
  TSL_NO_LINE = -6
};

/** A line; words of its key with blanks back in place, "" where it ends before. */
typedef struct tsl_calibration_line {
  int number;            /**< in the file, from 1 */
  int kind;              /**< of units, or one of the above */
  uint64_t hash;         /**< of the key; of a probe 0 */
  double c[TSL_N_TERMS]; /**< of kinds below 0 the first */
  char key[1024];
  char host[64], device[80]; /**< from here on by tsl_calibration_words */
  char threads[32];          /**< "16 threads" */
  char ranks[32];            /**< "2 ranks" that measured side by side */
  char family[32], signature[128];
  char program[40]; /**< time and size of the program that measured */
  int size;         /**< units of about 2^size items were measured, of the first kind */
  int64_t lanes; /**< strips: of a rank; what a band costs besides is divided among them; else 0 */
} tsl_calibration_line;

/** Path of the calibration file: the setting, or below the cache folder; path holds size bytes. */
tsl_err tsl_calibration_path(const tsl_run_settings *settings, char *path, size_t size);

/** May lines be added to a file that the deck names? @return TSL_ERR_INPUT: it holds other lines */
tsl_err tsl_calibration_check(const tsl_run_settings *settings);

/** The file, open for reading; NULL when there is none, or no regular one. */
FILE *tsl_calibration_open(const tsl_run_settings *settings);

/** The next line that is understood, or a bad probe. At the end the file is closed.
 *  @param[in]     file  NULL: at its end
 *  @param[in,out] line  zeroed before the first */
bool tsl_calibration_next(FILE *file, tsl_calibration_line *line);

/** The file, open for more lines; NULL, with a note, when it cannot be. */
FILE *tsl_calibration_append(const tsl_run_settings *settings);

/** Add a line. @param[in] c  shape [TSL_N_TERMS], of a probe the first four */
void tsl_calibration_put(FILE *file, const char *key, int kind, const double *c);

/** The key of a rank's device and what it computes. @param[in] family  NULL: that of its probe */
void tsl_calibration_key(const tsl_placement *placement, const tsl_family *family, const char *what,
                         char key[TSL_COST_KEY]);

/** The words of the line's key. @param[in] key  NULL: it has one */
void tsl_calibration_words(const char *key, tsl_calibration_line *line);

/** Is it a figure of a probe: above 0, and neither it nor 1 over it infinite? */
bool tsl_calibration_is_rate(double x);

/** Was it measured by another build of the program? */
bool tsl_calibration_older(const tsl_calibration_line *line);

/** The terms that the file has for a key and all of n kinds from the first on.
 *  @param[out] c  shape [n]; what is not found stays */
bool tsl_calibration_find(const tsl_run_settings *settings, const char *key, int first, int n,
                          double (*c)[TSL_N_TERMS]);

/** Keep what lines of kinds below 0, probes apart, hold. A file that cannot be written is told. */
void tsl_calibration_keep(const tsl_run_settings *settings, const char *key, int kind,
                          double value);

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
int tsl_device_rates_read(const tsl_run_settings *settings, const char *family,
                          const char *signature, tsl_device_rate *rates, int room);
