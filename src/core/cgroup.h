/**
 * @file cgroup.h
 * Memory that the control groups of this process leave it: what Slurm's --mem or a container allows
 * is often far less than the host has free.
 * Source: Linux kernel documentation, admin-guide/cgroup-v2 and cgroup-v1/memory.
 */
#pragma once

#include "error.h"

#include <stdint.h>

TSL_C_BEGIN

/**
 * Bytes that this process's memory group and the groups around it may still take, the least of
 * them; pages of files that the kernel can drop count as free. Both versions are read.
 * @param[in] root  folder that /proc and /sys are looked for in, "" but in tests
 * @return INT64_MAX when nothing limits it
 */
int64_t tsl_cgroup_free(const char *root);

TSL_C_END
