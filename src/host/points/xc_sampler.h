/**
 * @file xc_sampler.h
 * The field at points of space on the threads of a host, which ranks of sockets and of cards
 * compute alike: blocks of the lattice of cube files, and shares of atoms at a group's points
 * (XC_TASK_CUBES, XC_TASK_SHARES).
 *
 *   open -> begin (each phase) -> run in any number -> collect -> close
 *
 * What a block or a group gets is computed by one thread and depends on nothing else, so it is the
 * same bits whoever computes it, on one SIMD level.
 */
#pragma once

#include "xc_problem.h"

TSL_C_BEGIN

typedef struct xc_sampler xc_sampler;

/** @param[in] problem  borrowed; its IN fields are read again by begin. @return TSL_ERR_MEMORY */
tsl_err xc_sampler_open(const tsl_problem *problem, int threads, xc_sampler **out);
/** NULL accepted, sets NULL. */
void xc_sampler_close(xc_sampler **sampler);

/** A phase begins, whatever it is for: densities may be others. */
void xc_sampler_begin(xc_sampler *sampler);

/** Are these units, of one call of a backend, the sampler's in the phase that has begun? */
bool xc_sampler_takes(const xc_sampler *sampler, const tsl_unit *units);

/** Compute units of blocks, or of groups; others have nothing to do then. Outside of their phases,
 *  for trials, nothing is kept. @return TSL_ERR_MEMORY, or what a free atom fails with */
tsl_err xc_sampler_run(xc_sampler *sampler, const tsl_unit *units, int64_t n);
/** Share the seconds of a run among the parts of its units. */
void xc_sampler_spread(const xc_sampler *sampler, double seconds, const tsl_unit *units, int64_t n,
                       tsl_part *parts);

/** Hand the phase's text and sums over to their fields, which are empty in other phases.
 *  @return TSL_ERR_MEMORY */
tsl_err xc_sampler_collect(xc_sampler *sampler, tsl_problem *problem);

TSL_C_END
