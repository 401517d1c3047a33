/**
 * @file network.h
 * Seconds of messages between nodes, by latency and bandwidth. Pure functions, tested without MPI.
 *
 * Collectives as MPI libraries have them (Thakur, Rabenseifner & Gropp 2005): a binomial tree for
 * short messages, scatter and all-gather, or reduce-scatter and gather, for long ones; the faster
 * of the two counts. Messages within a node take no time here.
 */
#pragma once

#include <stdbool.h>

/** Nodes of equally many ranks: rank r is on node r / ranks_per_node. */
typedef struct tsl_network {
  int ranks_per_node;
  double latency;   /**< s of an empty message */
  double bandwidth; /**< bytes/s of a node, positive */
} tsl_network;

/** Are two ranks on different nodes? */
static inline bool tsl_network_crosses(const tsl_network *network, int from, int to) {
  return from / network->ranks_per_node != to / network->ranks_per_node;
}

/** s of a message between nodes. */
static inline double tsl_network_message(const tsl_network *network, double bytes) {
  return network->latency + bytes / network->bandwidth;
}

/** s until bytes of rank 0 are on all nodes; a reduction to rank 0 takes as long, its arithmetic
 *  not counted. 0 for one node. */
double tsl_network_bcast(const tsl_network *network, int nodes, double bytes);
