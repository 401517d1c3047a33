/**
 * @file select_ranks.h
 * Which ranks are worth their while: a slow rank that would cost more time than it saves is left
 * out. A pure function, tested without MPI.
 *
 * Beside a card a socket may bring 3 % of the speed. Then what its taking part costs decides:
 * batches that must fit a slow rank, its last unit or batch, and the way of its results to rank 0.
 * Ranks with a quarter or more of the fastest rank's speed always take part.
 */
#pragma once

#include "plan.h"

/** Slower than the fastest rank by more than this: the rank has to be worth its while. */
#define TSL_USEFUL_PEERS 4.0
/** s that slow ranks cost in any run: on an H200 host a socket that did next to nothing beside the
 *  card made runs of 0.2 to 1 s longer by 10 to 50 ms. */
#define TSL_USEFUL_START 0.02
/** Bytes in a second that rank 0 receives of others and stores: 1.1e9 into a serial HDF5 file. */
#define TSL_USEFUL_RATE 1e9

/** What is judged. */
typedef struct tsl_select_ask {
  tsl_workload work;   /**< one run of each unit, with its part of what is done once */
  int phases;          /**< runs of each unit that are expected, 1 or more */
  const int32_t *like; /**< [n_ranks] as in tsl_plan_rule, or NULL */
  double bytes;        /**< of all results that go to rank 0 or to the file */
  int64_t stages;      /**< WAVE: of strips, each rank more lengthens the run by one; else 0 */
  double cut_last;     /**< units longer than TSL_USEFUL_START can be cut into so many */
  const double *batch; /**< [n_ranks] s of the fewest units that the rank's device computes at once,
                            not owned; NULL: of one */
} tsl_select_ask;

/** What a rank brings and costs; a row of /run/ranks. */
typedef struct tsl_use {
  int32_t rank, takes_part;
  double alone;   /**< s if it did everything, in all phases that are expected */
  double without; /**< s of those that take part, this rank left out */
  double gain;    /**< s that it takes off that, communication not counted */
  double price;   /**< s that its taking part costs; 0 for fast ranks */
} tsl_use;

/**
 * Judge the ranks. Slow ranks are added from the fastest on, as many as make the predicted time
 * with all prices the shortest.
 * @param[out] use  shape [n_ranks]
 */
void tsl_select_ranks(const tsl_select_ask *ask, tsl_use *use);
