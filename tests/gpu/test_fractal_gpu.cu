/* gpu.fractal.*: the card's backend of fractal against a plain loop written for the test.
 *   test_fractal_gpu exact [--small]   sets, views, types, switches, sizes, maxiter, cuts
 *   test_fractal_gpu fill  [--small]   exact = 0 against its rule, with all totals
 *   test_fractal_gpu seed  [--small]   the seed's memories, threads and sums
 *   test_fractal_gpu limits [--small]  little device memory, many units, repeated phases
 * --small: fewer and smaller images, for sanitizers. Exit status 77: no card. Bitwise equality. */
#include "fractal_gpu.cuh"
#include "gpu.cuh"
#include "test_fractal_gpu.cuh"

#include <stdlib.h>

static const tsl_backend *backend;
static tsl_device device;
static bool small = false;
static long n_checks = 0, n_failures = 0;

enum { PINNED_BYTES = 1 << 23 };
static char *pinned; /* the slabs of a run, one after another */

static void report(const char *what, const fractal_params *p, const char *view, int cut,
                   long long at, long long got, long long wanted) {
  if (++n_failures > 40) return;
  printf("FAIL %s: %s fp%d %lldx%lld maxiter %lld exact %d interior %d periodicity %d doubling %d "
         "wild %d memory %d threads %d mean %d cut %d: [%lld] is %lld, not %lld\n",
         what, view, p->type == TSL_F64 ? 64 : 32, (long long)p->xres, (long long)p->yres,
         (long long)p->maxiter, p->exact, p->interior, p->periodicity, p->doubling, p->wild,
         p->memory, p->threads, p->mean, cut, at, got, wanted);
}

/* Slabs of the units in poisoned pinned memory. */
static std::vector<tsl_part> parts_of(const fractal_params *p, const std::vector<tsl_unit> &units) {
  std::vector<tsl_part> parts(units.size());
  int64_t at = 0;
  memset(parts.data(), 0, parts.size() * sizeof parts[0]);
  for (size_t u = 0; u < units.size(); u++) {
    parts[u].slab[FRACTAL_VALUES] = pinned + at;
    at += (units[u].hi[0] - units[u].lo[0]) * (units[u].hi[1] - units[u].lo[1]) *
          (p->value_type == TSL_U32 ? 4 : 2);
  }
  if (at > PINNED_BYTES) abort();
  memset(pinned, 0xfe, (size_t)at);
  return parts;
}

/* The slabs as one image. */
static std::vector<uint32_t> image_of(const fractal_params *p, const std::vector<tsl_unit> &units,
                                      const std::vector<tsl_part> &parts) {
  std::vector<uint32_t> image((size_t)(p->xres * p->yres), 0xdeadbeefu);
  for (size_t u = 0; u < units.size(); u++) {
    const void *slab = parts[u].slab[FRACTAL_VALUES];
    size_t i = 0;
    for (int64_t r = units[u].lo[0]; r < units[u].hi[0]; r++)
      for (int64_t c = units[u].lo[1]; c < units[u].hi[1]; c++, i++)
        image[(size_t)(r * p->xres + c)] =
            p->value_type == TSL_U32 ? ((const uint32_t *)slab)[i] : ((const uint16_t *)slab)[i];
  }
  return image;
}

/* The seconds of the units are positive and shared out by count. */
static void check_seconds(const fractal_params *p, const char *view, int cut,
                          const std::vector<tsl_unit> &units, const std::vector<tsl_part> &parts) {
  double steps = 0, seconds = 0;
  for (size_t u = 0; u < units.size(); u++) {
    steps += units[u].count;
    seconds += parts[u].seconds;
    if (!(parts[u].seconds >= 0)) report("seconds", p, view, cut, (long long)u, -1, 0);
  }
  if (steps > 0 && !(seconds > 0)) report("seconds", p, view, cut, -1, 0, 1);
}

