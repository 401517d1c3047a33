/* `tesela bench fractal`, `-share` and `-tune`: options, the image that is measured, tuning. */
#include "fractal_bench.cuh"

#include <string.h>

void fractal_bench_view(fractal_bench_image *b, bool inside, int64_t resolution, int64_t maxiter) {
  b->p.set = FRACTAL_MANDELBROT;
  b->p.type = TSL_F64;
  b->p.value_type = maxiter <= 65536 ? TSL_U16 : TSL_U32;
  b->p.exact = b->p.interior = b->p.periodicity = b->p.doubling = 1;
  b->p.xres = b->p.yres = resolution;
  b->p.maxiter = maxiter;
  b->centre[0] = inside ? -0.15 : -0.75;
  b->centre[1] = inside ? 0.05 : 0;
  b->width = inside ? 0.2 : 3.5;
}

/* A coordinate field: centre + sign (i + 1/2 - n/2) step. */
static tsl_err make_axis(fractal_bench_image *b, int field, double sign) {
  tsl_err err = TSL_OK;
  const int64_t n = b->p.xres;
  const double step = b->width / (double)n;
  tsl_field *f = &b->problem.fields[field];
  f->type = b->p.type;
  f->rank = 1;
  f->shape[0] = n;
  f->shape[1] = f->shape[2] = 1;
  TSL_TRY(tsl_alloc(n, tsl_type_bytes((tsl_type)f->type), "coordinates", &f->data));
  for (int64_t i = 0; i < n; i++) {
    const double at = b->centre[field] + sign * ((double)i + 0.5 - (double)n / 2) * step;
    if (b->p.type == TSL_F64)
      ((double *)f->data)[i] = at;
    else
      ((float *)f->data)[i] = (float)at;
  }
done:
  return err;
}

tsl_err fractal_bench_open(fractal_bench_image *b) {
  tsl_err err = TSL_OK;
  tsl_device device;
  const int64_t pixels = b->p.xres * b->p.yres;
  static_assert(FRACTAL_X == 0 && FRACTAL_Y == 1, "index of the view's centre");
  b->problem.params = &b->p;
  b->problem.n_fields = FRACTAL_TOTALS + 1;
  b->problem.fields[FRACTAL_TOTALS].data = b->totals;
  TSL_TRY(make_axis(b, FRACTAL_X, 1));
  TSL_TRY(make_axis(b, FRACTAL_Y, -1));
  b->unit.hi[0] = b->p.yres;
  b->unit.hi[1] = b->p.xres;
  b->unit.hi[2] = 1;
  b->unit.count = (double)pixels;
  TSL_TRY(tri_bench_select_card(&device));
  TSL_TRY(fractal_backend_gpu.open(&b->problem, &device, &b->worker));
  b->w = (fractal_gpu *)b->worker;
  TSL_TRY(fractal_backend_gpu.host_alloc(pixels * fractal_value_bytes(&b->p),
                                         &b->part.slab[FRACTAL_VALUES]));
  TSL_TRY(fractal_backend_gpu.host_alloc(pixels, &b->binary));
  TSL_TRY(tsl_gpu_reserve(&b->w->memory, &b->binary_device, pixels, "the binarised image"));
done:
  return err;
}

void fractal_bench_close(fractal_bench_image *b) {
  if (b->w != NULL) tsl_gpu_release(&b->w->memory, &b->binary_device);
  if (b->binary_managed != NULL) (void)cudaFree(b->binary_managed);
  fractal_backend_gpu.host_free(b->binary);
  fractal_backend_gpu.host_free(b->part.slab[FRACTAL_VALUES]);
  fractal_backend_gpu.close(&b->worker);
  tsl_free(b->problem.fields[FRACTAL_X].data);
  tsl_free(b->problem.fields[FRACTAL_Y].data);
  memset(b, 0, sizeof *b);
}

/* A group of one unit, as the backend makes it; another memory needs another image. */
static tsl_err fractal_bench_prepare(fractal_bench_image *b) {
  tsl_err err = TSL_OK;
  TSL_TRY(fractal_prepare(b->w, &b->unit, 1, &b->part));
  TSL_TRY(fractal_backend_gpu.begin(b->worker, 0));
done:
  return err;
}

