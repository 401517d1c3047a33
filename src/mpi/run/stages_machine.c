/* Devices of a session: who sits where, threads, and the start of cards beside what follows. */
#include "stages.h"

#include "assist.h"
#include "bind.h"
#include "collective_error.h"
#include "heartbeat.h"
#include "parallel.h"

#include <stdio.h>
#include <stdlib.h>

/* What is wrong with the devices asked for gets the place of the key. */
static tsl_err blame_device(const tsl_session *s, tsl_err err) {
  const bool given = s->deck != NULL && tsl_deck_given(s->deck, "run.device");
  return err == TSL_ERR_INPUT && given ? tsl_deck_blame(s->deck, "run.device", err) : err;
}

/* Threads of the root for the family's work before and between phases. The other ranks of its node
 * wait for it then, and it has their cores. */
static tsl_err open_team(const tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_placement all;
  TSL_TRY(tsl_bind_node(s->placements, s->size, s->rank, &all));
  TSL_TRY(tsl_bind_thread(&all)); /* which threads inherit */
  TSL_TRY(tsl_parallel_open(all.cores));
  TSL_TRY(tsl_bind_thread(&s->placements[s->rank]));
done:
  return err;
}

/* The card first: it takes longest. */
static tsl_err start_threads(tsl_session *s) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_executor_start(&s->placements[s->rank], &s->executor));
  if (s->rank == 0) TSL_TRY(open_team(s));
done:
  return err;
}

/* The family's dense algebra on the root, and steps of its own, go to the root's card, if it has
 * one. */
static void open_card(const tsl_session *s) {
  const tsl_placement *mine = s->executor.placement;
  const tsl_platform *platform = tsl_platform_of(mine);
  if (platform->linalg != NULL) tsl_linalg_open(platform->linalg(&mine->device));
  if (platform->kind == TSL_GPU) tsl_assist_open(tsl_gpu_assistants, &mine->device);
}

tsl_err tsl_session_machine(tsl_session *s) {
  tsl_err err = TSL_OK;
  char note[512] = "";
  const tsl_bind_ask ask = {.devices = s->run.device != NULL ? s->run.device : "auto",
                            .threads = (int32_t)s->run.threads,
                            .host_memory = s->run.host_memory,
                            .device_memory = s->run.device_memory,
                            .allow_shared_gpu = s->run.allow_shared_gpu || s->deck == NULL,
                            .pin = true};
  TSL_COLLECTIVE_TRY(s->comm, blame_device(s, tsl_machine_gather(s->comm, &ask, &s->placements)));
  if (s->rank == 0 && s->options != NULL && !s->options->quiet) {
    tsl_machine_slurm_note(s->size, getenv, note);
    if (note[0] != '\0') fprintf(stderr, "tesela: warning: %s\n", note);
    tsl_machine_warn(s->placements, s->size, stderr);
  }
  TSL_COLLECTIVE_TRY(s->comm, start_threads(s));
  if (s->rank == 0) open_card(s);
  TSL_TRY(tsl_heart_start(s->comm, s->placements, s->run.heartbeat));
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_MACHINE));
done:
  return err;
}

/* ---- memory of cards */

static tsl_err do_nothing(tsl_task *task) {
  (void)task;
  return TSL_OK;
}

/* Until the compute thread has its device, or why not. This thread allocates on the card, too. */
static tsl_err wait_for_device(tsl_session *s) {
  tsl_err err = TSL_OK;
  tsl_executor *executor = &s->executor;
  tsl_task task = {.run = do_nothing};
  tsl_device again;
  TSL_TRY(tsl_compute_thread_call(executor->thread, &task));
  again = executor->device;
  if (again.kind == TSL_GPU) TSL_TRY(tsl_platform_gpu.select(&again));
done:
  return err;
}

tsl_err tsl_session_memory(tsl_session *s) {
  tsl_err err = TSL_OK;
  int64_t(*all)[2] = NULL;
  const tsl_device *mine = &s->executor.device;
  TSL_COLLECTIVE_TRY(s->comm, wait_for_device(s));
  TSL_COLLECTIVE_TRY(s->comm, tsl_alloc(s->size, sizeof *all, "memory of devices", (void **)&all));
  const int64_t bytes[2] = {mine->memory_free, mine->memory_limit};
  TSL_MPI(MPI_Allgather(bytes, 2, MPI_INT64_T, all, 2, MPI_INT64_T, s->comm));
  for (int r = 0; r < s->size; r++) {
    s->placements[r].device.memory_free = all[r][0];
    s->placements[r].device.memory_limit = all[r][1];
  }
  s->met = true;
  TSL_TRY(tsl_stage_end(s, TSL_STAGE_MACHINE));
done:
  tsl_free(all);
  return err;
}
