/**
 * @file cluster.h
 * The file of `tesela plan --cluster`: nodes, their devices and their network.
 */
#pragma once

#include "deck.h"

/** Figures of `tesela probe` of a device over those of the one it is like. */
typedef struct tsl_cluster_figures {
  double compute, memory, launch; /**< rates: twice as fast is 2 */
} tsl_cluster_figures;

/** Equal devices of a node; each gets a rank. Texts belong to the file. */
typedef struct tsl_cluster_device {
  char *name;
  char *like; /**< NULL: calibrated under its own name */
  int64_t count;
  int64_t threads; /**< of a socket's calibration, 0: any */
  int64_t memory;  /**< bytes, 0: not given */
  double speed;    /**< times as fast as like */
  tsl_cluster_figures figures;
} tsl_cluster_device;

typedef struct tsl_cluster_network {
  double latency, bandwidth; /**< s, bytes/s */
} tsl_cluster_network;

/** Section `cluster:`. */
typedef struct tsl_cluster {
  tsl_ints nodes;
  tsl_maps devices; /**< of tsl_cluster_device */
  tsl_cluster_network network;
} tsl_cluster;

extern const tsl_key tsl_cluster_keys[];

/** Ranks at most. */
enum { TSL_CLUSTER_RANKS = 1 << 20 };

/**
 * Not collective. Read and check a file.
 * @param[out] file     holds the texts of cluster; free with tsl_deck_destroy
 * @return TSL_ERR_INPUT with file:line, what is wrong, what is allowed
 */
tsl_err tsl_cluster_read(const char *path, tsl_deck **file, tsl_cluster *cluster);

/** As tsl_cluster_read of a file that is parsed already. */
tsl_err tsl_cluster_bind(tsl_deck *file, tsl_cluster *cluster);

/** Ranks of a node. */
int tsl_cluster_ranks(const tsl_cluster *cluster);

static inline const tsl_cluster_device *tsl_cluster_devices(const tsl_cluster *cluster) {
  return cluster->devices.values;
}
