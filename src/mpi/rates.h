/**
 * @file rates.h
 * `tesela rates DECK`: what to buy. Passes over a deck's units that each device ever calibrated
 * would make in a day, by the stored calibrations.
 */
#ifndef TSL_MPI_RATES_H
#define TSL_MPI_RATES_H

#include "cost.h"

#include <mpi.h>

/** A device as one line of the calibration file names it; text with blanks back in place. */
typedef struct tsl_rate {
  char host[64]; /**< "" for a card: cards of a kind are alike wherever they sit */
  char device[80];
  char threads[32]; /**< "16 threads", "1 threads" on a card */
  char ranks[32];   /**< ranks that measured side by side */
  char program[40]; /**< time and size of the program that measured */
  tsl_speed speed;
  unsigned found; /**< bits of the kinds that have a line */
} tsl_rate;

/**
 * Read the rates that a calibration file holds for a family and signature. Later lines win.
 * @param[out] rates  [room]
 * @return their number; 0 when there is no file. Lines that are not understood are skipped.
 */
int tsl_rates_read(const char *path, const char *family, const char *signature, tsl_rate *rates,
                   int room);

/** The subcommand; collective on comm, of use on one rank. argv[0] is "rates". */
tsl_err tsl_rates(MPI_Comm comm, int argc, char **argv);

#endif