/* Run units (all in one call, or each in its own) and compare values and totals. */
template <class R>
static tsl_err check_run(test_image<R> &image, const char *view, int cut, int64_t side,
                         const std::vector<uint32_t> &wanted,
                         const uint64_t totals[FRACTAL_N_TOTALS]) {
  tsl_err err = TSL_OK;
  tsl_worker *worker = NULL;
  const fractal_params *p = &image.p;
  const std::vector<tsl_unit> units = units_of(p, cut, side);
  std::vector<tsl_part> parts = parts_of(p, units);
  std::vector<uint32_t> got;
  n_checks++;
  for (uint64_t &total : image.totals) total = 99;
  TSL_TRY(backend->open(&image.problem, &device, &worker));
  TSL_TRY(backend->run(worker, units.data(), 1, parts.data())); /* as calibration does */
  parts = parts_of(p, units);
  TSL_TRY(backend->begin(worker, 0));
  if (cut == 1)
    for (size_t u = 0; u < units.size(); u++)
      TSL_TRY(backend->run(worker, &units[u], 1, &parts[u]));
  else
    TSL_TRY(backend->run(worker, units.data(), (int64_t)units.size(), parts.data()));
  TSL_TRY(backend->collect(worker, &image.problem));
  got = image_of(p, units, parts);
  for (size_t i = 0; i < got.size(); i++)
    if (got[i] != wanted[i]) {
      report("value", p, view, cut, (long long)i, got[i], wanted[i]);
      break;
    }
  for (int t = 0; t < FRACTAL_N_TOTALS; t++)
    if (image.totals[t] != totals[t])
      report("total", p, view, cut, t, (long long)image.totals[t], (long long)totals[t]);
  check_seconds(p, view, cut, units, parts);
done:
  backend->close(&worker);
  return err;
}

static void plain_totals(const std::vector<uint32_t> &values, uint64_t totals[FRACTAL_N_TOTALS]) {
  memset(totals, 0, FRACTAL_N_TOTALS * sizeof *totals);
  for (uint32_t value : values) {
    totals[FRACTAL_TOTAL_VALUES] += value;
    totals[FRACTAL_TOTAL_INSIDE] += value == 0;
  }
}

/* All switches of one image. */
template <class R>
static tsl_err check_switches(const test_view &view, int64_t xres, int64_t yres, int64_t maxiter) {
  tsl_err err = TSL_OK;
  test_image<R> image(view, xres, yres, maxiter);
  const fractal_params p = image.p;
  const std::vector<uint32_t> wanted = image.reference();
  uint64_t totals[FRACTAL_N_TOTALS];
  plain_totals(wanted, totals);
  for (int s = 0; s < 16; s++) {
    image.p = p;
    image.p.interior = s % 2 == 0;
    image.p.periodicity = s / 2 % 2 == 0;
    image.p.doubling = p.doubling && s / 4 % 2 == 0;
    image.p.wild = p.wild || s / 8 == 1;
    if ((s / 4 % 2 == 1 && !p.doubling) || (s / 8 == 1 && (p.wild || s / 4 % 2 == 1))) continue;
    for (int cut = 0; cut < 3; cut++)
      if (cut == 0 || s % 4 == 0) TSL_TRY(check_run(image, view.name, cut, 13, wanted, totals));
  }
done:
  return err;
}

/* The views of an effort. */
static std::vector<test_view> views(void) {
  std::vector<test_view> list(std::begin(test_views), std::end(test_views));
  if (small) list = {test_views[0], test_views[5], test_views[6], test_views[10], test_views[12]};
  return list;
}

typedef struct test_size {
  int64_t xres, yres, most; /* most: largest maxiter for this size */
} test_size;

static const int64_t test_maxiters[] = {1, 2, 3, 8, 9, 17, 500, 65536, 65537, 70000};

