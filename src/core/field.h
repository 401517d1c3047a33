/**
 * @file field.h
 * The arrays of a problem: their types, what is done with them, and their memory.
 */
#pragma once

#include "memory.h"

#include <stdint.h>

TSL_C_BEGIN

typedef enum tsl_type {
  TSL_U8,
  TSL_I16,
  TSL_U16,
  TSL_I32,
  TSL_U32,
  TSL_I64,
  TSL_U64,
  TSL_F32,
  TSL_F64,
  TSL_N_TYPES
} tsl_type;

/** Bytes of one element. */
size_t tsl_type_bytes(tsl_type type);
/** "f32" and so on; static storage. */
const char *tsl_type_name(tsl_type type);

/** Roles, or'ed together. */
typedef enum tsl_role {
  TSL_IN = 1,   /**< root -> all ranks before phase 0, and again when it has changed */
  TSL_OUT = 2,  /**< combined after each phase */
  TSL_STATE = 4 /**< part of a checkpoint */
} tsl_role;

/** How the ranks' parts of an OUT field become one. */
typedef enum tsl_combine {
  TSL_SUM,    /**< element-wise sum; exact for integers; floats: a tolerance is documented */
  TSL_MIN,    /**< element-wise minimum */
  TSL_MAX,    /**< element-wise maximum */
  TSL_GATHER, /**< each unit writes its own box (family.region); boxes are disjoint */
  TSL_LIST    /**< each unit appends records; result is the concatenation in unit order */
} tsl_combine;

enum { TSL_MAX_FIELDS = 48, TSL_NAME = 40 };

/**
 * An array of the problem. The table of fields drives allocation, broadcast, combination,
 * checkpoints, HDF5 datasets and docs/output.md. Row-major, last index fastest.
 */
typedef struct tsl_field {
  char name[TSL_NAME];     /**< dataset name below /results (OUT) or /input (IN) */
  char unit[TSL_NAME];     /**< physical unit, "1" when it has none */
  char doc[160];           /**< one sentence, stored as attribute */
  char quantity[TSL_NAME]; /**< what its values are, as an axis says it; empty: as its name says */
  int32_t role;            /**< tsl_role bits */
  int32_t type;            /**< tsl_type */
  int32_t combine;         /**< tsl_combine, OUT only */
  int32_t rank;            /**< number of dimensions, 1..3 */
  int64_t shape[3];        /**< unused entries 1; LIST: shape[0] is the running count */
  int32_t stream;   /**< 1: GATHER goes to the file while the run goes on, never whole in memory */
  int32_t hidden;   /**< 1: not written to the file */
  int32_t device;   /**< 1: IN, of this run alone (compiled objects, lines of the deck) */
  int32_t infinite; /**< 1: infinity is a value of the field; NaN never is */
  int32_t scale[3]; /**< of a dimension, an HDF5 scale: 1 + index of a 1-D field; 0 none */
  void *data; /**< from tsl_alloc, the problem's; NULL: streamed, or GATHER, LIST off the root */
  int64_t changes; /**< IN: how often data has changed (tsl_field_touch), on all ranks the same */
  int64_t shared;  /**< the runtime's own: changes when it was shared last */
} tsl_field;

/** Set what people read of a field. */
void tsl_field_label(tsl_field *field, const char *name, const char *unit, const char *doc);

/** Root, in family.advance: data of an IN field has changed; it is shared before the next phase. */
static inline void tsl_field_touch(tsl_field *field) {
  field->changes++;
}

/** Number of elements, of those of a row (LIST: a record), and bytes of all; fields are validated
 *  when created, so no overflow. */
int64_t tsl_field_count(const tsl_field *field);
int64_t tsl_field_row(const tsl_field *field);
int64_t tsl_field_bytes(const tsl_field *field);

/** Memory for the data of a field that has none yet, zeroed. @return TSL_ERR_MEMORY */
tsl_err tsl_field_allocate(tsl_field *field);

/** Element i of an array of TSL_F32 or TSL_F64. */
static inline double tsl_real_get(int32_t type, const void *data, int64_t i) {
  return type == TSL_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static inline void tsl_real_put(int32_t type, void *data, int64_t i, double value) {
  if (type == TSL_F32)
    ((float *)data)[i] = (float)value;
  else
    ((double *)data)[i] = value;
}

TSL_C_END
