/* The table of all ranks: look at the host, decide with its other ranks, exchange. */
#include "machine.h"

#include "bcast.h"
#include "bind.h"
#include "collective_error.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CARDS = 32 };

/* What a rank tells the others of its node about the cards it sees. */
typedef struct sight {
  int32_t n;
  tsl_card cards[MAX_CARDS];
} sight;

/* A node while it is being decided. */
typedef struct node {
  MPI_Comm comm;
  int rank, size, leader; /* leader: lowest rank of the whole communicator on this node */
  char *text;             /* [n_text], the topology in XML */
  int n_text;
  hwloc_topology_t topology;
  bool loaded;
  hwloc_bitmap_t bound; /* hardware threads left to this rank */
  tsl_bind_host host;
  tsl_core *cores;
  tsl_card *cards;
  bool *may_run, *in_job, *chosen;
  int32_t *ordinal;
  sight mine, *sights;
  tsl_bind_choice *choices;
  const char *no_card;
} node;

/* -------------------------------------------------------------------- looking */

/* The whole host, other jobs' cores included, so that all ranks number cores alike. One rank of a
 * node reads it, which takes as long as a small run on a host of many cores and visits each of
 * them. */
static tsl_err read_topology(node *self) {
  tsl_err err = TSL_OK;
  hwloc_topology_t topology = NULL;
  char *text = NULL;
  if (hwloc_topology_init(&topology) != 0) TSL_FAIL(TSL_ERR_DEVICE, "hwloc does not start");
  if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
      hwloc_topology_load(topology) != 0)
    TSL_FAIL(TSL_ERR_DEVICE, "hwloc cannot read the topology of this host");
  if (hwloc_topology_export_xmlbuffer(topology, &text, &self->n_text, 0) != 0)
    TSL_FAIL(TSL_ERR_DEVICE, "hwloc cannot write the topology of this host");
  err = tsl_alloc(self->n_text, 1, "topology", (void **)&self->text);
  if (err == TSL_OK) memcpy(self->text, text, (size_t)self->n_text);
  hwloc_free_xmlbuffer(topology, text);
done:
  if (topology != NULL) hwloc_topology_destroy(topology);
  return err;
}

static tsl_err share_topology(node *self) {
  tsl_err err = TSL_OK;
  TSL_MPI(MPI_Bcast(&self->n_text, 1, MPI_INT, 0, self->comm));
  TSL_COLLECTIVE_TRY(
      self->comm,
      self->rank == 0 ? TSL_OK : tsl_alloc(self->n_text, 1, "topology", (void **)&self->text));
  TSL_TRY(tsl_bcast_bytes(self->comm, self->text, self->n_text));
done:
  return err;
}