static tsl_err test_exact(void) {
  static const test_size large[] = {{1, 1, 70000},   {1, 7, 70000},     {7, 1, 70000},
                                    {31, 37, 70000}, {257, 129, 65536}, {1000, 333, 500}};
  static const test_size few[] = {{7, 5, 70000}, {67, 41, 500}};
  tsl_err err = TSL_OK;
  const test_size *sizes = small ? few : large;
  const int n_sizes = small ? 2 : 6;
  for (const test_view &view : views())
    for (int z = 0; z < n_sizes; z++)
      for (int64_t maxiter : test_maxiters) {
        if (maxiter > sizes[z].most || (small && maxiter % 9 != 0 && maxiter % 100 != 0)) continue;
        TSL_TRY(check_switches<double>(view, sizes[z].xres, sizes[z].yres, maxiter));
        TSL_TRY(check_switches<float>(view, sizes[z].xres, sizes[z].yres, maxiter));
      }
done:
  return err;
}

/* Views cut at tiles, by the rule of the filling. */
template <class R>
static tsl_err check_filling(const test_view &view, int64_t xres, int64_t yres, int64_t maxiter) {
  tsl_err err = TSL_OK;
  test_image<R> image(view, xres, yres, maxiter);
  const std::vector<uint32_t> plain = image.reference();
  const test_filling filling(plain, xres, yres);
  uint64_t totals[FRACTAL_N_TOTALS];
  filling.totals(plain, totals);
  image.p.exact = 0;
  for (int cut = 0; cut < 3; cut++) {
    TSL_TRY(check_run(image, view.name, cut, FRACTAL_TILE, filling.values, totals));
    image.p.periodicity = 0;
    image.p.interior = 0;
    image.p.doubling = 0;
  }
  image.p.wild = 1;
  TSL_TRY(check_run(image, view.name, 0, FRACTAL_TILE, filling.values, totals));
done:
  return err;
}

static tsl_err test_fill(void) {
  static const int64_t large[][2] = {{1, 1},   {1, 7},   {7, 1},     {3, 70},
                                     {31, 37}, {64, 32}, {257, 129}, {1000, 333}};
  static const int64_t few[][2] = {{1, 7}, {37, 41}};
  tsl_err err = TSL_OK;
  for (const test_view &view : views())
    for (int z = 0; z < (small ? 2 : 8); z++)
      for (int64_t maxiter : {1, 3, 9, 17, 60, 500, 70000}) {
        const int64_t *size = small ? few[z] : large[z];
        if (maxiter == 70000 && size[0] * size[1] > 1300) continue;
        TSL_TRY(check_filling<double>(view, size[0], size[1], maxiter));
        TSL_TRY(check_filling<float>(view, size[0], size[1], maxiter));
      }
done:
  return err;
}

/* Values above and below their mean by both kinds of threads; V as params says. */
template <class V> static tsl_err check_binarise(int64_t xres, int64_t yres) {
  tsl_err err = TSL_OK;
  const size_t count = (size_t)(xres * yres);
  std::vector<V> values(count);
  std::vector<uint8_t> got(count);
  tsl_gpu_buffer image = {}, binary = {};
  fractal_gpu w = {};
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += values[i] = (V)(i * 2654435761u % 1001);
  w.p.value_type = sizeof(V) == 4 ? TSL_U32 : TSL_U16;
  w.p.xres = xres;
  w.p.yres = yres;
  w.processors = 7;
  TSL_TRY(tsl_gpu_reserve(&w.memory, &image, (int64_t)(count * sizeof(V)), "values"));
  TSL_TRY(tsl_gpu_reserve(&w.memory, &binary, (int64_t)count, "the binarised image"));
  TSL_CUDA_TRY(cudaMemcpy(image.data, values.data(), count * sizeof(V), cudaMemcpyHostToDevice));
  for (w.p.threads = 0; w.p.threads < FRACTAL_N_THREADS; w.p.threads++) {
    TSL_CUDA_TRY(cudaMemset(binary.data, 7, count));
    TSL_TRY(
        fractal_binarise_run(&w, image.data, (int64_t)count, sum, count, (uint8_t *)binary.data));
    TSL_CUDA_TRY(cudaMemcpy(got.data(), binary.data, count, cudaMemcpyDeviceToHost));
    n_checks++;
    for (size_t i = 0; i < count; i++)
      if (got[i] != (values[i] * count >= sum ? 255 : 0)) {
        n_failures++;
        fprintf(stderr, "FAIL binarise threads %d at %zu of %lld x %lld: %d\n", w.p.threads, i,
                (long long)xres, (long long)yres, got[i]);
        break;
      }
  }
done:
  tsl_gpu_release(&w.memory, &image);
  tsl_gpu_release(&w.memory, &binary);
  return err;
}

