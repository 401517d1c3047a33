/* `tesela bench maps3`: the Axilrod-Teller energy of all triples, a thread for each, by every map
 * from block to tile of the tetrahedron; and the forces and energy that tesela computes instead. */
#include "triples_bench.cuh"

#include "tri_bench.cuh"
#include "triples_maps.cuh"
#include "triples_points.cuh"

#include <math.h>
#include <string.h>

enum { BOX, RECURSIVE, LINEAR, PLANES, N_TRIPLES_MAPS, DIAGONAL = -1, SLOTS = 1024 };
static const char *const map_words[] = {"box", "recursive", "linear", "planes"};

/* What the triples of a launch are added to; slots keep blocks from waiting for each other. */
struct triples_totals {
  double energy[SLOTS];
  unsigned long long triples[SLOTS];
};

static __device__ triples_tile tile_at(int map, int level, int t) {
  const int x = (int)blockIdx.x, y = (int)blockIdx.y, z = (int)blockIdx.z;
  switch (map) {
  case BOX:
    return triples_map_box(x, y, z, t);
  case LINEAR:
    return triples_map_linear((int64_t)y * gridDim.x + x);
  default:
    return level == DIAGONAL ? triples_tile_of(x, x, x) : triples_map_recursive(x, y, z, level, t);
  }
}

/* Energy and number of the triples of a tile; a thread has one. */
static __device__ __forceinline__ void add_tile(const triples_args<float> &args, triples_tile tile,
                                                double *energy, unsigned *triples) {
  typedef triples_formulas<float> fn;
  const int side = (int)blockDim.x;
  const int i = tile.a * side + (int)threadIdx.z, j = tile.b * side + (int)threadIdx.y,
            k = tile.c * side + (int)threadIdx.x;
  if (i >= args.n || i <= j || j <= k) return;
  const float *const x = args.x, *const y = x + args.ld, *const z = y + args.ld;
  const float a[3] = {x[i], y[i], z[i]}, b[3] = {x[j], y[j], z[j]}, c[3] = {x[k], y[k], z[k]};
  const fn::side ij = triples_side_between<float, true>(args, a, b),
                 ik = triples_side_between<float, true>(args, a, c),
                 jk = triples_side_between<float, true>(args, b, c);
  *energy += (double)fn::energy(ij, ik, jk);
  ++*triples;
}

/* Sums of a block of threads to its slot. */
static __device__ void add_block(double energy, unsigned triples, triples_totals *totals) {
  const int thread = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  const unsigned slot = (blockIdx.x + 31 * blockIdx.y + 1009 * blockIdx.z) % SLOTS;
  for (int step = 16; step > 0; step /= 2) {
    energy += __shfl_down_sync(0xffffffffu, energy, step);
    triples += __shfl_down_sync(0xffffffffu, triples, step);
  }
  if (thread % 32 != 0 || triples == 0) return;
  atomicAdd(&totals->energy[slot], energy);
  atomicAdd(&totals->triples[slot], (unsigned long long)triples);
}

static __global__ void __launch_bounds__(512)
    map_kernel(triples_args<float> args, int map, int level, int t, triples_totals *totals) {
  double energy = 0;
  unsigned triples = 0;
  const triples_tile tile = tile_at(map, level, t);
  if (tile.a < 0 || tile.a >= t) return;
  add_tile(args, tile, &energy, &triples);
  add_block(energy, triples, totals);
}

/* planes: a block takes all tiles (a, b, 0..b). */
static __global__ void __launch_bounds__(512)
    planes_kernel(triples_args<float> args, int t, triples_totals *totals) {
  double energy = 0;
  unsigned triples = 0;
  const int64_t w = (int64_t)blockIdx.y * gridDim.x + blockIdx.x, a = tri_ltm_row(w);
  const int b = (int)(w - a * (a + 1) / 2);
  if (a >= t) return;
  for (int c = 0; c <= b; c++) add_tile(args, triples_tile_of((int)a, b, c), &energy, &triples);
  add_block(energy, triples, totals);
}

/* ---------------------------------------------------------------- launches */

typedef struct map_job {
  triples_gpu *w;
  int side, t;
  triples_totals *totals; /* on the card */
  int64_t blocks;         /* launched so far */
} map_job;

static tsl_err launch(map_job *job, int map, int level, dim3 grid) {
  tsl_err err = TSL_OK;
  const dim3 block((unsigned)job->side, (unsigned)job->side, (unsigned)job->side);
  const triples_args<float> args = triples_args_of<float>(job->w);
  if (map == PLANES)
    TSL_LAUNCH(planes_kernel, grid, block, 0, job->w->stream, args, job->t, job->totals);
  else
    TSL_LAUNCH(map_kernel, grid, block, 0, job->w->stream, args, map, level, job->t, job->totals);
  job->blocks += (int64_t)grid.x * grid.y * grid.z;
done:
  return err;
}

/* A grid of at least so many blocks in two dimensions. */
static dim3 grid_of(int64_t blocks) {
  const int64_t columns = blocks < 32768 ? blocks : 32768;
  return dim3((unsigned)columns, (unsigned)tsl_ceil_div(blocks, columns));
}

