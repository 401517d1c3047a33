/** @file platform_cpu.c  The sockets of this host as devices. */
#include "backends_cpu.h"
#include "bench_cpu.h"
#include "cpu.h"
#include "probe_cpu.h"

#include <gnu/libc-version.h>
#include <hwloc.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  pthread_once_t once;
  const char *text; /* [n_text] of another process; NULL: this one reads */
  int n_text;
  hwloc_topology_t topology;
  bool loaded;
} host = {.once = PTHREAD_ONCE_INIT};

static void host_free(void) {
  if (host.loaded) hwloc_topology_destroy(host.topology);
  host.loaded = false;
}

/* Of a text, what this process may use is asked of the system all the same. */
static bool host_choose_source(void) {
  const unsigned long flags =
      HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_THISSYSTEM_ALLOWED_RESOURCES;
  return host.text == NULL ||
         (hwloc_topology_set_flags(host.topology, flags) == 0 &&
          hwloc_topology_set_xmlbuffer(host.topology, host.text, host.n_text) == 0);
}

static void host_load(void) {
  if (hwloc_topology_init(&host.topology) != 0) return;
  if (!host_choose_source() || hwloc_topology_load(host.topology) != 0) {
    hwloc_topology_destroy(host.topology);
    return;
  }
  host.loaded = true;
  (void)atexit(host_free);
}

static void cpu_adopt(const char *text, int n) {
  host.text = text, host.n_text = n;
  (void)pthread_once(&host.once, host_load);
  host.text = NULL;
}

int64_t tsl_cpu_cache_bytes(void) {
  int64_t bytes = 0;
  (void)pthread_once(&host.once, host_load);
  const hwloc_obj_t cache =
      host.loaded ? hwloc_get_obj_by_type(host.topology, HWLOC_OBJ_L3CACHE, 0) : NULL;
  if (cache != NULL) bytes = (int64_t)cache->attr->cache.size;
  return bytes > 0 ? bytes : (int64_t)32 << 20;
}

/** Number of packages; a host that shows none (some virtual machines) counts as one socket. */
static int cpu_count(const char **why) {
  (void)pthread_once(&host.once, host_load);
  if (!host.loaded) {
    *why = "hwloc could not read the topology of this host";
    return 0;
  }
  const int n = hwloc_get_nbobjs_by_type(host.topology, HWLOC_OBJ_PACKAGE);
  return n > 0 ? n : 1;
}

static hwloc_obj_t cpu_socket(int index) {
  hwloc_obj_t socket = hwloc_get_obj_by_type(host.topology, HWLOC_OBJ_PACKAGE, (unsigned)index);
  return socket != NULL ? socket : hwloc_get_root_obj(host.topology);
}

/** Cores of the socket on which this process may run. */
static int32_t cpu_cores(hwloc_obj_t socket) {
  int32_t cores = 0;
  hwloc_cpuset_t allowed = hwloc_bitmap_dup(socket->cpuset);
  hwloc_cpuset_t bound = hwloc_bitmap_alloc();
  if (hwloc_get_cpubind(host.topology, bound, HWLOC_CPUBIND_PROCESS) == 0)
    hwloc_bitmap_and(allowed, allowed, bound);
  for (hwloc_obj_t core = NULL;
       (core = hwloc_get_next_obj_by_type(host.topology, HWLOC_OBJ_CORE, core)) != NULL;)
    cores += hwloc_bitmap_intersects(core->cpuset, allowed);
  if (cores == 0) cores = (int32_t)hwloc_bitmap_weight(allowed);
  hwloc_bitmap_free(bound);
  hwloc_bitmap_free(allowed);
  return cores;
}

/** First NUMA node of the socket and the memory of all its nodes; of the host when unknown. */
static void cpu_memory(hwloc_obj_t socket, tsl_device *device) {
  device->numa = -1;
  device->memory = 0;
  for (hwloc_obj_t node = NULL;
       (node = hwloc_get_next_obj_by_type(host.topology, HWLOC_OBJ_NUMANODE, node)) != NULL;) {
    if (!hwloc_bitmap_intersects(node->cpuset, socket->cpuset)) continue;
    if (device->numa < 0) device->numa = (int32_t)node->os_index;
    device->memory += (int64_t)node->attr->numanode.local_memory;
  }
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (device->memory == 0) device->memory = page * sysconf(_SC_PHYS_PAGES);
}

static void cpu_name(hwloc_obj_t socket, tsl_device *device) {
  const char *name = hwloc_obj_get_info_by_name(socket, "CPUModel");
  (void)snprintf(device->name, sizeof device->name, "%s", name != NULL ? name : "processor");
  for (size_t end = strlen(device->name); end > 0 && device->name[end - 1] == ' '; end--)
    device->name[end - 1] = 0;
}

static tsl_err cpu_describe(int index, tsl_device *device) {
  tsl_err err = TSL_OK;
  const char *why = "";
  const int n = cpu_count(&why);
  hwloc_obj_t socket = NULL;
  if (n == 0) TSL_FAIL(TSL_ERR_DEVICE, "no socket found: %s", why);
  if (index < 0 || index >= n)
    TSL_FAIL(TSL_ERR_USAGE, "socket %d asked for, but this host has sockets 0 to %d", index, n - 1);
  socket = cpu_socket(index);
  device->kind = TSL_CPU;
  device->index = index;
  cpu_name(socket, device);
  (void)snprintf(device->id, sizeof device->id, "socket %d", index);
  device->pci[0] = 0;
  device->processors = cpu_cores(socket);
  device->capability = tsl_cpu_level();
  cpu_memory(socket, device);
  device->memory_free = tsl_memory_free();
  if (device->memory_free < 0 || device->memory_free > device->memory)
    device->memory_free = device->memory;
  (void)snprintf(device->driver, sizeof device->driver, "OpenMP %d, glibc %s", _OPENMP,
                 gnu_get_libc_version());
done:
  return err;
}

static tsl_err cpu_select(tsl_device *device) {
  tsl_err err = TSL_OK;
  if (device->threads < 1)
    TSL_FAIL(TSL_ERR_DEVICE, "%s: %d threads asked for, at least 1 is needed", device->id,
             device->threads);
  omp_set_dynamic(0);
  omp_set_num_threads(device->threads);
done:
  return err;
}

static const tsl_backend *const backends[] = {TSL_BACKENDS};

const tsl_platform tsl_platform_cpu = {
    .kind = TSL_CPU,
    .name = "cpu",
    .backends = backends,
    .benches = tsl_cpu_benches,
    .count = cpu_count,
    .describe = cpu_describe,
    .select = cpu_select,
    .adopt = cpu_adopt,
    .probe = tsl_cpu_probe,
};