tsl_err fractal_bench_image_run(fractal_bench_image *b) {
  tsl_err err = TSL_OK;
  TSL_TRY(fractal_bench_prepare(b));
  TSL_TRY(fractal_values_run(b->w, 1));
  TSL_TRY(fractal_totals_run(b->w, 1));
  TSL_TRY(fractal_backend_gpu.collect(b->worker, &b->problem));
done:
  return err;
}

/* Where the binarised image is made. */
static tsl_err binary_place(fractal_bench_image *b, uint8_t **out) {
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)(b->p.xres * b->p.yres);
  size_t n_free = 0, n_total = 0;
  *out = (uint8_t *)b->binary_device.data;
  if (b->w->p.memory == FRACTAL_MEMORY_PINNED) *out = (uint8_t *)b->binary;
  if (b->w->p.memory != FRACTAL_MEMORY_MANAGED) return TSL_OK;
  if (b->binary_managed == NULL) {
    TSL_CUDA_TRY(cudaMemGetInfo(&n_free, &n_total));
    if (bytes > n_free / 2) TSL_FAIL(TSL_ERR_DEVICE_MEMORY, "too little free memory for managed");
    TSL_CUDA_TRY(cudaMallocManaged(&b->binary_managed, bytes, cudaMemAttachGlobal));
  }
  *out = (uint8_t *)b->binary_managed;
done:
  return err;
}

/* Image and binarised image to the host. */
static tsl_err copy_both(fractal_bench_image *b, const uint8_t *binary) {
  tsl_err err = TSL_OK;
  const fractal_gpu *w = b->w;
  const size_t pixels = (size_t)(b->p.xres * b->p.yres);
  const size_t bytes = pixels * (size_t)fractal_value_bytes(&b->p);
  if (w->p.memory == FRACTAL_MEMORY_DEVICE) {
    TSL_CUDA_TRY(cudaMemcpyAsync(b->part.slab[FRACTAL_VALUES], w->image.data, bytes,
                                 cudaMemcpyDeviceToHost, w->stream));
    TSL_CUDA_TRY(cudaMemcpyAsync(b->binary, binary, pixels, cudaMemcpyDeviceToHost, w->stream));
  }
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
  if (w->p.memory != FRACTAL_MEMORY_MANAGED) return TSL_OK;
  memcpy(b->part.slab[FRACTAL_VALUES], w->image.data, bytes);
  memcpy(b->binary, binary, pixels);
done:
  return err;
}

tsl_err fractal_bench_pipeline(fractal_bench_image *b) {
  tsl_err err = TSL_OK;
  const int64_t pixels = b->p.xres * b->p.yres;
  uint8_t *binary = NULL;
  TSL_TRY(fractal_bench_image_run(b));
  TSL_TRY(binary_place(b, &binary));
  TSL_TRY(fractal_binarise_run(b->w, b->w->list[0].out, pixels, b->totals[FRACTAL_TOTAL_VALUES],
                               (uint64_t)pixels, binary));
  TSL_TRY(copy_both(b, binary));
done:
  return err;
}

static void fractal_bench_print_help(const char *name) {
  printf("usage: tesela bench %s [--quick] [--repeat R] [--n LIST] [--csv FILE]\n", name);
  puts("\n"
       "Escape-time images in fp64 on card 0, best of R. fractal: rates with their goals, the\n"
       "seed's table (memory, threads, sums; published figures of a GTX 1660 Ti beside), its\n"
       "program in this run, and its line of theory. fractal-share: one managed image by the\n"
       "seed's formula; the card writes a fixed share of its rows, or of its columns, the host's\n"
       "threads the rest at the same time; the best share by bisection, beside each alone.\n"
       "fractal-tune: how many lanes a warp lets wait, and how long it goes without test.\n"
       "  --quick     small images\n"
       "  --repeat R  timed repetitions [3]\n"
       "  --n LIST    resolutions [1024,2048,4096,8192,10240]; the largest is tuned\n"
       "  --csv FILE  also write the lines as CSV");
}