/* From the text; what this process may use of it is its own. */
static tsl_err open_topology(node *self) {
  tsl_err err = TSL_OK;
  const unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
                              HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
                              HWLOC_TOPOLOGY_FLAG_THISSYSTEM_ALLOWED_RESOURCES;
  if (hwloc_topology_init(&self->topology) != 0) TSL_FAIL(TSL_ERR_DEVICE, "hwloc does not start");
  self->loaded = true;
  if (hwloc_topology_set_flags(self->topology, flags) != 0 ||
      hwloc_topology_set_xmlbuffer(self->topology, self->text, self->n_text) != 0 ||
      hwloc_topology_load(self->topology) != 0)
    TSL_FAIL(TSL_ERR_DEVICE, "hwloc does not take the topology that a rank of this node has read");
  if (tsl_platform_cpu.adopt != NULL) tsl_platform_cpu.adopt(self->text, self->n_text);
  TSL_TRY(tsl_bind_cores(self->topology, &self->cores, &self->host.n_cores));
  self->bound = hwloc_bitmap_alloc();
  if (self->bound == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory for a cpuset");
  if (hwloc_get_cpubind(self->topology, self->bound, HWLOC_CPUBIND_THREAD) != 0)
    (void)hwloc_bitmap_copy(self->bound, hwloc_topology_get_allowed_cpuset(self->topology));
  (void)hwloc_bitmap_and(self->bound, self->bound,
                         hwloc_topology_get_allowed_cpuset(self->topology));
done:
  return err;
}

static tsl_err machine_allocate(node *self) {
  tsl_err err = TSL_OK;
  const int64_t n = (int64_t)self->size * self->host.n_cores;
  TSL_TRY(tsl_alloc(n, sizeof(bool), "core table", (void **)&self->may_run));
  TSL_TRY(tsl_alloc(n, sizeof(bool), "core table", (void **)&self->chosen));
  TSL_TRY(tsl_alloc(self->host.n_cores, sizeof(bool), "core table", (void **)&self->in_job));
  TSL_TRY(tsl_alloc(self->size, sizeof(sight), "card table", (void **)&self->sights));
  TSL_TRY(tsl_alloc((int64_t)self->size * MAX_CARDS, sizeof(tsl_card), "card table",
                    (void **)&self->cards));
  TSL_TRY(tsl_alloc(self->size, sizeof *self->choices, "placements", (void **)&self->choices));
done:
  return err;
}

static bool overlaps(hwloc_const_bitmap_t set, hwloc_topology_t topology, int32_t core) {
  hwloc_obj_type_t type =
      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  return hwloc_bitmap_intersects(hwloc_get_obj_by_type(topology, type, (unsigned)core)->cpuset,
                                 set);
}

static tsl_err share_cores(node *self) {
  tsl_err err = TSL_OK;
  const int n = self->host.n_cores;
  bool *mine = self->may_run + (int64_t)self->rank * n;
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(self->topology);
  for (int32_t c = 0; c < n; c++) {
    mine[c] = overlaps(self->bound, self->topology, c);
    self->in_job[c] = overlaps(allowed, self->topology, c);
  }
  TSL_MPI(
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, self->may_run, n, MPI_C_BOOL, self->comm));
  TSL_MPI(MPI_Allreduce(MPI_IN_PLACE, self->in_job, n, MPI_C_BOOL, MPI_LOR, self->comm));
done:
  return err;
}

static tsl_err look_at_cards(node *self) {
  tsl_err err = TSL_OK;
  sight *mine = &self->mine;
  tsl_device device;
  const char *why = NULL;
  mine->n = tsl_platform_gpu.count(&why);
  if (mine->n > MAX_CARDS) mine->n = MAX_CARDS;
  if (mine->n == 0) self->no_card = why;
  for (int32_t c = 0; c < mine->n; c++) {
    TSL_TRY(tsl_platform_gpu.describe(c, &device));
    memcpy(mine->cards[c].id, device.id, sizeof mine->cards[c].id);
    mine->cards[c].numa = device.numa;
  }
done:
  return err;
}

static int32_t find_id(const node *self, const char *id) {
  int32_t c = 0;
  while (c < self->host.n_cards && strcmp(self->cards[c].id, id) != 0) c++;
  return c;
}

/* Cards by UUID: each rank may number them in its own way. */
static tsl_err number_cards(node *self) {
  tsl_err err = TSL_OK;
  for (int r = 0; r < self->size; r++)
    for (int32_t c = 0; c < self->sights[r].n; c++) {
      const tsl_card *card = &self->sights[r].cards[c];
      if (find_id(self, card->id) == self->host.n_cards) self->cards[self->host.n_cards++] = *card;
    }
  const int64_t n = (int64_t)self->size * self->host.n_cards;
  TSL_TRY(tsl_alloc(n, sizeof(int32_t), "card table", (void **)&self->ordinal));
  for (int64_t i = 0; i < n; i++) self->ordinal[i] = -1;
  for (int r = 0; r < self->size; r++)
    for (int32_t c = 0; c < self->sights[r].n; c++)
      self->ordinal[(int64_t)r * self->host.n_cards + find_id(self, self->sights[r].cards[c].id)] =
          c;
done:
  return err;
}

/* ------------------------------------------------------------------- deciding */

/* The CPU platform numbers only sockets with a core that this process may use. */
static int platform_socket(const node *self, int32_t package) {
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(self->topology);
  int index = 0;
  for (int32_t p = 0; p < package; p++) {
    const hwloc_obj_t object =
        hwloc_get_obj_by_type(self->topology, HWLOC_OBJ_PACKAGE, (unsigned)p);
    index += object != NULL && hwloc_bitmap_intersects(object->cpuset, allowed);
  }
  return index;
}

