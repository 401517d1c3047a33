/** @file dp_rows_plain.c  Rows with their choices, as the recurrences are written. */
#include "dp_rows_plain.h"

#define T int32_t
#define NAME(x) x##_i32
#include "dp_rows_plain_body.h"
#define T int64_t
#define NAME(x) x##_i64
#include "dp_rows_plain_body.h"
#define T float
#define NAME(x) x##_f32
#include "dp_rows_plain_body.h"
#define T double
#define NAME(x) x##_f64
#include "dp_rows_plain_body.h"

void dp_row_choose(dp_problem problem, tsl_type type, const dp_row_job *job) {
  static void (*const allotments[TSL_N_TYPES])(const dp_row_job *) = {[TSL_I32] = allotment_i32,
                                                                      [TSL_I64] = allotment_i64,
                                                                      [TSL_F32] = allotment_f32,
                                                                      [TSL_F64] = allotment_f64};
  static void (*const stages[TSL_N_TYPES])(const dp_row_job *) = {[TSL_I32] = stagecoach_i32,
                                                                  [TSL_I64] = stagecoach_i64,
                                                                  [TSL_F32] = stagecoach_f32,
                                                                  [TSL_F64] = stagecoach_f64};
  (problem == DP_ALLOTMENT ? allotments : stages)[type](job);
}