/* Options, and the heads of what is printed; help is all there is where it was asked for. */
static tsl_err fractal_bench_begin(int argc, char **argv, const char *columns,
                                   tri_bench_options *o) {
  static const char *const allowed[] = {"--quick", "--repeat", "--n", "--csv", NULL};
  static const int64_t sizes[] = {1024, 2048, 4096, 8192, 10240};
  tsl_err err = TSL_OK;
  o->repeat = 3;
  TSL_TRY(tri_bench_options_read(argc, argv, allowed, o));
  if (o->n_n == 0)
    for (; o->n_n < (o->quick ? 2 : 5); o->n_n++) o->n[o->n_n] = sizes[o->n_n];
  if (o->help)
    fractal_bench_print_help(argv[0]);
  else if (o->csv != NULL)
    (void)fputs(columns, o->csv);
done:
  return err;
}

tsl_err fractal_bench(int argc, char **argv) {
  tsl_err err = TSL_OK;
  tri_bench_options o = {};
  TSL_TRY(fractal_bench_begin(argc, argv,
                              "what,resolution,memory,threads,mean,kernel_ms,pipeline_ms,value,"
                              "unit,goal,gtx1660ti_s\n",
                              &o));
  if (o.help) goto done;
  TSL_TRY(fractal_bench_goals(&o));
  TSL_TRY(fractal_bench_table(&o));
done:
  return tri_bench_finish(&o, err);
}

tsl_err fractal_bench_share(int argc, char **argv) {
  enum { MAXITER = 1000 };
  tsl_err err = TSL_OK;
  tri_bench_options o = {};
  TSL_TRY(
      fractal_bench_begin(argc, argv, "resolution,cut,what,share,card_ms,host_ms,wall_ms\n", &o));
  if (o.help) goto done;
  printf("%6s  %-8s %-18s %7s %11s %11s %11s\n", "N", "cut by", "", "share", "card ms", "host ms",
         "wall ms");
  for (int k = 0; k < o.n_n; k++) TSL_TRY(fractal_share_measure(&o, o.n[k], MAXITER));
done:
  return tri_bench_finish(&o, err);
}

/* One line of tuning: each length of a block. */
static tsl_err tune_line(const tri_bench_options *o, fractal_bench_image *b, const char *what,
                         int refill) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  printf("%-10s refill %2d:", what, refill);
  b->w->tuning.refill = refill;
  for (int longest = 1; longest <= 32; longest *= 2) {
    b->w->tuning.longest = longest;
    TSL_TRY(bench_best(
        b->w, o->repeat, [=]() { return fractal_values_run(b->w, 1); }, &seconds));
    printf(" %9.4f", seconds * 1e3);
    if (o->csv != NULL)
      (void)fprintf(o->csv, "%s,%lld,%d,%d,%.6f\n", what, (long long)b->p.xres, refill, longest,
                    seconds * 1e3);
  }
  puts("");
done:
  return err;
}

static tsl_err tune_view(const tri_bench_options *o, const char *what, bool inside, bool tricks,
                         int64_t maxiter) {
  tsl_err err = TSL_OK;
  fractal_bench_image b = {};
  fractal_bench_view(&b, inside, o->n[o->n_n - 1], maxiter);
  b.p.interior = b.p.periodicity = tricks;
  TSL_TRY(fractal_bench_open(&b));
  TSL_TRY(fractal_bench_prepare(&b));
  for (int refill : {1, 4, 8, 12, 16, 24, 32}) TSL_TRY(tune_line(o, &b, what, refill));
done:
  fractal_bench_close(&b);
  return err;
}

tsl_err fractal_bench_tune(int argc, char **argv) {
  tsl_err err = TSL_OK;
  tri_bench_options o = {};
  TSL_TRY(fractal_bench_begin(argc, argv, "view,resolution,refill,longest,milliseconds\n", &o));
  if (o.help) goto done;
  puts("kernel ms, blocks of at most 1, 2, 4, 8, 16, 32 runs of 8 steps");
  TSL_TRY(tune_view(&o, "inside", true, false, 1000));
  TSL_TRY(tune_view(&o, "whole", false, true, 1000));
  TSL_TRY(tune_view(&o, "plain", false, false, 1000));
done:
  return tri_bench_finish(&o, err);
}