/* What a rank may use of a host's memory, of which so much is free. */
static int64_t host_limit(const node *self, const tsl_bind_ask *ask, int64_t n_free) {
  if (ask->host_memory <= 0) return n_free / 2 / self->size;
  return ask->host_memory < n_free ? ask->host_memory : n_free;
}

/* Of a card's free memory: 90 %, split among the ranks that share it, or less where asked for. */
static double card_share(const tsl_bind_ask *ask, int32_t sharers) {
  const double share = 0.9 / sharers;
  return ask->device_memory > 0 && ask->device_memory < share ? ask->device_memory : share;
}

static tsl_err describe_device(const node *self, const tsl_bind_ask *ask,
                               tsl_placement *placement) {
  tsl_err err = TSL_OK;
  const tsl_bind_choice *mine = &self->choices[self->rank];
  tsl_device *device = &placement->device, near = {.kind = TSL_CPU};
  const bool card = mine->kind == TSL_GPU;
  TSL_TRY(tsl_platform_cpu.describe(card ? 0 : platform_socket(self, mine->package), &near));
  near.host_limit = near.memory_limit = host_limit(self, ask, near.memory_free);
  if (!card) {
    *device = near;
    device->threads = mine->threads;
    goto done;
  }
  const int32_t at = self->ordinal[(int64_t)self->rank * self->host.n_cards + mine->card];
  TSL_TRY(tsl_platform_gpu.describe(at, device));
  device->memory_share = card_share(ask, mine->sharers);
  tsl_device_has_free(device, device->memory); /* at most */
  device->host_limit = near.host_limit;
done:
  return err;
}

static tsl_err fill_seat(const node *self, const tsl_bind_ask *ask, tsl_placement *placement) {
  tsl_err err = TSL_OK;
  const int32_t n = self->host.n_cores;
  const tsl_bind_choice *mine = &self->choices[self->rank];
  placement->threads = mine->threads;
  placement->cores = mine->n_cores;
  placement->notes = mine->notes;
  placement->node_cards = self->host.n_cards;
  for (int32_t c = 0; c < n; c++) {
    placement->node_cores += self->in_job[c];
    placement->allowed_cores += self->may_run[(int64_t)self->rank * n + c];
  }
  if (mine->n_cores > 0)
    TSL_TRY(tsl_bind_cpuset(self->topology, self->chosen + (int64_t)self->rank * n, n, self->bound,
                            placement->cpuset));
  if (getenv("OMP_PROC_BIND") != NULL || getenv("OMP_PLACES") != NULL ||
      getenv("GOMP_CPU_AFFINITY") != NULL)
    placement->notes |= TSL_NOTE_OMP_PLACES;
  TSL_TRY(describe_device(self, ask, placement));
  if (ask->pin) TSL_TRY(tsl_bind_thread(placement));
done:
  return err;
}

/* Finding cards starts their driver, a tenth of a second, beside the topology. */
typedef struct search {
  node *self;
  tsl_err_copy outcome;
} search;

static void *search_cards(void *arg) {
  search *its = arg;
  tsl_err_save(look_at_cards(its->self), &its->outcome);
  return NULL;
}

/* What each sees for itself, and one of them for all. */
static tsl_err look(node *self, const tsl_bind_ask *ask) {
  tsl_err err = TSL_OK;
  search its = {.self = self};
  pthread_t thread;
  const bool wanted = strstr(ask->devices, "gpu") != NULL || strcmp(ask->devices, "auto") == 0;
  const bool apart = wanted && tsl_thread_start(&thread, search_cards, &its) == 0;
  if (self->rank == 0) err = read_topology(self);
  if (apart)
    (void)pthread_join(thread, NULL);
  else if (wanted)
    (void)search_cards(&its);
  return err != TSL_OK ? err : tsl_err_restore(&its.outcome);
}

static tsl_err prepare(node *self) {
  tsl_err err = TSL_OK;
  TSL_TRY(open_topology(self));
  TSL_TRY(machine_allocate(self));
done:
  return err;
}

