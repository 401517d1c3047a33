/* Topologies to plain data and back to masks. */
#include "bind.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* Cores, or hardware threads where the system shows no cores (some virtual machines). */
static hwloc_obj_type_t core_type(hwloc_topology_t topology) {
  return hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

static tsl_core core_of(hwloc_topology_t topology, hwloc_obj_t object) {
  const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
  const int numa = hwloc_bitmap_first(object->nodeset);
  return (tsl_core){.package = package == NULL ? 0 : (int32_t)package->logical_index,
                    .numa = numa,
                    .pu = hwloc_bitmap_first(object->cpuset)};
}

tsl_err tsl_bind_cores(hwloc_topology_t topology, tsl_core **cores, int32_t *n) {
  tsl_err err = TSL_OK;
  const hwloc_obj_type_t type = core_type(topology);
  *cores = NULL;
  *n = hwloc_get_nbobjs_by_type(topology, type);
  if (*n < 1) TSL_FAIL(TSL_ERR_DEVICE, "hwloc finds no core on this host");
  TSL_TRY(tsl_alloc(*n, sizeof **cores, "cores", (void **)cores));
  for (int32_t c = 0; c < *n; c++)
    (*cores)[c] = core_of(topology, hwloc_get_obj_by_type(topology, type, (unsigned)c));
done:
  return err;
}

tsl_err tsl_bind_cpuset(hwloc_topology_t topology, const bool *chosen, int32_t n,
                        hwloc_const_bitmap_t allowed, char text[256]) {
  tsl_err err = TSL_OK;
  const hwloc_obj_type_t type = core_type(topology);
  const hwloc_bitmap_t mask = hwloc_bitmap_alloc();
  if (mask == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for a cpuset");
  for (int32_t c = 0; c < n; c++)
    if (chosen[c])
      (void)hwloc_bitmap_or(mask, mask, hwloc_get_obj_by_type(topology, type, (unsigned)c)->cpuset);
  (void)hwloc_bitmap_and(mask, mask, allowed);
  if (hwloc_bitmap_list_snprintf(text, 256, mask) >= 256)
    TSL_FAIL(TSL_ERR_INTERNAL, "the cpuset %.200s... has too many pieces", text);
done:
  hwloc_bitmap_free(mask);
  return err;
}

/* Cores for threads of this rank: on a socket no more than run.threads. */
static int32_t lent_cores(const tsl_placement *p) {
  return p->device.kind == TSL_CPU && p->threads < p->cores ? p->threads : p->cores;
}

tsl_err tsl_bind_node(const tsl_placement *placements, int n, int rank, tsl_placement *all) {
  tsl_err err = TSL_OK;
  const hwloc_bitmap_t mask = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
  *all = placements[rank];
  all->cores = 0;
  if (mask == NULL || one == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for a cpuset");
  for (int r = 0; r < n; r++) {
    if (placements[r].node != all->node) continue;
    all->cores += lent_cores(&placements[r]);
    if (hwloc_bitmap_list_sscanf(one, placements[r].cpuset) == 0)
      (void)hwloc_bitmap_or(mask, mask, one);
  }
  if (all->cpuset[0] != '\0' && hwloc_bitmap_list_snprintf(all->cpuset, 256, mask) >= 256)
    TSL_FAIL(TSL_ERR_INTERNAL, "the cpuset %.200s... has too many pieces", all->cpuset);
done:
  hwloc_bitmap_free(mask), hwloc_bitmap_free(one);
  return err;
}

tsl_err tsl_bind_thread(const tsl_placement *placement) {
  tsl_err err = TSL_OK;
  cpu_set_t *set = NULL;
  const hwloc_bitmap_t mask = hwloc_bitmap_alloc();
  size_t bytes = 0;
  if (placement->cpuset[0] == '\0') goto done;
  if (mask == NULL || hwloc_bitmap_list_sscanf(mask, placement->cpuset) != 0 ||
      hwloc_bitmap_weight(mask) < 1)
    TSL_FAIL(TSL_ERR_INTERNAL, "cannot read the cpuset '%s'", placement->cpuset);
  bytes = CPU_ALLOC_SIZE((size_t)hwloc_bitmap_last(mask) + 1);
  set = CPU_ALLOC((size_t)hwloc_bitmap_last(mask) + 1);
  if (set == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for a cpuset");
  CPU_ZERO_S(bytes, set);
  for (int pu = hwloc_bitmap_first(mask); pu >= 0; pu = hwloc_bitmap_next(mask, pu))
    CPU_SET_S((size_t)pu, bytes, set);
  if (sched_setaffinity(0, bytes, set) != 0)
    TSL_FAIL(TSL_ERR_INTERNAL, "cannot bind to hardware threads %s: %s", placement->cpuset,
             strerror(errno));
done:
  if (set != NULL) CPU_FREE(set);
  hwloc_bitmap_free(mask);
  return err;
}
