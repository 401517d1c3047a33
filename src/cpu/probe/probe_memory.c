/* Main memory and caches of a socket: bandwidth by access, latency by size. */
#include "probe_cpu.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

/* ---- triad, strides, layouts: useful bytes a second */

typedef struct sweep {
  double *a, *b, *c; /* [n] */
  int64_t n, stride;
  int threads;
  double sum;
} sweep;

static void triad(void *arg) {
  sweep *s = arg;
  double *restrict a = s->a;
  const double *restrict b = s->b, *restrict c = s->c;
#pragma omp parallel for simd schedule(static) num_threads(s->threads)
  for (int64_t i = 0; i < s->n; i++) a[i] = b[i] + 1.5 * c[i];
}

/* Every stride-th element of b. */
static void read_strided(void *arg) {
  sweep *s = arg;
  double sum = 0;
#pragma omp parallel for simd schedule(static) num_threads(s->threads) reduction(+ : sum)
  for (int64_t i = 0; i < s->n / s->stride; i++) sum += s->b[i * s->stride];
  s->sum = sum;
}

/* One member of eight of a struct, as an array of structs lays it out: the others ride along. */
static void write_member(void *arg) {
  enum { MEMBERS = 8 };
  sweep *s = arg;
#pragma omp parallel for schedule(static) num_threads(s->threads)
  for (int64_t i = 0; i < s->n / MEMBERS; i++) s->a[i * MEMBERS] = 2 * s->a[i * MEMBERS];
}

static void write_dense(void *arg) {
  sweep *s = arg;
#pragma omp parallel for simd schedule(static) num_threads(s->threads)
  for (int64_t i = 0; i < s->n; i++) s->a[i] = 2 * s->a[i];
}

static double rate(void (*work)(void *), sweep *s, double bytes) {
  return bytes / tsl_cpu_best(work, s) * 1e-9;
}

static tsl_err probe_bandwidth(const tsl_device *device, sweep *s, tsl_figures *f) {
  tsl_err err = TSL_OK;
  const double bytes = (double)s->n * sizeof(double);
  double one = 0, all = 0, dense = 0;
  char name[40];
  s->threads = 1;
  one = rate(triad, s, 3 * bytes);
  s->threads = device->threads;
  all = rate(triad, s, 3 * bytes);
  tsl_figures_group(f, "main memory");
  TSL_TRY(tsl_figures_add(f, "triad, all threads", all, "GB/s", 0,
                          "the ceiling of whatever reads more than it computes"));
  tsl_figures_mark(f, TSL_TERM_MEMORY);
  TSL_TRY(tsl_figures_add(f, "triad, one thread", one, "GB/s", all,
                          "one core does not fill the memory's pipe: use all threads"));
  for (s->stride = 1; s->stride <= 16; s->stride *= 2) {
    (void)snprintf(name, sizeof name, "read, stride %d words", (int)s->stride);
    TSL_TRY(tsl_figures_add(f, name, rate(read_strided, s, bytes / (double)s->stride), "GB/s", all,
                            s->stride == 8 ? "a line of 64 bytes is moved for 8 of use" : NULL));
  }
  dense = rate(write_dense, s, 2 * bytes);
  TSL_TRY(tsl_figures_add(f, "structure of arrays", dense, "GB/s", all,
                          "update one member of eight: lay members out as arrays"));
  TSL_TRY(tsl_figures_add(f, "array of structures", rate(write_member, s, bytes / 4), "GB/s", dense,
                          NULL));
done:
  return err;
}

/* ---- first touch */

