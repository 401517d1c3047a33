/* gpu.tri.*: the card's backend of tri against plain double loops over the same formulas.
 *   test_tri_gpu ref [--small | --tiny]    every function, output, type, size, dimension, cut
 *   test_tri_gpu wide                      large condensed and square output
 *   test_tri_gpu maps [--small | --tiny]   the seed's maps for many sizes
 *   test_tri_gpu halves [--small | --tiny] batches of forces that overlap
 *   test_tri_gpu graph [--small | --tiny]  row reductions, and phases that join points
 *   test_tri_gpu letters                   distances and scores of sequences
 *   test_tri_gpu paired                    the same, record by record
 *   test_tri_gpu extension                 extensions, x-drop or none, beside the socket, too
 *   test_tri_gpu sqrt                      the fast square root on all floats
 * --small, --tiny: fewer sizes and dimensions, for sanitizers. --no-cdp: without the map cdp, whose
 * launches from the card the race checker does not follow.
 * Exit status 77: no card. Bitwise equality, except gravity and products by cuBLAS (tolerances). */
#include "gpu.cuh"
#include "test_tri_gpu_extension.cuh"
#include "test_tri_gpu_frames.cuh"
#include "test_tri_gpu_graph.cuh"
#include "test_tri_gpu_halves.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FULL, SMALL, TINY };
static int effort = FULL;
static bool with_cdp = true;

/* Units of a cut: 0 one unit, 1 three uneven ones, 2 one for each row. */
static std::vector<tsl_unit> units_of(int64_t n, int cut) {
  std::vector<tsl_unit> list;
  std::vector<int64_t> edges = {0, n};
  if (cut == 1) edges = {0, n / 7, n / 2 + 1 < n ? n / 2 + 1 : n, n};
  if (cut == 2) {
    edges.clear();
    for (int64_t i = 0; i <= n; i++) edges.push_back(i);
  }
  for (size_t e = 0; e + 1 < edges.size(); e++) {
    tsl_unit unit = {};
    unit.id = (int64_t)list.size();
    unit.lo[0] = edges[e];
    unit.hi[0] = edges[e + 1];
    if (unit.lo[0] < unit.hi[0]) list.push_back(unit);
  }
  return list;
}

/* Bytes of the slabs of a unit. */
static void slab_bytes(const tri_params *p, const tsl_unit *u, int64_t bytes[2]) {
  const int64_t rows = u->hi[0] - u->lo[0], value = (int64_t)tsl_type_bytes((tsl_type)p->type);
  bytes[0] = bytes[1] = 0;
  switch (p->output) {
  case TRI_CONDENSED:
    bytes[0] = value * (tri_condensed_row(p->n, u->hi[0]) - tri_condensed_row(p->n, u->lo[0]));
    break;
  case TRI_SQUARE:
    bytes[0] = value * rows * u->hi[0];
    break;
  case TRI_TOPK:
    bytes[0] = 8 * rows * p->k, bytes[1] = value * rows * p->k;
    break;
  case TRI_FORCES:
    bytes[0] = 8 * rows * p->d_read, bytes[1] = 8 * rows;
    break;
  default:
    break;
  }
}

/* Run a problem in units; results appended to out[0], out[1] as bytes in unit order. */
static tsl_err run_units(tsl_problem *problem, const std::vector<tsl_unit> &units,
                         std::vector<char> out[2]) {
  tsl_err err = TSL_OK;
  tsl_worker *worker = NULL;
  tsl_part part = {};
  int64_t bytes[2] = {0, 0};
  out[0].clear();
  out[1].clear();
  TSL_TRY(backend->open(problem, &device, &worker));
  TSL_TRY(backend->begin(worker, 0));
  for (const tsl_unit &unit : units) {
    memset(&part, 0, sizeof part);
    slab_bytes(tri_params_of(problem), &unit, bytes);
    for (int s = 0; s < 2; s++) {
      TSL_TRY(backend->host_alloc(bytes[s], &part.slab[TRI_OUT + s]));
      memset(part.slab[TRI_OUT + s], 0xff, (size_t)bytes[s]);
    }
    TSL_TRY(backend->run(worker, &unit, 1, &part));
    for (int s = 0; s < 2; s++) {
      const tsl_list *list = &part.list[TRI_OUT + s];
      const char *slab = (const char *)part.slab[TRI_OUT + s], *data = (const char *)list->data;
      const int64_t each =
          s == 0 ? 16 : (int64_t)tsl_type_bytes((tsl_type)tri_params_of(problem)->type);
      out[s].insert(out[s].end(), slab, slab + bytes[s]);
      if (list->n > 0) out[s].insert(out[s].end(), data, data + list->n * each);
      free(list->data);
      backend->host_free(part.slab[TRI_OUT + s]);
    }
  }
  TSL_TRY(backend->collect(worker, problem));
done:
  backend->close(&worker);
  return err;
}

