/* Command-line options of the tri benchmarks, a worker with random points on card 0, and the write
 * ceiling measured by a fill kernel. */
#include "tri_bench.cuh"

#include "new_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "1024,2048" into list; each within [lo, hi]. */
static tsl_err read_list(const char *option, const char *text, int64_t lo, int64_t hi,
                         int64_t *list, int *n) {
  tsl_err err = TSL_OK;
  char *end = NULL;
  *n = 0;
  for (const char *at = text;; at = end + 1) {
    errno = 0;
    const long long value = strtoll(at, &end, 10);
    if (end == at || errno != 0 || value < lo || value > hi || (*end != '\0' && *end != ','))
      return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__,
                      "%s %s: expected integers from %lld to %lld, separated by commas", option,
                      text, (long long)lo, (long long)hi);
    if (*n == TRI_BENCH_LIST)
      TSL_FAIL(TSL_ERR_USAGE, "%s: more than %d values", option, (int)TRI_BENCH_LIST);
    list[(*n)++] = value;
    if (*end == '\0') break;
  }
done:
  return err;
}

static tsl_err read_one(const char *option, const char *text, int64_t lo, int64_t hi,
                        int64_t *value) {
  tsl_err err = TSL_OK;
  int64_t list[TRI_BENCH_LIST];
  int n = 0;
  TSL_TRY(read_list(option, text, lo, hi, list, &n));
  if (n != 1) TSL_FAIL(TSL_ERR_USAGE, "%s %s: expected one integer", option, text);
  *value = list[0];
done:
  return err;
}

/* "16,32x8": sides of blocks, and rows of threads where they are fewer. */
static tsl_err read_blocks(const char *text, tri_bench_options *o) {
  tsl_err err = TSL_OK;
  const char *at = text;
  o->n_block = 0;
  for (;; at++) {
    char *end = NULL;
    const long long side = strtoll(at, &end, 10);
    const bool rows_told = end != at && *end == 'x';
    const long long rows = rows_told ? strtoll(at = end + 1, &end, 10) : 0;
    if ((side != 8 && side != 16 && side != 32) || end == at || rows < 0 ||
        (rows_told && (rows < 1 || rows > side || side % rows != 0)) ||
        (*end != '\0' && *end != ','))
      TSL_FAIL(TSL_ERR_USAGE,
               "--block %s: expected 8, 16, 32 or such a side and rows that divide it, as 32x8, "
               "separated by commas",
               text);
    if (o->n_block == TRI_BENCH_LIST)
      TSL_FAIL(TSL_ERR_USAGE, "--block: more than %d values", (int)TRI_BENCH_LIST);
    o->block[o->n_block] = side;
    o->rows[o->n_block++] = rows;
    at = end;
    if (*end == '\0') break;
  }
done:
  return err;
}

static tsl_err read_depth(const char *text, double *depth) {
  char *end = NULL;
  *depth = strtod(text, &end);
  if (end != text && *end == '\0' && *depth > 0 && *depth <= 1) return TSL_OK;
  return tsl_fail(TSL_ERR_USAGE, __FILE__, __LINE__,
                  "--depth %s: expected a number above 0, up to 1", text);
}

static tsl_err open_csv(const char *path, tri_bench_options *o) {
  tsl_err err = TSL_OK;
  if (o->csv != NULL) TSL_FAIL(TSL_ERR_USAGE, "--csv is given twice");
  TSL_TRY(tsl_new_table_open("--csv", path, &o->csv));
done:
  return err;
}

static tsl_err read_option(const char *option, const char *value, tri_bench_options *o) {
  tsl_err err = TSL_OK;
  if (strcmp(option, "--n") == 0)
    TSL_TRY(read_list(option, value, 1, 200000, o->n, &o->n_n));
  else if (strcmp(option, "--block") == 0)
    TSL_TRY(read_blocks(value, o));
  else if (strcmp(option, "--cutoff") == 0)
    TSL_TRY(read_one(option, value, 1, INT32_MAX, &o->cutoff));
  else if (strcmp(option, "--depth") == 0)
    TSL_TRY(read_depth(value, &o->depth));
  else if (strcmp(option, "--d") == 0)
    TSL_TRY(read_one(option, value, 2, 3, &o->d));
  else if (strcmp(option, "--repeat") == 0)
    TSL_TRY(read_one(option, value, 1, 100000, &o->repeat));
  else
    TSL_TRY(open_csv(value, o));
done:
  return err;
}

tsl_err tri_bench_options_read(int argc, char **argv, const char *const *allowed,
                               tri_bench_options *o) {
  tsl_err err = TSL_OK;
  for (int a = 1; a < argc; a++) {
    int known = 0;
    if (strcmp(argv[a], "--help") == 0) {
      o->help = true;
      continue;
    }
    for (int k = 0; allowed[k] != NULL; k++) known |= strcmp(argv[a], allowed[k]) == 0;
    if (!known)
      TSL_FAIL(TSL_ERR_USAGE, "bench %s: unknown option '%s'; see --help", argv[0], argv[a]);
    if (strcmp(argv[a], "--quick") == 0) {
      o->quick = true;
      continue;
    }
    if (a + 1 == argc) TSL_FAIL(TSL_ERR_USAGE, "bench %s: %s needs a value", argv[0], argv[a]);
    TSL_TRY(read_option(argv[a], argv[a + 1], o));
    a++;
  }
done:
  return err;
}