static tsl_err probe_first_touch(int64_t bytes, tsl_figures *f) {
  tsl_err err = TSL_OK;
  char *fresh = NULL;
  double begin = 0, cold = 0, warm = 0;
  TSL_TRY(tsl_alloc(bytes, 1, "probe", (void **)&fresh));
  begin = tsl_cpu_seconds();
  memset(fresh, 1, (size_t)bytes);
  cold = (double)bytes / (tsl_cpu_seconds() - begin) * 1e-9;
  begin = tsl_cpu_seconds();
  memset(fresh, 2, (size_t)bytes);
  warm = (double)bytes / (tsl_cpu_seconds() - begin) * 1e-9;
  TSL_TRY(tsl_figures_add(f, "fill, touched before", warm, "GB/s", 0, NULL));
  TSL_TRY(tsl_figures_add(f, "fill, first touch", cold, "GB/s", warm,
                          "new pages cost time: keep buffers, touch them where they are used"));
done:
  tsl_free(fresh);
  return err;
}

/* ---- latency */

typedef struct chase {
  int64_t *next; /* [n], a single cycle */
  int64_t at;
} chase;

enum { HOPS = 1 << 17 };

static void follow(void *arg) {
  chase *c = arg;
  int64_t at = c->at;
  for (int k = 0; k < HOPS; k++) at = c->next[at];
  c->at = at;
}

/* A random cycle over one element of each line (Sattolo 1986). */
static void tie(chase *c, int64_t n) {
  enum { LINE = 8 };
  const int64_t lines = n / LINE;
  uint64_t state = 88172645463325252u;
  for (int64_t k = 0; k < lines; k++) c->next[k * LINE] = k * LINE;
  for (int64_t k = lines - 1; k > 0; k--) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const int64_t other = (int64_t)(state % (uint64_t)k), kept = c->next[k * LINE];
    c->next[k * LINE] = c->next[other * LINE];
    c->next[other * LINE] = kept;
  }
  c->at = 0;
}

static tsl_err probe_latency(tsl_figures *f) {
  static const int64_t kib[] = {16, 256, 4096, 131072};
  static const char *const names[] = {"16 KiB", "256 KiB", "4 MiB", "128 MiB"};
  tsl_err err = TSL_OK;
  chase c = {NULL, 0};
  double first = 0;
  tsl_figures_group(f, "latency of dependent reads");
  for (int k = 0; k < 4; k++) {
    const int64_t n = kib[k] * 1024 / (int64_t)sizeof *c.next;
    double ns = 0;
    tsl_free(c.next);
    c.next = NULL;
    TSL_TRY(tsl_alloc(n, sizeof *c.next, "probe", (void **)&c.next));
    tie(&c, n);
    ns = tsl_cpu_best(follow, &c) / HOPS * 1e9;
    if (k == 0) first = ns;
    TSL_TRY(
        tsl_figures_add_time(f, names[k], ns, "ns", first,
                             k == 0 ? "tile so that what is read again stays this small" : NULL));
  }
done:
  tsl_free(c.next);
  return err;
}

tsl_err tsl_cpu_probe_memory(const tsl_device *device, tsl_figures *figures) {
  tsl_err err = TSL_OK;
  sweep s = {.stride = 1};
  const int64_t beyond = 4 * tsl_cpu_cache_bytes(), most = (int64_t)512 << 20;
  const int64_t bytes = beyond < most ? beyond : most; /* each array, far larger than the cache */
  s.n = bytes / (int64_t)sizeof(double);
  TSL_TRY(tsl_alloc(s.n, sizeof(double), "probe", (void **)&s.a));
  TSL_TRY(tsl_alloc(s.n, sizeof(double), "probe", (void **)&s.b));
  TSL_TRY(tsl_alloc(s.n, sizeof(double), "probe", (void **)&s.c));
#pragma omp parallel for schedule(static) num_threads(device->threads)
  for (int64_t i = 0; i < s.n; i++) s.a[i] = 0, s.b[i] = 1, s.c[i] = 2;
  TSL_TRY(probe_bandwidth(device, &s, figures));
  TSL_TRY(probe_first_touch(bytes / 4, figures));
  TSL_TRY(probe_latency(figures));
done:
  tsl_free(s.a), tsl_free(s.b), tsl_free(s.c);
  return err;
}
