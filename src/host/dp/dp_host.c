/** @file dp_host.c  The host's memory as a table of operations; context, lists, seconds. */
#include "dp_host.h"

#include <string.h>

/* ---- the memory of the host */

static void host_release(void *device, dp_buffer *buffer) {
  (void)device;
  tsl_free(buffer->data);
  *buffer = (dp_buffer){NULL, 0};
}

static tsl_err host_reserve(void *device, dp_buffer *buffer, int64_t bytes, const char *what) {
  tsl_err err = TSL_OK;
  if (bytes <= buffer->bytes) return TSL_OK;
  host_release(device, buffer);
  TSL_TRY(tsl_alloc(bytes, 1, what, &buffer->data));
  buffer->bytes = bytes;
done:
  return err;
}

static tsl_err host_copy(void *device, void *to, const void *from, int64_t bytes,
                         dp_copy_kind kind) {
  (void)device, (void)kind;
  if (bytes > 0) memcpy(to, from, (size_t)bytes);
  return TSL_OK;
}

static tsl_err host_copy_rows(void *device, void *to, int64_t to_step, const void *from,
                              int64_t from_step, int64_t bytes, int64_t rows, dp_copy_kind kind) {
  (void)device, (void)kind;
  for (int64_t r = 0; r < rows; r++)
    memcpy((char *)to + r * to_step, (const char *)from + r * from_step, (size_t)bytes);
  return TSL_OK;
}

static tsl_err host_zero(void *device, void *memory, int64_t bytes) {
  (void)device;
  memset(memory, 0, (size_t)bytes);
  return TSL_OK;
}

static tsl_err host_wait(void *device) {
  (void)device;
  return TSL_OK;
}

const dp_memory_ops dp_memory_host = {
    .reserve = host_reserve,
    .release = host_release,
    .copy = host_copy,
    .copy_rows = host_copy_rows,
    .zero = host_zero,
    .wait = host_wait,
};

/* ---- context */

void dp_context_set(dp_context *c, const tsl_problem *problem, void *worker,
                    const dp_memory_ops *memory, void *device) {
  const dp_params *p = dp_params_of(problem);
  *c = (dp_context){.problem = problem,
                    .p = p,
                    .worker = worker,
                    .memory = memory,
                    .device = device,
                    .table = dp_field(problem, "table"),
                    .best = dp_field(problem, "best"),
                    .bytes = (int64_t)tsl_type_bytes((tsl_type)p->type)};
}