/* One case against its reference, for the cuts that make sense; near: by a search. */
template <class R>
static tsl_err check_case(const tri_case *c, const std::vector<R> &ref, bool near) {
  tsl_err err = TSL_OK;
  tri_problem_data<R> data(*c);
  std::vector<char> out[2];
  const int cuts = effort == TINY ? 1 : c->n <= 37 ? 3 : 2;
  if (near) TSL_TRY(data.sort());
  for (int cut = 0; cut < cuts; cut++) {
    const std::vector<tsl_unit> units = units_of(c->n, cut);
    TSL_TRY(run_units(&data.problem, units, out));
    n_checks++;
    if (c->output == TRI_CONDENSED || c->output == TRI_SQUARE)
      check_matrix(c, cut, ref, units, out[0]);
    if (c->output == TRI_THRESHOLD) check_threshold(c, cut, &data.p, ref, out);
    if (c->output == TRI_TOPK) check_topk(c, cut, &data.p, ref, out);
    if (c->output == TRI_HISTOGRAM) check_histogram(c, cut, &data.p, ref, data.counts.data());
  }
done:
  return err;
}

static int maps_end(void) {
  static_assert((int)TRI_MAP_CDP == (int)TRI_N_MAPS - 1, "cdp is the last map");
  return with_cdp ? TRI_N_MAPS : TRI_MAP_CDP;
}

template <class R> static tsl_err check_outputs(tri_case c) {
  tsl_err err = TSL_OK;
  const std::vector<R> ref = ref_matrix<R>(c);
  for (c.output = TRI_CONDENSED; c.output <= TRI_HISTOGRAM; c.output++) {
    TSL_TRY(check_case<R>(&c, ref, false));
    tri_params near = {};
    near.function = c.function, near.output = c.output, near.d = c.d;
    if (c.n > 0 && tri_near_possible(&near)) TSL_TRY(check_case<R>(&c, ref, true));
    if (c.output > TRI_SQUARE || c.d != 3 || tri_abouts[c.function].sum >= TRI_TERMS) continue;
    for (c.map = TRI_MAP_BB; c.map < maps_end(); c.map++)
      for (c.block = 8; c.block <= 32; c.block *= 2)
        if (c.block == 16 || (c.n <= 37 && effort != TINY)) TSL_TRY(check_case<R>(&c, ref, false));
    c.map = TRI_MAP_AUTO;
  }
done:
  return err;
}

/* Gravity: tolerance relative to the sum of the terms' sizes; bits must not depend on the cut. */
template <class R> static tsl_err check_gravity(tri_case c, bool equal, double softening) {
  tsl_err err = TSL_OK;
  std::vector<char> out[2], first[2];
  const double tol = sizeof(R) == 4 ? 3e-6 : 1e-13;
  c.output = TRI_FORCES;
  c.function = TRI_GRAVITY;
  tri_problem_data<R> data(c);
  data.gravity(equal, softening);
  for (int cut = 0; cut < (effort == TINY ? 1 : c.n <= 37 ? 3 : 2); cut++) {
    TSL_TRY(run_units(&data.problem, units_of(c.n, cut), out));
    n_checks++;
    if (cut == 0) first[0] = out[0], first[1] = out[1];
    if (out[0] != first[0] || out[1] != first[1])
      report(&c, cut, "bits depend on the units", 0, 0, 0);
  }
  for (int64_t i = 0; i < c.n; i++) {
    double sum[4], size[4];
    data.ref_gravity(i, sum, size);
    for (int64_t k = 0; k < c.d; k++) {
      const double got = ((const double *)out[0].data())[i * c.d + k];
      if (!(fabs(got - sum[k]) <= tol * size[k]))
        report(&c, 0, "acceleration", i * c.d + k, got, sum[k]);
    }
    const double got = ((const double *)out[1].data())[i];
    if (!(fabs(got - sum[3]) <= tol * size[3])) report(&c, 0, "potential", i, got, sum[3]);
  }
done:
  return err;
}

