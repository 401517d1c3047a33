/* Columns of the tables of /run that are read back. */
#include "run_tables.h"

const tsl_column tsl_machine_columns[] = {
    TSL_COLUMN(tsl_placement, rank, ""),
    TSL_COLUMN(tsl_placement, node, ""),
    TSL_COLUMN(tsl_placement, local_rank, ""),
    TSL_TEXT_COLUMN(tsl_placement, host, "host"),
    TSL_COLUMN_AS(tsl_placement, device.kind, "kind", ""),
    TSL_COLUMN_AS(tsl_placement, device.index, "index", ""),
    TSL_TEXT_COLUMN(tsl_placement, device.name, "device"),
    TSL_TEXT_COLUMN(tsl_placement, device.id, "id"),
    TSL_TEXT_COLUMN(tsl_placement, device.pci, "pci"),
    TSL_COLUMN_AS(tsl_placement, device.numa, "numa", ""),
    TSL_TEXT_COLUMN(tsl_placement, cpuset, "cpuset"),
    TSL_COLUMN(tsl_placement, threads, ""),
    TSL_COLUMN_AS(tsl_placement, device.processors, "processors", ""),
    TSL_COLUMN_AS(tsl_placement, device.capability, "capability", ""),
    TSL_COLUMN_AS(tsl_placement, device.memory, "memory", "B"),
    TSL_COLUMN_AS(tsl_placement, device.memory_free, "memory_free", "B"),
    TSL_COLUMN_AS(tsl_placement, device.memory_limit, "memory_limit", "B"),
    TSL_COLUMN_AS(tsl_placement, device.host_limit, "host_limit", "B"),
    TSL_TEXT_COLUMN(tsl_placement, device.driver, "driver"),
    TSL_NO_COLUMN,
};

const tsl_column tsl_balance_columns[] = {
    TSL_COLUMN(tsl_share_line, rank, ""),
    TSL_COLUMN(tsl_share_line, units, ""),
    TSL_COLUMN(tsl_share_line, dynamic, ""),
    TSL_COLUMN(tsl_share_line, static_share, "1"),
    TSL_COLUMN(tsl_share_line, predicted, "s"),
    TSL_COLUMN_AS(tsl_share_line, busy, "measured", "s"),
    TSL_COLUMN(tsl_share_line, finish, "s"),
    TSL_COLUMN(tsl_share_line, idle, "s"),
    TSL_NO_COLUMN,
};