static tsl_err run_recursive(map_job *job) {
  tsl_err err = TSL_OK;
  for (int level = 0; (1 << level) < job->t; level++) {
    const dim3 grid((unsigned)triples_folded(level), 1u << level,
                    (unsigned)(2 * triples_nodes(job->t, level)));
    TSL_TRY(launch(job, RECURSIVE, level, grid));
  }
  TSL_TRY(launch(job, RECURSIVE, DIAGONAL, dim3((unsigned)job->t)));
done:
  return err;
}

static tsl_err run_map(map_job *job, int map) {
  tsl_err err = TSL_OK;
  const int64_t t = job->t;
  job->blocks = 0;
  TSL_CUDA_TRY(cudaMemsetAsync(job->totals, 0, sizeof *job->totals, job->w->stream));
  if (map == RECURSIVE) return run_recursive(job);
  if (map == BOX) return launch(job, map, 0, dim3((unsigned)t, (unsigned)t, (unsigned)t));
  return launch(job, map, 0, grid_of(map == LINEAR ? triples_tiles(t) : t * (t + 1) / 2));
done:
  return err;
}

/* ------------------------------------------------------------------ tables */

typedef struct triples_bench {
  triples_params p;
  tsl_problem problem;
  tsl_worker *worker;
  tsl_device device;
  double rate; /* operations/s of the card in fp32, a fused one counted once */
} triples_bench;

static triples_gpu *gpu_of(const triples_bench *b) {
  return (triples_gpu *)b->worker;
}

static tsl_err open_bench(triples_bench *b, int64_t n) {
  tsl_err err = TSL_OK;
  uint64_t state = 1;
  int clock = 0;
  tsl_field field = {};
  tsl_field *points = NULL;
  b->p.type = TSL_F32;
  b->p.n = n;
  b->p.n_pad = tsl_ceil_div(n, TRIPLES_TILE) * TRIPLES_TILE;
  b->p.d = 3;
  b->p.block_rows = TRIPLES_TILE * tsl_ceil_div(b->p.n_pad / TRIPLES_TILE, TRIPLES_BLOCKS);
  b->p.blocks = tsl_ceil_div(n, b->p.block_rows);
  b->p.cutoff = INFINITY;
  for (int k = 0; k < 3; k++) b->p.box[k] = INFINITY;
  b->problem.params = &b->p;
  (void)snprintf(field.name, sizeof field.name, "points");
  field.role = TSL_IN;
  field.type = TSL_F32;
  field.rank = 2;
  field.shape[0] = 3, field.shape[1] = b->p.n_pad, field.shape[2] = 1;
  TSL_TRY(tsl_problem_add(&b->problem, &field, &points));
  TSL_TRY(tsl_alloc(3 * b->p.n_pad, sizeof(float), "points", &points->data));
  for (int64_t i = 0; i < 3 * b->p.n_pad; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    ((float *)points->data)[i] = (float)(cbrt((double)n) * (double)(state >> 11) * 0x1p-53);
  }
  TSL_TRY(tri_bench_select_card(&b->device));
  TSL_TRY(triples_backend_gpu.open(&b->problem, &b->device, &b->worker));
  TSL_CUDA_TRY(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, b->device.index));
  b->rate = 128e3 * clock * gpu_of(b)->processors;
done:
  return err;
}

static void close_bench(triples_bench *b) {
  triples_backend_gpu.close(&b->worker);
  for (int f = 0; f < b->problem.n_fields; f++) tsl_free(b->problem.fields[f].data);
}

static void print_row(const tri_bench_options *o, int64_t n, int64_t side, const char *map,
                      const tri_bench_time *time, double share) {
  const double triples = (double)n * (double)(n - 1) * (double)(n - 2) / 6;
  char block[24] = "-";
  if (side > 0) (void)snprintf(block, sizeof block, "%lld", (long long)side);
  printf("%7lld %5s  %-10s %10.4f %9.4f %12.2f %7.1f %%\n", (long long)n, block, map,
         time->mean * 1e3, time->rms * 1e3, triples / time->mean * 1e-9, 100 * share);
  if (o->csv != NULL)
    (void)fprintf(o->csv, "%lld,%s,%s,%.6f,%.6f,%.4f,%.4f\n", (long long)n, block, map,
                  time->mean * 1e3, time->rms * 1e3, triples / time->mean * 1e-9, share);
}

/* All triples are there, each once. */
static tsl_err check_totals(const map_job *job, const char *map, double *energy) {
  tsl_err err = TSL_OK;
  static triples_totals totals;
  const int64_t n = job->w->p.n, all = n * (n - 1) / 2 * (n - 2) / 3;
  int64_t triples = 0;
  *energy = 0;
  TSL_CUDA_TRY(cudaMemcpy(&totals, job->totals, sizeof totals, cudaMemcpyDeviceToHost));
  for (int s = 0; s < SLOTS; s++)
    triples += (int64_t)totals.triples[s], *energy += totals.energy[s];
  if (triples != all)
    TSL_FAIL(TSL_ERR_INTERNAL, "map %s meets %lld triples of %lld", map, (long long)triples,
             (long long)all);
done:
  return err;
}