/* Sizes and dimensions by effort. */
static const std::vector<int64_t> ref_sizes[] = {
    {0, 1, 2, 3, 37, 128, 257, 1000}, {0, 1, 2, 37, 257}, {67}};
static const std::vector<int64_t> ref_dims[] = {{1, 2, 3, 4, 5, 17}, {3, 17}, {3, 17}};

/* The k nearest where a filter by products decides for all rows, for some and for none. */
template <class R> static tsl_err check_filter(void) {
  tsl_err err = TSL_OK;
  const int type = sizeof(R) == 4 ? TSL_F32 : TSL_F64;
  for (int function : {TRI_EUCLIDEAN, TRI_SQEUCLIDEAN})
    for (int64_t close : {0, 500, 1303}) {
      const tri_case c = {function, TRI_TOPK, type, 1303, 24, TRI_MAP_AUTO, 16, 0, close};
      TSL_TRY(check_case<R>(&c, ref_matrix<R>(c), false));
    }
done:
  return err;
}

/* So many nearest that whole rows are sorted. */
template <class R> static tsl_err check_many(void) {
  tsl_err err = TSL_OK;
  const int type = sizeof(R) == 4 ? TSL_F32 : TSL_F64;
  for (int function : {TRI_EUCLIDEAN, TRI_EUCLIDEAN_PERIODIC, TRI_HAVERSINE, TRI_COSINE,
                       TRI_OVERLAP, TRI_HAMMING, TRI_INNER})
    for (int64_t k : {1025, 1800}) {
      const bool wide = function == TRI_COSINE;
      const tri_case c = {function, TRI_TOPK, type, 1801, wide ? 24 : 3, TRI_MAP_AUTO, 16, k};
      TSL_TRY(check_case<R>(&c, ref_matrix<R>(c), false));
    }
done:
  return err;
}

/* Rows of bits around whole words, and longer than a tile holds at once. */
template <class R> static tsl_err check_bits(void) {
  tsl_err err = TSL_OK;
  const int type = sizeof(R) == 4 ? TSL_F32 : TSL_F64;
  for (int function = TRI_JACCARD; function <= TRI_YULE; function++)
    for (int64_t d : {31, 32, 33, 63, 64, 65, 255, 257, 511, 513, 2048}) {
      const tri_case c = {function, TRI_CONDENSED, type, d == 257 ? 401 : 141, d, TRI_MAP_AUTO, 16};
      TSL_TRY(check_outputs<R>(c));
    }
done:
  return err;
}

static tsl_err test_ref(void) {
  tsl_err err = TSL_OK;
  const std::vector<int64_t> &sizes = ref_sizes[effort], &dims = ref_dims[effort];
  for (int64_t n : sizes)
    for (int64_t d : dims)
      for (int function = 0; function < TRI_N_PAIRS; function++) {
        if (tri_abouts[function].prepare == TRI_SPHERE && d != 3) continue;
        if (tri_abouts[function].prepare == TRI_WRAPPED && d > 3) continue;
        tri_case c = {function, TRI_CONDENSED, TSL_F32, n, d, TRI_MAP_AUTO, 16};
        TSL_TRY(check_outputs<float>(c));
        c.type = TSL_F64;
        TSL_TRY(check_outputs<double>(c));
      }
  TSL_TRY(check_filter<float>());
  TSL_TRY(check_filter<double>());
  TSL_TRY(check_bits<float>());
  TSL_TRY(check_bits<double>());
  TSL_TRY(check_many<float>());
  TSL_TRY(check_many<double>());
  for (int64_t n : sizes)
    for (int64_t d = 1; d <= 3; d++)
      for (int v = 0; v < 4; v++) {
        tri_case c = {TRI_GRAVITY, TRI_FORCES, TSL_F32, n, d, TRI_MAP_AUTO, 16};
        TSL_TRY(check_gravity<float>(c, v % 2 == 0, v < 2 ? 0.01 : 0));
        c.type = TSL_F64;
        TSL_TRY(check_gravity<double>(c, v % 2 == 0, v < 2 ? 0.01 : 0));
      }
done:
  return err;
}

