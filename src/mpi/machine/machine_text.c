/* The table of all ranks and what a person should hear about it, as text. */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 9, CELL = 96 };

static const char *const titles[COLUMNS] = {"rank", "node",    "host",   "device", "name",
                                            "id",   "threads", "memory", "cpus"};

static void fill_row(const tsl_placement *placement, char cells[COLUMNS][CELL]) {
  const tsl_device *device = &placement->device;
  const bool card = device->kind == TSL_GPU;
  char bytes[24];
  (void)snprintf(cells[0], CELL, "%d", placement->rank);
  (void)snprintf(cells[1], CELL, "%d", placement->node);
  (void)snprintf(cells[2], CELL, "%s", placement->host);
  (void)snprintf(cells[3], CELL, "%s%d", card ? "gpu" : "cpu", device->index);
  (void)snprintf(cells[4], CELL, "%s", device->name);
  (void)snprintf(cells[5], CELL, "%s", card ? device->id : "-");
  (void)snprintf(cells[6], CELL, "%d", placement->threads);
  (void)snprintf(cells[7], CELL, "%s", tsl_bytes_text((double)device->memory_limit, bytes));
  (void)snprintf(cells[8], CELL, "%.90s",
                 placement->cpuset[0] != '\0' ? placement->cpuset : "not pinned");
}

static void machine_text_print_row(char cells[COLUMNS][CELL], const int *width, FILE *file) {
  (void)fputc(' ', file);
  for (int c = 0; c < COLUMNS; c++)
    (void)fprintf(file, c == COLUMNS - 1 ? " %.*s%s" : " %*s%s",
                  c == COLUMNS - 1 ? CELL : -width[c], cells[c], c == COLUMNS - 1 ? "\n" : " ");
}

void tsl_machine_print(const tsl_placement *placements, int64_t n, FILE *file) {
  char cells[COLUMNS][CELL];
  int width[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) width[c] = (int)strlen(titles[c]);
  for (int64_t s = 0; s < n; s++) {
    fill_row(&placements[s], cells);
    for (int c = 0; c < COLUMNS; c++)
      if ((int)strlen(cells[c]) > width[c]) width[c] = (int)strlen(cells[c]);
  }
  for (int c = 0; c < COLUMNS; c++) (void)snprintf(cells[c], CELL, "%s", titles[c]);
  machine_text_print_row(cells, width, file);
  for (int64_t s = 0; s < n; s++) {
    fill_row(&placements[s], cells);
    machine_text_print_row(cells, width, file);
  }
}

/* Number of placements with a note; *first is one of them. */
static int64_t find_note(const tsl_placement *placements, int64_t n, tsl_note note,
                         const tsl_placement **first) {
  int64_t count = 0;
  for (int64_t s = n - 1; s >= 0; s--)
    if ((placements[s].notes & (int32_t)note) != 0) count++, *first = &placements[s];
  return count;
}

static void start_warning(const tsl_placement *placement, int64_t count, FILE *file) {
  (void)fprintf(file, "tesela: warning: rank %d on %s", placement->rank, placement->host);
  if (count > 1)
    (void)fprintf(file, " (and %lld more rank%s)", (long long)count - 1, count > 2 ? "s" : "");
}

