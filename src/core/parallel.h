/**
 * @file parallel.h
 * Independent ranges of work, on the threads that this process has for them.
 *
 * Families have no threads. What they do on the root before and between phases they hand over here
 * in ranges, and the runtime says how many threads there are. The ranges depend on the number of
 * items and the grain alone: when each writes what is its own, the result is the same bits for any
 * number of threads. Sums over ranges are the caller's, in an order of its own.
 */
#pragma once

#include "error.h"

#include <pthread.h>
#include <stdint.h>

TSL_C_BEGIN

/** More slots are never used. */
enum { TSL_PARALLEL_MOST = 256 };

/** Items [lo, hi). @param[in] slot  in 0..tsl_parallel_slots() - 1, of one range at a time: its
 *  scratch memory may be kept from range to range */
typedef tsl_err (*tsl_parallel_body)(void *context, int slot, int64_t lo, int64_t hi);

/**
 * From now on work is shared by so many threads, the caller among them; without this call, or with
 * 1, there is only the caller. The others are started here, on the processors that the caller may
 * use, and sleep between the calls of tsl_parallel. Not while one is under way.
 * @param[in] slots  held within 1..TSL_PARALLEL_MOST
 * @return TSL_ERR_MEMORY when threads cannot be started; then there is the caller alone
 */
tsl_err tsl_parallel_open(int slots);
/** Ends the threads; then there is the caller alone. */
void tsl_parallel_close(void);

/** Start a thread that no signal interrupts: these are the main thread's.
 *  @return 0, or errno of why not */
int tsl_thread_start(pthread_t *thread, void *(*run)(void *state), void *state);

/** Threads that share work. */
int tsl_parallel_slots(void);

/**
 * Call start(n) of a library that starts threads of its own in it, so that they may use the
 * processors of the team and not only the caller's, which they would inherit.
 */
void tsl_parallel_inherit(void (*start)(int n), int n);

/**
 * Items [0, n) in ranges of grain, begun in rising order; returns when all are done.
 *
 * A call within a range, or while another thread's call is under way, does its ranges in the
 * caller's thread one after another, in slot 0.
 * @param[in] grain  items of a range, the last one's fewer; at least 1
 * @return the error, with its message, of the lowest range that fails, and no other; ranges not
 *         begun by then are left out
 */
tsl_err tsl_parallel(int64_t n, int64_t grain, tsl_parallel_body body, void *context);

/** Threads of a worker's own, beside those of the process, which may be at work for others. */
typedef struct tsl_team tsl_team;

/** Start a team, on the processors that the caller may use, who is one of its threads.
 *  @param[in]  slots  held within 1..TSL_PARALLEL_MOST
 *  @param[out] team   tsl_team_close() ends it; NULL on failure
 *  @return TSL_ERR_MEMORY */
tsl_err tsl_team_open(int slots, tsl_team **team);
void tsl_team_close(tsl_team **team);
/** Threads of the team; 1 of none (NULL). */
int tsl_team_slots(const tsl_team *team);
/** As tsl_parallel, by this team. */
tsl_err tsl_team_run(tsl_team *team, int64_t n, int64_t grain, tsl_parallel_body body,
                     void *context);

/** Processors that the caller may use, TSL_PARALLEL_MOST at most. */
int tsl_usable_cores(void);

TSL_C_END