/* With 1 MiB of device memory every output has to be computed in batches of rows. */
static tsl_err test_batches(void) {
  tsl_err err = TSL_OK;
  const int64_t limit = device.memory_limit;
  tri_case c = {TRI_EUCLIDEAN, TRI_CONDENSED, TSL_F32, 1000, 3, TRI_MAP_AUTO, 16};
  device.memory_limit = 1 << 20;
  TSL_TRY(check_outputs<float>(c));
  c.type = TSL_F64;
  TSL_TRY(check_outputs<double>(c));
  TSL_TRY(check_gravity<double>(c, false, 0.01));
  c.type = TSL_F32;
  TSL_TRY(check_gravity<float>(c, false, 0.01));
done:
  device.memory_limit = limit;
  return err;
}

static tsl_err test_maps(void) {
  static const int last[] = {300, 40, 40}, step[] = {1, 13, 39};
  tsl_err err = TSL_OK;
  std::vector<int64_t> sizes;
  for (int64_t n = 1; n <= last[effort]; n += step[effort]) sizes.push_back(n);
  if (effort == FULL)
    for (int64_t n : {1025, 2047, 3001, 5003}) sizes.push_back(n);
  for (int64_t n : sizes) {
    const int function = n / 2 % 2 == 0 ? TRI_EUCLIDEAN : TRI_SQEUCLIDEAN;
    tri_case c = {function, TRI_CONDENSED, TSL_F32, n, 2, TRI_MAP_AUTO, 16};
    const std::vector<float> ref = ref_matrix<float>(c);
    for (c.output = TRI_CONDENSED; c.output <= TRI_SQUARE; c.output++)
      for (c.map = TRI_MAP_AUTO; c.map < maps_end(); c.map++)
        for (c.block = 8; c.block <= 32; c.block *= 2) {
          TSL_TRY(check_case<float>(&c, ref, false));
          c.block_rows = n % 3 == 0 ? 2 : c.block / 2;
          c.cdp_cutoff = 40;
          TSL_TRY(check_case<float>(&c, ref, false));
          c.block_rows = c.cdp_cutoff = 0;
        }
  }
done:
  return err;
}

/* Condensed and square output of one function. */
template <class R> static tsl_err check_slabs(int function, int64_t n, int64_t d) {
  tsl_err err = TSL_OK;
  const int type = sizeof(R) == 4 ? TSL_F32 : TSL_F64;
  tri_case c = {function, TRI_CONDENSED, type, n, d, TRI_MAP_AUTO, 16};
  const std::vector<R> ref = ref_matrix<R>(c);
  for (c.output = TRI_CONDENSED; c.output <= TRI_SQUARE; c.output++)
    TSL_TRY(check_case<R>(&c, ref, false));
done:
  return err;
}

template <class R> static tsl_err check_wide(int64_t n) {
  tsl_err err = TSL_OK;
  for (int function : {TRI_EUCLIDEAN, TRI_SQEUCLIDEAN, TRI_EUCLIDEAN_PERIODIC, TRI_HAVERSINE})
    for (int64_t d = function == TRI_HAVERSINE ? 3 : 2; d <= 3; d++)
      TSL_TRY(check_slabs<R>(function, n, d));
  TSL_TRY(check_slabs<R>(TRI_OVERLAP, n, 3)); /* and tiles of any dimension */
done:
  return err;
}

/* Enough values for the kernels of tiles; n a multiple of a memory line and not; units of which the
 * second and third are large enough too. */
static tsl_err test_wide(void) {
  tsl_err err = TSL_OK;
  if (effort == TINY) return check_slabs<float>(TRI_EUCLIDEAN, 4128, 3);
  for (int64_t n : {4128, 4221}) TSL_TRY(check_wide<float>(n));
  TSL_TRY(check_wide<double>(4111));
  TSL_TRY(check_slabs<float>(TRI_EUCLIDEAN, 8501, 2));
  TSL_TRY(check_slabs<float>(TRI_EUCLIDEAN, 8448, 3));
done:
  return err;
}

