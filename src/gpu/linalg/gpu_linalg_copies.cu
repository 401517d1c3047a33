/* Copies of the host's matrices on the card: found by the address of the first element. Their
 * memory is kept for the next matrices. */
#include "gpu_linalg_own.cuh"

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
  TSL_TRY(tsl_gpu_send(&l->stage, host, n * 8, *out, l->stream));
done:
  return err;
}

tsl_err linalg_fetch(linalg *l, double *host) {
  tsl_err err = TSL_OK;
  const linalg_copy *c = linalg_find(l, host);
  if (c == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "a matrix is fetched that is not on the card");
  TSL_TRY(tsl_gpu_fetch(&l->stage, c->memory.data, c->n * 8, host, l->stream));
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
