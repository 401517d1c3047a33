/* `tesela bench maps`: each map from block to tile, N x B, as the seed's tables. */
#include "tri_bench.cuh"

#include <math.h>
#include <string.h>

static const char *const words[] = {"auto", "bb", "rb", "rec", "ltm", "frb", "fr", "cdp"};

/* Milliseconds, B = 16 (Universidad de Santiago de Chile, 2017), on two cards. */
typedef struct published_time {
  int64_t n;
  int map;
  double milliseconds;
} published_time;
static const published_time gtx960[] = {
    {16384, TRI_MAP_CDP, 15.448}, {16384, TRI_MAP_BB, 6.600}, {16384, TRI_MAP_LTM, 6.032},
    {16384, TRI_MAP_FRB, 6.058},  {16384, TRI_MAP_FR, 6.058}, {0, 0, 0},
};
static const published_time k40c[] = {
    {1024, TRI_MAP_CDP, 0.0941},  {1024, TRI_MAP_BB, 0.0290},
    {1024, TRI_MAP_LTM, 0.0311},  {1024, TRI_MAP_FRB, 0.0321},
    {1024, TRI_MAP_FR, 0.0232},   {4096, TRI_MAP_CDP, 0.660},
    {4096, TRI_MAP_BB, 0.286},    {4096, TRI_MAP_LTM, 0.297},
    {4096, TRI_MAP_FRB, 0.329},   {4096, TRI_MAP_FR, 0.176},
    {8192, TRI_MAP_CDP, 2.815},   {8192, TRI_MAP_BB, 1.084},
    {8192, TRI_MAP_LTM, 1.135},   {8192, TRI_MAP_FRB, 1.269},
    {8192, TRI_MAP_FR, 0.664},    {16384, TRI_MAP_CDP, 11.672},
    {16384, TRI_MAP_BB, 4.260},   {16384, TRI_MAP_LTM, 4.484},
    {16384, TRI_MAP_FRB, 5.033},  {16384, TRI_MAP_FR, 2.628},
    {32768, TRI_MAP_CDP, 47.898}, {32768, TRI_MAP_BB, 17.434},
    {32768, TRI_MAP_LTM, 17.878}, {32768, TRI_MAP_FRB, 20.591},
    {32768, TRI_MAP_FR, 12.481},  {0, 0, 0},
};

/* "-" where nothing was published. */
static void published_text(const published_time *table, const tri_params *p, char text[16]) {
  (void)snprintf(text, 16, "-");
  for (const published_time *r = table; r->n > 0; r++)
    if (r->n == p->n && r->map == p->map && p->block == 16 && p->block_rows == 0)
      (void)snprintf(text, 16, "%.4f", r->milliseconds);
}

static void tri_bench_maps_print_help(void) {
  puts(
      "usage: tesela bench maps [--n LIST] [--block LIST] [--d 2|3] [--repeat R] [--csv FILE]\n"
      "                          [--cutoff N] [--depth A]\n"
      "\n"
      "Euclidean distances in fp32 of N random points, lower triangle of an N x N matrix, by each\n"
      "map from thread block to tile; `auto` is the default of tesela (also condensed).\n"
      "  --n LIST      points, comma-separated [1024,2048,4096,8192,16384,32768]\n"
      "  --block LIST  block sides B of 8, 16, 32, or with fewer rows of threads, as 32x8, each\n"
      "                thread several rows of a tile of B x B [8,16,32]\n"
      "  --cutoff N    map cdp: triangles of N rows launch no more kernels [1024]\n"
      "  --depth A     map cdp: at most A log2(N) levels of launches, 0 < A <= 1 [1]\n"
      "  --d D         dimensions [2]\n"
      "  --repeat R    timed repetitions [20]\n"
      "  --csv FILE    also write the table as CSV\n"
      "Columns: mean milliseconds, RMS deviation, GB/s of the triangle written, share of the\n"
      "card's best write rate in this run, and the published times on a Tesla K40c and a GeForce\n"
      "GTX 960. Lines `idle`: the kernels of cdp are launched and write nothing.");
}

static void tri_bench_maps_print_row(const tri_bench_options *o, const tri_params *p,
                                     const tri_bench_time *time, double rate, double ceiling) {
  const bool plain = p->map == TRI_MAP_AUTO;
  const char *output = rate == 0 ? "idle" : p->output == TRI_SQUARE ? "square" : "condensed";
  char block[24] = "-", k40[16] = "-", gtx[16] = "-";
  if (!plain) (void)snprintf(block, sizeof block, "%d", p->block);
  if (!plain && p->block_rows > 0)
    (void)snprintf(block, sizeof block, "%dx%d", p->block, p->block_rows);
  if (rate > 0) published_text(k40c, p, k40);
  if (rate > 0) published_text(gtx960, p, gtx);
  printf("%7lld %5s  %-4s %-9s %10.4f %9.4f %9.1f %6.1f %% %10s %10s\n", (long long)p->n, block,
         words[p->map], output, time->mean * 1e3, time->rms * 1e3, rate * 1e-9,
         100 * rate / ceiling, k40, gtx);
  if (o->csv != NULL)
    (void)fprintf(o->csv, "%lld,%s,%s,%s,%lld,%.6f,%.6f,%.3f,%.4f,%s,%s\n", (long long)p->n, block,
                  words[p->map], output, (long long)p->d, time->mean * 1e3, time->rms * 1e3,
                  rate * 1e-9, rate / ceiling, k40, gtx);
}

