/* The table of the keys of a cluster file, and what no range of one key can say. */
#include "cluster.h"

#include "deck_file.h"

#include <stddef.h>
#include <stdio.h>

enum { MOST_NODES = 1 << 20, MOST_COUNTS = 64, MOST_OF_NODE = 1024 };

#define MOST_RATIO 1e6
#define FIGURE(key, doc) \
  TSL_REAL_KEY(#key, offsetof(tsl_cluster_figures, key), "1", 1e-6, MOST_RATIO, doc)

static const tsl_key figure_keys[] = {
    FIGURE(compute, "arithmetic: GFLOP/s over GFLOP/s"),
    FIGURE(memory, "main or device memory: GB/s over GB/s"),
    FIGURE(launch, "launches in a second over launches in a second"),
    {0}};

#define DEVICE(member) offsetof(tsl_cluster_device, member)

static const tsl_key device_keys[] = {
    TSL_TEXT_KEY("name", DEVICE(name), NULL, "as `tesela devices` or `tesela rates` prints it"),
    TSL_TEXT_KEY("like", DEVICE(like), "",
                 "a calibrated device that stands in for one that is not"),
    TSL_INT_KEY("count", DEVICE(count), "1", 1, MOST_OF_NODE, "of them in a node, a rank for each"),
    TSL_INT_KEY("threads", DEVICE(threads), "0", 0, 1 << 20,
                "of a socket: take the calibration with so many, 0: any"),
    TSL_BYTES_KEY("memory", DEVICE(memory), "0", 0, 0x1p60,
                  "that a rank may use; 0: that of a device of this name here, else not limited"),
    TSL_REAL_KEY("speed", DEVICE(speed), "1", 1e-6, MOST_RATIO, "times as fast as its calibration"),
    TSL_MAP_KEY("figures", DEVICE(figures), figure_keys, sizeof(tsl_cluster_figures),
                "its figures of `tesela probe` over those of `like`"),
    {0}};

static const tsl_key network_keys[] = {
    TSL_REAL_KEY("latency", offsetof(tsl_cluster_network, latency), NULL, 0, 1e3,
                 "s of an empty message between two nodes"),
    TSL_REAL_KEY("bandwidth", offsetof(tsl_cluster_network, bandwidth), NULL, 1, 1e30,
                 "bytes/s of a node"),
    {0}};

/* All three are required. */
const tsl_key tsl_cluster_keys[] = {
    {"nodes", TSL_KEY_INTS, offsetof(tsl_cluster, nodes), NULL, 1, MOST_NODES, NULL, NULL, 0,
     "a number of nodes, or a list of such numbers"},
    {"devices", TSL_KEY_MAPS, offsetof(tsl_cluster, devices), NULL, 0, 0, NULL, device_keys,
     sizeof(tsl_cluster_device), "of each node"},
    {"network", TSL_KEY_MAP, offsetof(tsl_cluster, network), NULL, 0, 0, NULL, network_keys,
     sizeof(tsl_cluster_network), "between the nodes"},
    {0}};

int tsl_cluster_ranks(const tsl_cluster *cluster) {
  const tsl_cluster_device *devices = tsl_cluster_devices(cluster);
  int64_t ranks = 0;
  for (uint64_t d = 0; d < cluster->devices.n; d++) ranks += devices[d].count;
  return (int)ranks;
}

static tsl_err check_counts(const tsl_deck *file, const tsl_cluster *c) {
  tsl_err err = TSL_OK;
  char path[64];
  if (c->nodes.n == 0 || c->nodes.n > MOST_COUNTS)
    TSL_DECK_FAIL(file, "cluster.nodes", "%llu numbers of nodes; 1 to %d",
                  (unsigned long long)c->nodes.n, MOST_COUNTS);
  if (c->devices.n == 0 || c->devices.n > MOST_OF_NODE)
    TSL_DECK_FAIL(file, "cluster.devices", "%llu devices; a node has 1 to %d",
                  (unsigned long long)c->devices.n, MOST_OF_NODE);
  for (uint64_t k = 0; k < c->nodes.n; k++) {
    const int64_t ranks = c->nodes.values[k] * tsl_cluster_ranks(c);
    (void)snprintf(path, sizeof path, "cluster.nodes[%d]", (int)k);
    if (ranks > TSL_CLUSTER_RANKS)
      TSL_DECK_FAIL(file, path, "%lld nodes of %d devices are %lld ranks; at most %d",
                    (long long)c->nodes.values[k], tsl_cluster_ranks(c), (long long)ranks,
                    TSL_CLUSTER_RANKS);
  }
done:
  return err;
}

/* Figures are those of another machine than the calibration's. */
static tsl_err check_devices(const tsl_deck *file, const tsl_cluster *c) {
  tsl_err err = TSL_OK;
  char path[64];
  for (int d = 0; d < (int)c->devices.n; d++) {
    const tsl_cluster_device *device = &tsl_cluster_devices(c)[d];
    (void)snprintf(path, sizeof path, "cluster.devices[%d].figures", d);
    if (device->like == NULL && tsl_deck_given(file, path))
      TSL_DECK_FAIL(file, path, "figures are over those of another device; name it by `like`");
    (void)snprintf(path, sizeof path, "cluster.devices[%d].speed", d);
    if (device->like == NULL && tsl_deck_given(file, path))
      TSL_DECK_FAIL(file, path, "times as fast as which device? name it by `like`");
  }
done:
  return err;
}

tsl_err tsl_cluster_bind(tsl_deck *file, tsl_cluster *cluster) {
  static const char *const sections[] = {"cluster", NULL};
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_deck_sections(file, sections));
  TSL_TRY(tsl_deck_bind(file, "cluster", tsl_cluster_keys, sizeof *cluster, cluster));
  TSL_TRY(check_counts(file, cluster));
  TSL_TRY(check_devices(file, cluster));
done:
  return err;
}

tsl_err tsl_cluster_read(const char *path, tsl_deck **file, tsl_cluster *cluster) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_deck_read(path, NULL, 0, file));
  TSL_TRY(tsl_cluster_bind(*file, cluster));
done:
  return err;
}