tsl_err tri_bench_finish(tri_bench_options *o, tsl_err err) {
  if (o->csv == NULL) return err;
  const bool bad = ferror(o->csv) != 0;
  const bool unclosed = fclose(o->csv) != 0;
  o->csv = NULL;
  if (err == TSL_OK && (bad || unclosed))
    err = tsl_fail(TSL_ERR_IO, __FILE__, __LINE__, "the CSV file could not be written");
  return err;
}

/* Numbers in [0, 1) from a counter (splitmix64). */
static float random_at(uint64_t counter) {
  uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (float)((z ^ (z >> 31)) >> 40) * 0x1p-24f;
}

static void fill_points(const tri_params *p, float *x) {
  for (int64_t k = 0; k < p->d; k++)
    for (int64_t i = 0; i < p->n; i++) x[k * p->n_pad + i] = random_at((uint64_t)(k * p->n + i));
  if (p->function != TRI_CORRELATION) return;
  for (int64_t i = 0; i < p->n; i++) {
    double mean = 0, norm = 0;
    for (int64_t k = 0; k < p->d; k++) mean += x[k * p->n_pad + i] / (double)p->d;
    for (int64_t k = 0; k < p->d; k++) norm += pow(x[k * p->n_pad + i] - mean, 2);
    for (int64_t k = 0; k < p->d; k++)
      x[k * p->n_pad + i] = (float)((x[k * p->n_pad + i] - mean) / sqrt(norm));
  }
}

tsl_err tri_bench_select_card(tsl_device *device) {
  tsl_err err = TSL_OK;
  const char *why = NULL;
  if (tsl_platform_gpu.count(&why) == 0)
    TSL_FAIL(TSL_ERR_DEVICE, "this bench needs a card: %s", why);
  TSL_TRY(tsl_platform_gpu.describe(0, device));
  TSL_TRY(tsl_platform_gpu.select(device));
done:
  return err;
}

tsl_err tri_bench_open(tri_bench_worker *b) {
  tsl_err err = TSL_OK;
  tsl_device device;
  tsl_field *const points = &b->problem.fields[TRI_POINTS];
  b->p.type = TSL_F32;
  b->p.n_pad = tsl_ceil_div(b->p.n, TRI_PAD) * TRI_PAD;
  b->p.d_read = b->p.d;
  b->problem.params = &b->p;
  b->problem.n_fields = TRI_OUT;
  for (int f = 0; f < 2; f++) {
    b->problem.fields[f].type = TSL_F32;
    b->problem.fields[f].rank = 2;
    b->problem.fields[f].shape[0] = f == TRI_POINTS ? b->p.d : 0;
    b->problem.fields[f].shape[1] = b->p.n_pad;
    b->problem.fields[f].shape[2] = 1;
  }
  TSL_TRY(tsl_alloc(b->p.d * b->p.n_pad, sizeof(float), "points", &points->data));
  fill_points(&b->p, (float *)points->data);
  TSL_TRY(tri_bench_select_card(&device));
  TSL_TRY(tri_backend_gpu.open(&b->problem, &device, &b->worker));
done:
  return err;
}

void tri_bench_close(tri_bench_worker *b) {
  tri_backend_gpu.close(&b->worker);
  tsl_free(b->problem.fields[TRI_POINTS].data);
  b->problem.fields[TRI_POINTS].data = NULL;
}

static __global__ void __launch_bounds__(256) fill_kernel(float4 *out, int64_t count, float value) {
  const int64_t at = (int64_t)blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
  for (int s = 0; s < 4; s++)
    if (at + s * 256 < count) __stcs(out + at + s * 256, make_float4(value, value, value, value));
}

tsl_err tri_bench_ceiling(tri_gpu *w, void *buffer, int64_t bytes, double *rate) {
  tsl_err err = TSL_OK;
  tri_bench_time set = {}, kernel = {};
  const int64_t count = bytes / 16;
  TSL_TRY(tri_bench_measure(
      w, 10,
      [=]() {
        const cudaError_t status = cudaMemsetAsync(buffer, 1, (size_t)bytes, w->stream);
        return status == cudaSuccess ? TSL_OK : tsl_gpu_fail(status, "memset", __FILE__, __LINE__);
      },
      &set));
  TSL_TRY(tri_bench_measure(
      w, 10,
      [=]() {
        fill_kernel<<<(unsigned)tsl_ceil_div(count, 1024), 256, 0, w->stream>>>((float4 *)buffer,
                                                                                count, 1.5f);
        return tsl_gpu_launched("fill_kernel", w->stream, __FILE__, __LINE__);
      },
      &kernel));
  *rate = (double)bytes / fmin(set.best, kernel.best);
done:
  return err;
}
