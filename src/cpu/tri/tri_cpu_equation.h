/**
 * @file tri_cpu_equation.h
 * An equation on a socket: compiled for the job on the root, loaded by each worker.
 */
#pragma once

#include "lang_compile.h"
#include "tri_equation.h"

/** The functions of tri_equation_loops.h. */
typedef void tri_equation_fill(const tri_equation_args *args, int64_t i, int rows, int64_t j,
                               int64_t n, void *out, int64_t out_ld);
typedef void tri_equation_sum(const tri_equation_args *args, const void *vector, int64_t i,
                              int rows, int64_t j, int64_t n, double *sums);

/** A loaded equation; fill is NULL where the function is none. */
typedef struct tri_cpu_equation {
  lang_object *object;
  tri_equation_args args;
  tri_equation_fill *fill;
  tri_equation_sum *sum;
} tri_cpu_equation;

/** tsl_backend.prepare. @return TSL_ERR_INPUT without a compiler, as lang_object_open */
tsl_err tri_cpu_prepare(tsl_problem *problem, const tsl_device *devices, int n);

/** Load what was compiled for the device. */
tsl_err tri_cpu_equation_open(const tsl_problem *problem, const tsl_device *device,
                              tri_cpu_equation *out);
void tri_cpu_equation_close(tri_cpu_equation *equation);
