/**
 * @file columns.h
 * How rows of a struct stand in a table of the output: for who writes it and for who reads it.
 */
#pragma once

#include "contract.h"

#include <stddef.h>

/** A column of a table; a list of them ends with TSL_NO_COLUMN. */
typedef struct tsl_column {
  const char *name;
  const char *unit; /**< "" none; stored as attribute NAME_unit of the table */
  size_t offset;    /**< of the member in the row's struct */
  int32_t type;     /**< tsl_type, ignored for text */
  int32_t text;     /**< bytes of a zero-ended char array member; 0: a number */
} tsl_column;

#define TSL_TYPE_OF(number) \
  _Generic((number), int32_t : TSL_I32, int64_t : TSL_I64, uint64_t : TSL_U64, double : TSL_F64)

/** A member that is a number, under its name or another. */
#define TSL_COLUMN(row, member, unit) TSL_COLUMN_AS(row, member, #member, unit)
#define TSL_COLUMN_AS(row, member, name, unit) \
  { name, unit, offsetof(row, member), TSL_TYPE_OF(((row *)0)->member), 0 }
/** Members of one unit, one after the other. */
#define TSL_COLUMNS_2(row, unit, a, b) TSL_COLUMN(row, a, unit), TSL_COLUMN(row, b, unit)
#define TSL_COLUMNS_3(row, unit, a, ...) \
  TSL_COLUMN(row, a, unit), TSL_COLUMNS_2(row, unit, __VA_ARGS__)
#define TSL_COLUMNS_4(row, unit, a, ...) \
  TSL_COLUMN(row, a, unit), TSL_COLUMNS_3(row, unit, __VA_ARGS__)
/** A member of three numbers: NAME0, NAME1, NAME2. */
#define TSL_COLUMNS_OF_3(row, member, name, unit)                                               \
  TSL_COLUMN_AS(row, member[0], name "0", unit), TSL_COLUMN_AS(row, member[1], name "1", unit), \
      TSL_COLUMN_AS(row, member[2], name "2", unit)
#define TSL_TEXT_COLUMN(row, member, name) \
  { name, "", offsetof(row, member), 0, sizeof(((row *)0)->member) }
#define TSL_NO_COLUMN \
  { NULL, NULL, 0, 0, 0 }
