/* Columns of the tables of /run that are read back. */
#include "run_tables.h"

#define OF_DEVICE(member, unit) TSL_COLUMN_AS(tsl_placement, device.member, #member, unit)

const tsl_column tsl_machine_columns[] = {
    TSL_COLUMNS_3(tsl_placement, "", rank, node, local_rank),
    TSL_TEXT_COLUMN(tsl_placement, host, "host"),
    OF_DEVICE(kind, ""),
    OF_DEVICE(index, ""),
    TSL_TEXT_COLUMN(tsl_placement, device.name, "device"),
    TSL_TEXT_COLUMN(tsl_placement, device.id, "id"),
    TSL_TEXT_COLUMN(tsl_placement, device.pci, "pci"),
    OF_DEVICE(numa, ""),
    TSL_TEXT_COLUMN(tsl_placement, cpuset, "cpuset"),
    TSL_COLUMN(tsl_placement, threads, ""),
    OF_DEVICE(processors, ""),
    OF_DEVICE(capability, ""),
    OF_DEVICE(memory, "B"),
    OF_DEVICE(memory_free, "B"),
    OF_DEVICE(memory_limit, "B"),
    OF_DEVICE(host_limit, "B"),
    TSL_TEXT_COLUMN(tsl_placement, device.driver, "driver"),
    TSL_NO_COLUMN,
};

const tsl_column tsl_balance_columns[] = {
    TSL_COLUMNS_3(tsl_share_line, "", rank, units, dynamic),
    TSL_COLUMN(tsl_share_line, static_share, "1"),
    TSL_COLUMN(tsl_share_line, predicted, "s"),
    TSL_COLUMN_AS(tsl_share_line, busy, "measured", "s"),
    TSL_COLUMNS_2(tsl_share_line, "s", finish, idle),
    TSL_NO_COLUMN,
};