static tsl_err measure_map(triples_bench *b, const tri_bench_options *o, int map, int64_t side,
                           triples_totals *totals, double *energy) {
  tsl_err err = TSL_OK;
  tri_bench_time time = {};
  map_job job = {gpu_of(b), (int)side, (int)tsl_ceil_div(b->p.n, side), totals, 0};
  map_job *const at = &job;
  TSL_TRY(tri_bench_measure(
      job.w, o->repeat, [=]() { return run_map(at, map); }, &time));
  TSL_TRY(check_totals(&job, map_words[map], energy));
  print_row(o, b->p.n, side, map_words[map], &time,
            fmin(1, (double)triples_tiles(job.t) / (double)job.blocks));
done:
  return err;
}

/* What a run does: sides, slopes of all pairs, forces and energy. */
static tsl_err measure_forces(triples_bench *b, const tri_bench_options *o) {
  tsl_err err = TSL_OK;
  enum { OPERATIONS = 8 }; /* of a term */
  triples_gpu *const w = gpu_of(b);
  const double terms = 0.5 * (double)b->p.n * (double)(b->p.n - 1) * (double)b->p.n;
  tri_bench_time time = {};
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->slopes, b->p.n_pad * b->p.n_pad * 8, "slopes"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->sums, b->p.blocks * b->p.n * TRIPLES_SUMS * 8, "sums"));
  TSL_TRY(tri_bench_measure(
      w, o->repeat,
      [=]() {
        w->panel = -1;
        const tsl_err failed = triples_slopes_run(w, 0, w->p.blocks);
        return failed != TSL_OK ? failed
                                : triples_sums_run(w, 0, w->p.blocks, (double *)w->sums.data);
      },
      &time));
  print_row(o, b->p.n, 0, "forces", &time, OPERATIONS * terms / b->rate / time.mean);
done:
  return err;
}

static tsl_err triples_table(const tri_bench_options *o, int64_t n) {
  tsl_err err = TSL_OK;
  triples_bench b = {};
  tsl_gpu_buffer totals = {};
  double first = 0, energy = 0;
  TSL_TRY(open_bench(&b, n));
  TSL_TRY(tsl_gpu_reserve(&gpu_of(&b)->memory, &totals, sizeof(triples_totals), "totals"));
  printf("\n# N = %lld, card %s\n%7s %5s  %-10s %10s %9s %12s %9s\n", (long long)n, tsl_gpu_card(),
         "N", "B", "map", "mean ms", "RMS ms", "1e9 triples/s", "share");
  for (int k = 0; k < o->n_block; k++)
    for (int map = 0; map < N_TRIPLES_MAPS; map++) {
      TSL_TRY(measure_map(&b, o, map, o->block[k], (triples_totals *)totals.data, &energy));
      if (first == 0) first = energy;
      if (!(fabs(energy - first) <= 1e-4 * fabs(first)))
        TSL_FAIL(TSL_ERR_INTERNAL, "map %s: energy %g, by others %g", map_words[map], energy,
                 first);
    }
  TSL_TRY(measure_forces(&b, o));
done:
  tsl_gpu_release(b.worker != NULL ? &gpu_of(&b)->memory : NULL, &totals);
  close_bench(&b);
  return err;
}

static void print_help(void) {
  puts("usage: tesela bench maps3 [--n LIST] [--block LIST] [--repeat R] [--csv FILE]\n"
       "\n"
       "Axilrod-Teller energy in fp32 of all triples of N random points, a thread for each, by "
       "each\n"
       "map from thread block to tile of the tetrahedron; `forces`: what tesela does instead, the\n"
       "forces and the energy from slopes of pairs.\n"
       "  --n LIST      points, comma-separated [512,1024,2048,4096]\n"
       "  --block LIST  block sides B of 8 [8]\n"
       "  --repeat R    timed repetitions [5]\n"
       "  --csv FILE    also write the triples_table as CSV\n"
       "Share: of a map, tiles by blocks launched; of forces, their 8 operations for each pair "
       "and\n"
       "third point by what the card can do at its highest clock.");
}

tsl_err triples_bench_maps(int argc, char **argv) {
  static const char *const allowed[] = {"--n", "--block", "--repeat", "--csv", NULL};
  tsl_err err = TSL_OK;
  tri_bench_options o = {{512, 1024, 2048, 4096}, {8}, {0}, 4, 1, 3, 5, 0, 0, false, false, NULL};
  TSL_TRY(tri_bench_options_read(argc, argv, allowed, &o));
  if (o.help) {
    print_help();
    goto done;
  }
  for (int k = 0; k < o.n_block; k++)
    if (o.block[k] != 8)
      TSL_FAIL(TSL_ERR_USAGE, "--block %lld: blocks of side 8 alone, of 512 threads, are possible",
               (long long)o.block[k]);
  if (o.csv != NULL) (void)fputs("n,block,map,mean_ms,rms_ms,1e9_triples_per_s,share\n", o.csv);
  for (int k = 0; k < o.n_n; k++) TSL_TRY(triples_table(&o, o.n[k]));
done:
  return tri_bench_finish(&o, err);
}
