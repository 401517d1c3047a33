/**
 * @file out_disk.h
 * An HDF5 file driver that survives a full disk.
 *
 * HDF5 cannot close a file whose buffered data no longer fit: H5Fclose fails, ids leak and the
 * program may die at exit. This driver remembers the first failed write, takes all later ones as
 * done, and so lets HDF5 close cleanly; the owner looks at tsl_disk.failed after each call.
 */
#pragma once

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>

/** An open file and what happened to it. */
typedef struct tsl_disk {
  int fd;         /**< open for reading and writing; not owned by the driver */
  bool resume;    /**< while set: an opened file looks empty to HDF5, but is not cut */
  int failed;     /**< errno of the first failed write, 0: none */
  int64_t needed; /**< bytes that the failed write wanted to add */
} tsl_disk;

/**
 * Register the driver and make it the one of a file access property list.
 * @param[in]  disk    must outlive the files opened through fapl
 * @param[out] driver  free with H5FDunregister after the file is closed
 * @return negative when HDF5 refuses
 */
herr_t tsl_disk_driver(hid_t fapl, tsl_disk *disk, hid_t *driver);