/* The same decision on all ranks, from what they have shared. */
static tsl_err take_seat(node *self, const tsl_bind_ask *ask, tsl_placement *placement) {
  tsl_err err = TSL_OK;
  TSL_TRY(number_cards(self));
  self->host.n_ranks = self->size;
  self->host.cores = self->cores;
  self->host.cards = self->cards;
  self->host.in_job = self->in_job;
  self->host.may_run = self->may_run;
  self->host.ordinal = self->ordinal;
  self->host.no_card = self->no_card;
  TSL_TRY(tsl_bind_decide(ask, &self->host, self->choices, self->chosen));
  TSL_TRY(fill_seat(self, ask, placement));
done:
  return err;
}

/* All that happens within a node; its ranks agree after what one of them can fail at alone. */
static tsl_err seat_node(node *self, const tsl_bind_ask *ask, tsl_placement *placement) {
  tsl_err err = TSL_OK;
  TSL_COLLECTIVE_TRY(self->comm, look(self, ask));
  TSL_TRY(share_topology(self));
  TSL_COLLECTIVE_TRY(self->comm, prepare(self));
  TSL_TRY(share_cores(self));
  TSL_MPI(MPI_Allgather(&self->mine, (int)sizeof(sight), MPI_BYTE, self->sights, (int)sizeof(sight),
                        MPI_BYTE, self->comm));
  TSL_COLLECTIVE_TRY(self->comm, take_seat(self, ask, placement));
done:
  return err;
}

static void clear_node(node *self) {
  TSL_FREE_ALL(self->choices, self->ordinal, self->cards, self->sights, self->in_job, self->chosen,
               self->may_run, self->cores, self->text);
  hwloc_bitmap_free(self->bound);
  if (self->loaded) hwloc_topology_destroy(self->topology);
  if (self->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&self->comm);
}

/* ---------------------------------------------------------------------- table */

static tsl_err find_node(MPI_Comm comm, node *self, tsl_placement *placement) {
  tsl_err err = TSL_OK;
  TSL_MPI(MPI_Comm_rank(comm, &placement->rank));
  TSL_MPI(
      MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, placement->rank, MPI_INFO_NULL, &self->comm));
  TSL_MPI(MPI_Comm_set_errhandler(self->comm, MPI_ERRORS_RETURN));
  TSL_MPI(MPI_Comm_rank(self->comm, &self->rank));
  TSL_MPI(MPI_Comm_size(self->comm, &self->size));
  self->leader = placement->rank;
  TSL_MPI(MPI_Bcast(&self->leader, 1, MPI_INT, 0, self->comm));
  placement->node = self->leader; /* numbered once all are known */
  placement->local_rank = self->rank;
  placement->local_size = self->size;
  (void)gethostname(placement->host, sizeof placement->host - 1);
done:
  return err;
}

/* From the leader's rank to 0, 1, ... in the order of leaders. */
static void number_nodes(tsl_placement *placements, int n) {
  int32_t next = 0;
  for (int r = 0; r < n; r++)
    placements[r].node = placements[r].node == r ? next++ : placements[placements[r].node].node;
}

tsl_err tsl_machine_gather(MPI_Comm comm, const tsl_bind_ask *ask, tsl_placement **placements) {
  tsl_err err = TSL_OK, here = TSL_OK;
  tsl_err_copy failure = {.code = TSL_OK};
  node self = {.comm = MPI_COMM_NULL};
  tsl_placement mine = {0};
  tsl_placement *table = NULL;
  int size = 1;
  *placements = NULL;
  TSL_MPI(MPI_Comm_size(comm, &size));
  TSL_TRY(find_node(comm, &self, &mine));
  here = seat_node(&self, ask, &mine);
  if (here != TSL_OK) tsl_err_save(here, &failure);
  TSL_COLLECTIVE_TRY(comm, tsl_alloc(size, sizeof *table, "table of ranks", (void **)&table));
  TSL_MPI(
      MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, table, (int)sizeof mine, MPI_BYTE, 0, comm));
  TSL_TRY(tsl_bcast_bytes(comm, table, (int64_t)size * (int64_t)sizeof mine));
  if (here != TSL_OK) {
    err = tsl_err_restore(&failure);
    goto done;
  }
  number_nodes(table, size);
  *placements = table;
  table = NULL;
done:
  tsl_free(table);
  clear_node(&self);
  return err;
}
