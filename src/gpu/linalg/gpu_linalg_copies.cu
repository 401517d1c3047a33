/* Copies of the host's matrices on the card: found by the address of the first element. Their
 * memory is kept for the next matrices. Moves go through pinned memory, into and out of which the
 * root's threads copy: the driver's own way through pageable memory uses one. */
#include "gpu_linalg_own.cuh"

#include "parallel.h"

#include <string.h>

enum { PIECE = 1 << 18 }; /* bytes of a range */

typedef struct copying {
  char *to;
  const char *from;
} copying;

static tsl_err copy_range(void *context, int slot, int64_t lo, int64_t hi) {
  const copying *c = (const copying *)context;
  (void)slot;
  memcpy(c->to + lo, c->from + lo, (size_t)(hi - lo));
  return TSL_OK;
}

static void copy_shared(void *to, const void *from, int64_t bytes) {
  copying c = {(char *)to, (const char *)from};
  (void)tsl_parallel(bytes, PIECE, copy_range, &c);
}

static tsl_err to_card(linalg *l, const double *from, int64_t bytes, void *to) {
  tsl_err err = TSL_OK;
  for (int64_t at = 0; at < bytes; at += LINALG_STAGE) {
    const int64_t n = bytes - at < LINALG_STAGE ? bytes - at : (int64_t)LINALG_STAGE;
    copy_shared(l->stage, (const char *)from + at, n);
    TSL_CUDA_TRY(
        cudaMemcpyAsync((char *)to + at, l->stage, (size_t)n, cudaMemcpyHostToDevice, l->stream));
    TSL_CUDA_TRY(cudaStreamSynchronize(l->stream));
  }
done:
  return err;
}

static tsl_err from_card(linalg *l, const void *from, int64_t bytes, double *to) {
  tsl_err err = TSL_OK;
  for (int64_t at = 0; at < bytes; at += LINALG_STAGE) {
    const int64_t n = bytes - at < LINALG_STAGE ? bytes - at : (int64_t)LINALG_STAGE;
    TSL_CUDA_TRY(cudaMemcpyAsync(l->stage, (const char *)from + at, (size_t)n,
                                 cudaMemcpyDeviceToHost, l->stream));
    TSL_CUDA_TRY(cudaStreamSynchronize(l->stream));
    copy_shared((char *)to + at, l->stage, n);
  }
done:
  return err;
}

/* -------------------------------------------------------------------- copies */

linalg_copy *linalg_find(linalg *l, const double *host) {
  for (int k = 0; k < LINALG_COPIES && host != NULL; k++)
    if (l->copies[k].host == host) return &l->copies[k];
  return NULL;
}

/* Is a the better one for so many bytes? Of those large enough the smallest, else the largest. */
static bool suits_better(const linalg_copy *a, const linalg_copy *b, int64_t bytes) {
  const bool enough = a->memory.bytes >= bytes;
  if (enough != (b->memory.bytes >= bytes)) return enough;
  return enough ? a->memory.bytes < b->memory.bytes : a->memory.bytes > b->memory.bytes;
}

/* A free one that suits the bytes best, with the memory that it needs. */
static tsl_err take_copy(linalg *l, int64_t bytes, linalg_copy **out) {
  tsl_err err = TSL_OK;
  linalg_copy *best = NULL;
  for (int k = 0; k < LINALG_COPIES; k++) {
    linalg_copy *c = &l->copies[k];
    if (c->host == NULL && (best == NULL || suits_better(c, best, bytes))) best = c;
  }
  if (best == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "a region of more than %d matrices", LINALG_COPIES);
  TSL_TRY(tsl_gpu_reserve(&l->memory, &best->memory, bytes, "a matrix of the root"));
  *out = best;
done:
  return err;
}

tsl_err linalg_reserve(linalg *l, int n, int64_t elements) {
  tsl_err err = TSL_OK;
  linalg_copy *taken[LINALG_COPIES];
  int count = 0;
  for (; count < n && count < LINALG_COPIES; count++) {
    TSL_TRY(take_copy(l, elements * 8, &taken[count]));
    taken[count]->host = (const double *)l; /* so that the next is another one */
  }
done:
  for (int k = 0; k < count; k++) taken[k]->host = NULL;
  return err;
}

tsl_err linalg_write(linalg *l, int64_t n, const double *host, double **out) {
  tsl_err err = TSL_OK;
  linalg_copy *c = linalg_find(l, host);
  if (c == NULL) TSL_TRY(take_copy(l, n * 8, &c));
  if (n * 8 > c->memory.bytes)
    TSL_FAIL(TSL_ERR_INTERNAL, "a matrix grows from %lld to %lld elements", (long long)c->n,
             (long long)n);
  c->host = host;
  c->n = n;
  *out = (double *)c->memory.data;
done:
  return err;
}

tsl_err linalg_read(linalg *l, int64_t n, const double *host, double **out) {
  tsl_err err = TSL_OK;
  const linalg_copy *c = linalg_find(l, host);
  if (n == 0) goto done;
  if (c != NULL && c->n < n)
    TSL_FAIL(TSL_ERR_INTERNAL, "%lld elements of a matrix of %lld are read", (long long)n,
             (long long)c->n);
  if (c != NULL) {
    *out = (double *)c->memory.data;
    goto done;
  }
  TSL_TRY(linalg_write(l, n, host, out));
  TSL_TRY(to_card(l, host, n * 8, *out));
done:
  return err;
}

tsl_err linalg_fetch(linalg *l, double *host) {
  tsl_err err = TSL_OK;
  const linalg_copy *c = linalg_find(l, host);
  if (c == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "a matrix is fetched that is not on the card");
  TSL_TRY(from_card(l, c->memory.data, c->n * 8, host));
done:
  return err;
}

void linalg_forget(linalg *l) {
  for (int k = 0; k < LINALG_COPIES; k++)
    if (!l->copies[k].held) l->copies[k].host = NULL;
}

void linalg_shrink(linalg *l) {
  for (int k = 0; k < LINALG_COPIES; k++)
    if (l->copies[k].host == NULL) tsl_gpu_release(&l->memory, &l->copies[k].memory);
}
