/**
 * @file show_own.h
 * Shared by the files show*.c only.
 */
#pragma once

#include "error.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

/** What `tesela show` prints of a file, in this process: HDF5 may die or loop in a hostile file.
 *  Global for tests. */
tsl_err tsl_show_file(const char *path, int64_t values);

/** Is there an object of this file, not a link to another file? Groups above it: checked before. */
bool tsl_show_has(hid_t file, const char *path);

/** Are a dataset's values in this very file: no external storage, no virtual dataset? */
bool tsl_show_inside(hid_t dataset);

/** Print /run/machine, one line for each rank. @return number of parts that could not be read */
int tsl_show_ranks(hid_t file);

/** Print /run/balance, absent in older files. @return number of parts that could not be read */
int tsl_show_balance(hid_t file);