/* Every memory, threads and mean of one image. */
template <class R>
static tsl_err check_seed(const test_view &view, int64_t xres, int64_t yres, int64_t maxiter) {
  tsl_err err = TSL_OK;
  test_image<R> image(view, xres, yres, maxiter);
  const std::vector<uint32_t> wanted = image.reference();
  uint64_t totals[FRACTAL_N_TOTALS];
  fractal_params *p = &image.p;
  plain_totals(wanted, totals);
  for (p->memory = 0; p->memory < FRACTAL_N_MEMORIES; p->memory++)
    for (p->threads = 0; p->threads < FRACTAL_N_THREADS; p->threads++)
      for (p->mean = 0; p->mean < FRACTAL_N_MEANS; p->mean++)
        for (int cut = 0; cut < 3; cut += 2)
          TSL_TRY(check_run(image, view.name, cut, 32, wanted, totals));
  p->memory = p->mean = 0;
  for (p->threads = FRACTAL_THREADS_1D; p->threads < FRACTAL_N_THREADS; p->threads++)
    for (int32_t block : {16, 48, 1024}) {
      p->block = block;
      TSL_TRY(check_run(image, view.name, 0, 32, wanted, totals));
    }
done:
  return err;
}

static tsl_err test_seed(void) {
  tsl_err err = TSL_OK;
  TSL_TRY(check_binarise<uint16_t>(67, 45));
  TSL_TRY(check_binarise<uint32_t>(1, 1));
  TSL_TRY(check_binarise<uint32_t>(1001, 333));
  TSL_TRY(check_binarise<uint16_t>(3, 5000));
  for (int v : {0, 1, 6, 10, 12}) {
    if (small && v % 12 != 0) continue;
    TSL_TRY(check_seed<double>(test_views[v], 67, 45, 300));
    TSL_TRY(check_seed<float>(test_views[v], 1, 1, 70000));
    if (small) continue;
    TSL_TRY(check_seed<double>(test_views[v], 300, 257, 70000));
    TSL_TRY(check_seed<float>(test_views[v], 1000, 333, 500));
  }
done:
  return err;
}

/* So little memory that the units have to be run in groups; then too little for one. */
static tsl_err check_limit(const test_view &view, int mean, int memory) {
  tsl_err err = TSL_OK;
  test_image<double> image(view, small ? 130 : 600, small ? 70 : 400, 100);
  const std::vector<uint32_t> wanted = image.reference();
  uint64_t totals[FRACTAL_N_TOTALS];
  const int64_t limit = device.memory_limit;
  plain_totals(wanted, totals);
  image.p.mean = mean;
  image.p.memory = memory;
  device.memory_limit = small ? 16384 : 65536;
  TSL_TRY(check_run(image, view.name, 2, 16, wanted, totals));
  device.memory_limit = small ? 6000 : 20000;
  n_checks++;
  err = check_run(image, view.name, 0, 16, wanted, totals);
  if (err != TSL_ERR_DEVICE_MEMORY)
    report("no refusal", &image.p, view.name, 0, 0, (long long)err, TSL_ERR_DEVICE_MEMORY);
  err = TSL_OK;
done:
  device.memory_limit = limit;
  return err;
}

