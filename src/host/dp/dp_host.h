/**
 * @file dp_host.h
 * What drives the ready problems of dp on any device: the memory of the device as a table of
 * operations, and what the driver knows of a worker.
 *
 *   dp_host.h        memory, context, lists, seconds
 *   dp_steps.h       steps of a traceback
 *   dp_bands.h       WAVEFRONT: bands of neighbouring lanes, their edges and what is kept,
 *                    their traceback and checkpoints
 *   dp_rows.h        ROWS: sweeps, their decisions, traceback and checkpoints
 *   dp_boxes.h       INTERVAL: boxes of the triangle
 *
 * Backends give an engine, which computes tiles, and the memory in which it does so.
 */
#pragma once

#include "dp_saved.h"

TSL_C_BEGIN

/* ---- memory */

/** A piece of memory that grows; zero-initialise, release at the end. */
typedef struct dp_buffer {
  void *data;
  int64_t bytes;
} dp_buffer;

typedef enum dp_copy_kind {
  DP_COPY_IN,    /**< host to device */
  DP_COPY_OUT,   /**< device to host */
  DP_COPY_WITHIN /**< device to device */
} dp_copy_kind;

/** Memory of a device. Copies are queued in their order; wait ends them. Static storage. */
typedef struct dp_memory_ops {
  /** REQUIRED. Make it at least this large; contents are lost when it grows, and it is empty after
   *  an error. @param[in] what  name of the thing, for messages */
  tsl_err (*reserve)(void *device, dp_buffer *buffer, int64_t bytes, const char *what);
  /** REQUIRED. Free it; an empty buffer is accepted. */
  void (*release)(void *device, dp_buffer *buffer);
  /** REQUIRED. Queue a copy. Of DP_COPY_IN the source may change afterwards. */
  tsl_err (*copy)(void *device, void *to, const void *from, int64_t bytes, dp_copy_kind kind);
  /** REQUIRED. Queue copies of `bytes` each, from places and to places that are so far apart. */
  tsl_err (*copy_rows)(void *device, void *to, int64_t to_step, const void *from, int64_t from_step,
                       int64_t bytes, int64_t rows, dp_copy_kind kind);
  /** REQUIRED. Queue: set to zero. */
  tsl_err (*zero)(void *device, void *memory, int64_t bytes);
  /** REQUIRED. Wait for all that was queued. */
  tsl_err (*wait)(void *device);
  /** OPTIONAL, default as much as is asked for: bytes that may still be reserved. */
  int64_t (*left)(void *device);
  /** OPTIONAL: host memory that copies go to without waiting. Default: the host has the device's
   *  memory. Grows as reserve does. */
  tsl_err (*reserve_pinned)(dp_buffer *buffer, int64_t bytes);
  /** REQUIRED with reserve_pinned. */
  void (*release_pinned)(dp_buffer *buffer);
} dp_memory_ops;

/** The memory of the host; its device is NULL. */
extern const dp_memory_ops dp_memory_host;

/* ---- context */

/** What the driver knows of a worker; lives as long as it. */
typedef struct dp_context {
  const tsl_problem *problem; /**< not owned */
  const dp_params *p;
  void *worker; /**< handed to engines */
  const dp_memory_ops *memory;
  void *device;    /**< handed to memory */
  int table, best; /**< fields, -1 none */
  bool begun;      /**< the run has begun; before, units are calibrated */
  int64_t bytes;   /**< of a value */
} dp_context;

/** Fill in all from problem, worker, memory and device. */
void dp_context_set(dp_context *c, const tsl_problem *problem, void *worker,
                    const dp_memory_ops *memory, void *device);

/** Letters or numbers of field DP_A, DP_B, DP_C; host. */
static inline const void *dp_input(const dp_context *c, int field) {
  return c->problem->fields[field].data;
}

static inline tsl_err dp_reserve(const dp_context *c, dp_buffer *buffer, int64_t bytes,
                                 const char *what) {
  return c->memory->reserve(c->device, buffer, bytes, what);
}
static inline void dp_release(const dp_context *c, dp_buffer *buffer) {
  c->memory->release(c->device, buffer);
}
static inline tsl_err dp_copy(const dp_context *c, void *to, const void *from, int64_t bytes,
                              dp_copy_kind kind) {
  return c->memory->copy(c->device, to, from, bytes, kind);
}
static inline tsl_err dp_zero(const dp_context *c, void *memory, int64_t bytes) {
  return c->memory->zero(c->device, memory, bytes);
}
static inline tsl_err dp_wait(const dp_context *c) {
  return c->memory->wait(c->device);
}

TSL_C_END
