/* Callbacks of an HDF5 virtual file driver over one descriptor; after the first failed write all
 * later ones succeed without writing. */
#include "out_disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

/* HDF5's view of the file; pub comes first. */
typedef struct disk_file {
  H5FD_t pub;
  tsl_disk *disk;
  haddr_t eoa; /* end of allocated addresses */
  haddr_t eof; /* end of what was written, failed writes included */
} disk_file;

/* The driver's part of a property list. */
typedef struct disk_info {
  tsl_disk *disk;
} disk_info;

static H5FD_t *disk_open(const char *name, unsigned flags, hid_t fapl, haddr_t max) {
  const disk_info *info = H5Pget_driver_info(fapl);
  struct stat st;
  disk_file *file = NULL;
  (void)name, (void)flags, (void)max;
  if (info == NULL || fstat(info->disk->fd, &st) != 0) return NULL;
  file = calloc(1, sizeof *file);
  if (file == NULL) return NULL;
  file->disk = info->disk;
  file->eof = info->disk->resume ? 0 : (haddr_t)st.st_size;
  return &file->pub;
}

static herr_t disk_close(H5FD_t *pub) {
  free((disk_file *)pub);
  return 0;
}

static int disk_cmp(const H5FD_t *a, const H5FD_t *b) {
  const uintptr_t x = (uintptr_t)((const disk_file *)a)->disk;
  const uintptr_t y = (uintptr_t)((const disk_file *)b)->disk;
  return (x > y) - (x < y);
}

static herr_t disk_query(const H5FD_t *pub, unsigned long *flags) {
  (void)pub;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

static haddr_t disk_get_eoa(const H5FD_t *pub, H5FD_mem_t type) {
  (void)type;
  return ((const disk_file *)pub)->eoa;
}

static herr_t disk_set_eoa(H5FD_t *pub, H5FD_mem_t type, haddr_t address) {
  (void)type;
  ((disk_file *)pub)->eoa = address;
  return 0;
}

static haddr_t disk_get_eof(const H5FD_t *pub, H5FD_mem_t type) {
  (void)type;
  return ((const disk_file *)pub)->eof;
}

static herr_t disk_read(H5FD_t *pub, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t bytes,
                        void *buffer) {
  const disk_file *file = (const disk_file *)pub;
  char *to = buffer;
  (void)type, (void)dxpl;
  while (bytes > 0) {
    const ssize_t got = pread(file->disk->fd, to, bytes, (off_t)address);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) return memset(to, 0, bytes), 0; /* allocated, not yet written */
    to += got, address += (haddr_t)got, bytes -= (size_t)got;
  }
  return 0;
}

/* A write that would have ended at the given address failed. */
static void disk_fail(tsl_disk *disk, int code, haddr_t end, size_t bytes) {
  struct stat st;
  disk->failed = code;
  disk->needed = (int64_t)bytes;
  if (fstat(disk->fd, &st) == 0 && (int64_t)end - (int64_t)st.st_size > disk->needed)
    disk->needed = (int64_t)end - (int64_t)st.st_size;
}

static herr_t disk_write(H5FD_t *pub, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t bytes,
                         const void *buffer) {
  disk_file *file = (disk_file *)pub;
  const char *from = buffer;
  (void)type, (void)dxpl;
  if (address + bytes > file->eof) file->eof = address + bytes;
  while (bytes > 0 && file->disk->failed == 0) {
    const ssize_t put = pwrite(file->disk->fd, from, bytes, (off_t)address);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return disk_fail(file->disk, put < 0 ? errno : ENOSPC, address + bytes, bytes), 0;
    from += put, address += (haddr_t)put, bytes -= (size_t)put;
  }
  return 0;
}

/* HDF5 asks for the file to end exactly at the end of allocated addresses. */
static herr_t disk_truncate(H5FD_t *pub, hid_t dxpl, hbool_t closing) {
  disk_file *file = (disk_file *)pub;
  struct stat st;
  (void)dxpl, (void)closing;
  if (file->eoa == file->eof) return 0;
  if (file->disk->resume && fstat(file->disk->fd, &st) == 0 && (haddr_t)st.st_size >= file->eoa)
    return 0;
  if (file->disk->failed == 0 && ftruncate(file->disk->fd, (off_t)file->eoa) != 0)
    disk_fail(file->disk, errno, file->eoa, 0);
  file->eof = file->eoa;
  return 0;
}

static const H5FD_class_t disk_class = {
#if H5_VERSION_GE(1, 13, 2)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)560, /* 512..65535 are open to drivers outside the library */
#endif
    .name = "tesela_disk",
    .maxaddr = ((haddr_t)1 << 62),
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(disk_info),
    .open = disk_open,
    .close = disk_close,
    .cmp = disk_cmp,
    .query = disk_query,
    .get_eoa = disk_get_eoa,
    .set_eoa = disk_set_eoa,
    .get_eof = disk_get_eof,
    .read = disk_read,
    .write = disk_write,
    .truncate = disk_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

herr_t tsl_disk_driver(hid_t fapl, tsl_disk *disk, hid_t *driver) {
  const disk_info info = {disk};
  *driver = H5FDregister(&disk_class);
  return *driver < 0 ? -1 : H5Pset_driver(fapl, *driver, &info);
}
