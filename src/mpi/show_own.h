/**
 * @file show_own.h
 * Shared by the files show*.c only.
 */
#ifndef TSL_MPI_SHOW_OWN_H
#define TSL_MPI_SHOW_OWN_H

#include <hdf5.h>

/** Print text; control characters of a foreign file do not reach the terminal. */
void tsl_show_clean(const char *text);

/** Print /run/machine, one line for each rank. @return number of parts that could not be read */
int tsl_show_ranks(hid_t file);

/** Print /run/balance, absent in older files. @return number of parts that could not be read */
int tsl_show_balance(hid_t file);

#endif