void tsl_machine_warn(const tsl_placement *placements, int64_t n, FILE *file) {
  const tsl_placement *placement = NULL;
  int64_t count = 0;
  if ((count = find_note(placements, n, TSL_NOTE_NARROW, &placement)) > 0) {
    start_warning(placement, count, file);
    (void)fprintf(
        file,
        ": the launcher leaves %d of the node's %d cores to it; use mpirun --bind-to none, "
        "mpirun --map-by socket:PE=N, or srun --cpus-per-task=N\n",
        placement->allowed_cores, placement->node_cores);
  }
  if ((count = find_note(placements, n, TSL_NOTE_THREADS, &placement)) > 0) {
    start_warning(placement, count, file);
    (void)fprintf(file,
                  ": %d threads asked for, but its share is %d cores; lower run.threads or the "
                  "ranks per node\n",
                  placement->threads, placement->cores);
  }
  if ((count = find_note(placements, n, TSL_NOTE_CROWDED, &placement)) > 0) {
    start_warning(placement, count, file);
    (void)fprintf(file,
                  ": more ranks than cores (%d ranks, %d cores on the node); it is not pinned and "
                  "timings mean little\n",
                  placement->local_size, placement->node_cores);
  }
  if ((count = find_note(placements, n, TSL_NOTE_SHARED_CARD, &placement)) > 0) {
    start_warning(placement, count, file);
    (void)fprintf(file, ": shares the card %s with another rank\n", placement->device.id);
  }
  if ((count = find_note(placements, n, TSL_NOTE_IDLE_CARDS, &placement)) > 0)
    (void)fprintf(file,
                  "tesela: warning: host %s has %d cards for %d rank%s; start one rank for each "
                  "card to use them all\n",
                  placement->host, placement->node_cards, placement->local_size,
                  placement->local_size > 1 ? "s" : "");
  if ((count = find_note(placements, n, TSL_NOTE_IDLE_CORES, &placement)) > 0)
    (void)fprintf(
        file,
        "tesela: warning: half or more of the %d cores of host %s stay idle with %d rank%s; "
        "start one rank for each socket\n",
        placement->node_cores, placement->host, placement->local_size,
        placement->local_size > 1 ? "s" : "");
  if ((count = find_note(placements, n, TSL_NOTE_OMP_PLACES, &placement)) > 0)
    (void)fprintf(file,
                  "tesela: warning: OMP_PROC_BIND, OMP_PLACES or GOMP_CPU_AFFINITY is set and "
                  "may override the pinning of threads; unset it\n");
}

/* Ranks of the allocation: of all components of a heterogeneous job where they are listed. */
static long long allocated(char *(*look)(const char *), long long het) {
  char name[64];
  long long sum = 0;
  const char *text = look("SLURM_NTASKS");
  for (long long h = 0; h < het && h < 128; h++) {
    (void)snprintf(name, sizeof name, "SLURM_NTASKS_HET_GROUP_%lld", h);
    const char *part = look(name);
    if (part == NULL) return text == NULL ? 0 : strtoll(text, NULL, 10);
    sum += strtoll(part, NULL, 10);
  }
  return het > 0 ? sum : text == NULL ? 0 : strtoll(text, NULL, 10);
}

/* Under mpirun, on a node that it reaches by a Slurm step of daemons, SLURM_NTASKS counts these. */
static bool counts_daemons(char *(*look)(const char *)) {
  const char *space = look("PMIX_NAMESPACE");
  return look("SLURM_STEP_ID") != NULL && space != NULL && strncmp(space, "slurm.", 6) != 0;
}

void tsl_machine_slurm_note(int64_t n_ranks, char *(*look)(const char *), char text[512]) {
  const char *het_text = look("SLURM_HET_SIZE");
  const long long het = het_text == NULL ? 0 : strtoll(het_text, NULL, 10);
  const long long tasks = allocated(look, het);
  text[0] = '\0';
  if (tasks <= 0 || tasks == n_ranks || (het <= 1 && counts_daemons(look))) return;
  if (het > 1)
    (void)snprintf(text, 512,
                   "%lld ranks run, but the heterogeneous job of %lld components has %lld tasks; "
                   "mpirun takes only the first component: use srun --het-group=0-%lld",
                   (long long)n_ranks, het, tasks, het - 1);
  else
    (void)snprintf(
        text, 512,
        "%lld rank%s but the Slurm allocation has %lld task%s; start with srun or mpirun "
        "without -n to use them all",
        (long long)n_ranks, n_ranks == 1 ? " runs," : "s run,", tasks, tasks == 1 ? "" : "s");
}