/* Bit patterns from first on: fast root against the IEEE one. */
static __global__ void sqrt_kernel(unsigned first, unsigned long long *wrong) {
  const unsigned bits = first + blockIdx.x * blockDim.x + threadIdx.x;
  const float x = __uint_as_float(bits), wanted = __fsqrt_rn(x), got = tsl_sqrt_f32(x);
  const bool both_nan = wanted != wanted && got != got;
  if (!both_nan && __float_as_uint(wanted) != __float_as_uint(got)) atomicAdd(wrong, 1ull);
}

static tsl_err test_sqrt(void) {
  tsl_err err = TSL_OK;
  unsigned long long wrong = 0, *d_wrong = NULL;
  TSL_CUDA_TRY(cudaMalloc(&d_wrong, 8));
  TSL_CUDA_TRY(cudaMemset(d_wrong, 0, 8));
  for (unsigned piece = 0; piece < 256; piece++)
    TSL_LAUNCH(sqrt_kernel, dim3(65536), 256, 0, 0, piece << 24, d_wrong);
  TSL_CUDA_TRY(cudaMemcpy(&wrong, d_wrong, 8, cudaMemcpyDeviceToHost));
  n_checks++;
  if (wrong != 0) {
    n_failures++;
    printf("FAIL square root differs on %llu floats\n", wrong);
  }
done:
  (void)cudaFree(d_wrong);
  return err;
}

static tsl_err read_options(int argc, char **argv) {
  tsl_err err = TSL_OK;
  for (int a = 2; a < argc; a++) {
    if (strcmp(argv[a], "--small") == 0)
      effort = SMALL;
    else if (strcmp(argv[a], "--tiny") == 0)
      effort = TINY;
    else if (strcmp(argv[a], "--no-cdp") == 0)
      with_cdp = false;
    else
      TSL_FAIL(TSL_ERR_USAGE, "unknown option '%s'", argv[a]);
  }
done:
  return err;
}

static tsl_err test(const char *what) {
  tsl_err err = TSL_OK;
  if (strcmp(what, "sqrt") == 0)
    TSL_TRY(test_sqrt());
  else if (strcmp(what, "maps") == 0)
    TSL_TRY(test_maps());
  else if (strcmp(what, "wide") == 0)
    TSL_TRY(test_wide());
  else if (strcmp(what, "halves") == 0)
    TSL_TRY(test_halves(effort != FULL));
  else if (strcmp(what, "letters") == 0)
    TSL_TRY(test_letters());
  else if (strcmp(what, "paired") == 0)
    TSL_TRY(test_paired());
  else if (strcmp(what, "extension") == 0)
    TSL_TRY(test_extension());
  else if (strcmp(what, "frames") == 0)
    TSL_TRY(test_frames());
  else if (strcmp(what, "graph") == 0)
    TSL_TRY(test_graph(ref_sizes[effort], ref_dims[effort]));
  else if (strcmp(what, "ref") == 0) {
    TSL_TRY(test_ref());
    if (effort != TINY) TSL_TRY(test_batches());
  } else
    TSL_FAIL(TSL_ERR_USAGE,
             "usage: test_tri_gpu ref|wide|maps|halves|graph|frames|letters|paired|extension|"
             "sqrt [--small | --tiny] [--no-cdp]");
done:
  return err;
}

int main(int argc, char **argv) {
  tsl_err err = TSL_OK;
  const char *why = NULL;
  if (tsl_platform_gpu.count(&why) == 0) {
    printf("SKIP: %s\n", why);
    return 77;
  }
  backend = tsl_backend_find(&tsl_platform_gpu, "tri");
  TSL_TRY(tsl_platform_gpu.describe(0, &device));
  TSL_TRY(tsl_platform_gpu.select(&device));
  TSL_TRY(read_options(argc, argv));
  TSL_TRY(test(argc > 1 ? argv[1] : "ref"));
done:
  if (err != TSL_OK) printf("FAIL: %s\n%s", tsl_err_message(), tsl_err_places());
  printf("%s: %ld checks, %ld failures\n", err == TSL_OK && n_failures == 0 ? "PASS" : "FAIL",
         n_checks, n_failures);
  return err == TSL_OK && n_failures == 0 ? 0 : 1;
}