/* Sums of several phases and calls: begin clears, run adds. */
static tsl_err check_phases(void) {
  tsl_err err = TSL_OK;
  test_image<double> image(test_views[0], 100, 80, 200);
  const std::vector<tsl_unit> units = units_of(&image.p, 2, 32);
  std::vector<tsl_part> parts = parts_of(&image.p, units);
  tsl_worker *worker = NULL;
  uint64_t totals[FRACTAL_N_TOTALS];
  plain_totals(image.reference(), totals);
  TSL_TRY(backend->open(&image.problem, &device, &worker));
  for (int phase = 0; phase < 3; phase++) {
    TSL_TRY(backend->begin(worker, phase));
    for (int r = 0; r <= phase; r++)
      TSL_TRY(backend->run(worker, units.data(), (int64_t)units.size(), parts.data()));
    TSL_TRY(backend->run(worker, units.data(), 0, parts.data()));
    TSL_TRY(backend->collect(worker, &image.problem));
    n_checks++;
    for (int t = 0; t < FRACTAL_N_TOTALS; t++)
      if (image.totals[t] != totals[t] * (uint64_t)(phase + 1))
        report("total of phases", &image.p, "mandelbrot whole", 2, t, (long long)image.totals[t],
               (long long)totals[t] * (phase + 1));
  }
done:
  backend->close(&worker);
  return err;
}

static tsl_err test_limits(void) {
  tsl_err err = TSL_OK;
  for (int mean : {FRACTAL_MEAN_AUTO, FRACTAL_MEAN_TREE})
    for (int memory : {FRACTAL_MEMORY_DEVICE, FRACTAL_MEMORY_MANAGED})
      TSL_TRY(check_limit(test_views[0], mean, memory));
  TSL_TRY(check_phases());
done:
  return err;
}

static tsl_err test(const char *what) {
  tsl_err err = TSL_OK;
  if (strcmp(what, "exact") == 0)
    TSL_TRY(test_exact());
  else if (strcmp(what, "fill") == 0)
    TSL_TRY(test_fill());
  else if (strcmp(what, "seed") == 0)
    TSL_TRY(test_seed());
  else if (strcmp(what, "limits") == 0)
    TSL_TRY(test_limits());
  else
    TSL_FAIL(TSL_ERR_USAGE, "usage: test_fractal_gpu exact|fill|seed|limits [--small]");
done:
  return err;
}

int main(int argc, char **argv) {
  tsl_err err = TSL_OK;
  const char *why = NULL;
  void *memory = NULL;
  if (tsl_platform_gpu.count(&why) == 0) {
    printf("SKIP: %s\n", why);
    return 77;
  }
  small = argc > 2 && strcmp(argv[2], "--small") == 0;
  if (argc < 2 || argc > 3 || (argc == 3 && !small))
    TSL_FAIL(TSL_ERR_USAGE, "usage: test_fractal_gpu exact|fill|seed|limits [--small]");
  backend = tsl_backend_find(&tsl_platform_gpu, "fractal");
  if (backend == NULL) TSL_FAIL(TSL_ERR_INTERNAL, "the cards have no backend for fractal");
  TSL_TRY(tsl_platform_gpu.describe(0, &device));
  TSL_TRY(tsl_platform_gpu.select(&device));
  TSL_TRY(backend->host_alloc(PINNED_BYTES, &memory));
  pinned = (char *)memory;
  TSL_TRY(test(argv[1]));
done:
  if (memory != NULL) backend->host_free(memory);
  if (err != TSL_OK) printf("FAIL: %s\n%s", tsl_err_message(), tsl_err_places());
  printf("%s: %ld checks, %ld failures\n", err == TSL_OK && n_failures == 0 ? "PASS" : "FAIL",
         n_checks, n_failures);
  return err == TSL_OK && n_failures == 0 ? 0 : 1;
}