/* The launches of cdp alone: its kernels have nowhere to write. */
static tsl_err measure_idle(tri_gpu *w, const tri_bench_options *o, const tri_slab *slab,
                            double ceiling) {
  tsl_err err = TSL_OK;
  tri_bench_time time = {};
  int *const flag = (int *)w->work[5].data;
  TSL_TRY(tri_bench_measure(
      w, o->repeat, [=]() { return tri_cdp_run(w, slab, NULL, flag); }, &time));
  TSL_TRY(tri_cdp_check(w, flag));
  tri_bench_maps_print_row(o, &w->p, &time, 0, ceiling);
done:
  return err;
}

/* One line of the table, and one more of cdp; shape: which of the list of blocks. */
static tsl_err tri_bench_maps_measure(tri_bench_worker *b, const tri_bench_options *o, int output,
                                      int map, int shape, double ceiling) {
  tsl_err err = TSL_OK;
  tri_gpu *w = tri_bench_gpu(b);
  tri_bench_time time = {};
  const int64_t n = b->p.n;
  const tri_slab slab = {0, n, n, false};
  const double cells =
      output == TRI_SQUARE ? 0.5 * (double)n * (double)(n + 1) : 0.5 * (double)n * (double)(n - 1);
  w->p.output = output;
  w->p.map = map;
  w->p.block = (int32_t)o->block[shape];
  w->p.block_rows = (int32_t)o->rows[shape];
  w->p.cdp_cutoff = (int32_t)o->cutoff;
  w->p.cdp_depth = o->depth;
  TSL_TRY(tri_bench_measure(
      w, o->repeat, [=]() { return tri_slab_run(w, &slab, w->out.data); }, &time));
  if (map == TRI_MAP_CDP) TSL_TRY(tri_cdp_check(w, (const int *)w->work[5].data));
  tri_bench_maps_print_row(o, &w->p, &time, 4 * cells / time.mean, ceiling);
  if (map == TRI_MAP_CDP) TSL_TRY(measure_idle(w, o, &slab, ceiling));
done:
  return err;
}

/* All lines of one number of points. */
static tsl_err table(const tri_bench_options *o, int64_t n) {
  tsl_err err = TSL_OK;
  tri_bench_worker b = {};
  tri_gpu *w = NULL;
  double ceiling = 0;
  int64_t bytes = 0;
  b.p.n = n;
  b.p.d = o->d;
  b.p.function = TRI_EUCLIDEAN;
  b.p.output = TRI_SQUARE;
  TSL_TRY(tri_bench_open(&b));
  w = tri_bench_gpu(&b);
  bytes = n * n * 4 > 1073741824 ? n * n * 4 : 1073741824;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->out, bytes, "matrix"));
  TSL_TRY(tri_bench_ceiling(w, w->out.data, bytes, &ceiling));
  printf("\n# N = %lld, d = %lld, card %s, write ceiling %.1f GB/s\n", (long long)n,
         (long long)o->d, tsl_gpu_card(), ceiling * 1e-9);
  printf("%7s %5s  %-4s %-9s %10s %9s %9s %8s %10s %10s\n", "N", "B", "map", "output", "mean ms",
         "RMS ms", "GB/s", "share", "K40c ms", "GTX 960 ms");
  for (int k = 0; k < o->n_block; k++)
    for (int map = TRI_MAP_BB; map < TRI_N_MAPS; map++)
      TSL_TRY(tri_bench_maps_measure(&b, o, TRI_SQUARE, map, k, ceiling));
  TSL_TRY(tri_bench_maps_measure(&b, o, TRI_SQUARE, TRI_MAP_AUTO, 0, ceiling));
  TSL_TRY(tri_bench_maps_measure(&b, o, TRI_CONDENSED, TRI_MAP_AUTO, 0, ceiling));
done:
  tri_bench_close(&b);
  return err;
}

tsl_err tri_bench_maps(int argc, char **argv) {
  static const char *const allowed[] = {"--n",   "--block",  "--d",     "--repeat",
                                        "--csv", "--cutoff", "--depth", NULL};
  tsl_err err = TSL_OK;
  tri_bench_options o = {{1024, 2048, 4096, 8192, 16384, 32768},
                         {8, 16, 32},
                         {0},
                         6,
                         3,
                         2,
                         20,
                         TRI_CDP_CUTOFF,
                         1,
                         false,
                         false,
                         NULL};
  TSL_TRY(tri_bench_options_read(argc, argv, allowed, &o));
  if (o.help) {
    tri_bench_maps_print_help();
    goto done;
  }
  if (o.csv != NULL)
    (void)fputs(
        "n,block,map,output,d,mean_ms,rms_ms,gb_per_s,share_of_write_rate,k40c_ms,gtx960_ms\n",
        o.csv);
  for (int k = 0; k < o.n_n; k++) TSL_TRY(table(&o, o.n[k]));
done:
  return tri_bench_finish(&o, err);
}
