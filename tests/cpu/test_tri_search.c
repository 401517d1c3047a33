/**
 * @file test_tri_search.c
 * Near pairs alone give the bytes that all pairs give: every function x type x output x shape of
 * the cloud x cut into units x lowest and highest SIMD level of the socket's tri backend, cut-offs
 * that keep nothing, some and everything, trees of one to three levels.
 */
#include "test_tri_cpu.h"

#include "levels.h"

typedef enum shape { UNIFORM, CLUSTERS, LATTICE, REPEATED, EQUAL, LINE, FAR, N_SHAPES } shape;

static const char *const shape_words[] = {"uniform", "clusters", "lattice", "repeated",
                                          "equal",   "line",     "far"};

enum {
  SOME = 100,
  MANY = 5000
}; /* points, of which all pairs take long: on the lowest level, on any */

static int last_level, first_level;

static void coordinates(shape cloud, const tri_params *p, int64_t i, double *x) {
  uint64_t state = 1000 * (uint64_t)(cloud == REPEATED ? i % (p->n / 5 + 1) : i) + 17;
  uint64_t blob = (uint64_t)(i % 7) + 5;
  const double along = random_01(&state);
  for (int64_t k = 0; k < p->d; k++) {
    const double u = random_01(&state), centre = random_01(&blob);
    x[k] = cloud == CLUSTERS  ? centre + 0.03 * (u + random_01(&state) - 1)
           : cloud == LATTICE ? floor(8 * u) / 8
           : cloud == EQUAL   ? 0.3
           : cloud == LINE    ? along
           : cloud == FAR     ? 4096 + u
                              : u;
  }
}

/** Points as the family prepares them, roughly: within the box, of unit length. */
static void place_points(shape cloud, tsl_problem *problem) {
  const tri_params *p = tri_params_of(problem);
  const tri_prepare how = tri_abouts[p->function].prepare;
  double x[TRI_NEAR_D];
  for (int64_t i = 0; i < p->n; i++) {
    double norm = 0, mean = 0;
    coordinates(cloud, p, i, x);
    for (int64_t k = 0; k < p->d; k++) {
      if (how == TRI_WRAPPED) x[k] = fmin(fmax(x[k] - floor(x[k]), 0), 0.999) * p->box[k];
      if (how == TRI_UNIT_NORM || how == TRI_STANDARDISED || how == TRI_SPHERE) x[k] -= 0.45;
      mean += x[k] / (double)p->d;
    }
    for (int64_t k = 0; k < p->d; k++) {
      if (how == TRI_STANDARDISED) x[k] -= mean;
      norm += x[k] * x[k];
    }
    const bool unit = how == TRI_UNIT_NORM || how == TRI_STANDARDISED || how == TRI_SPHERE;
    for (int64_t k = 0; k < p->d; k++) {
      if (unit && norm > 0) x[k] /= sqrt(norm);
      put(problem->fields[TRI_POINTS].data, p->type, k * p->n_pad + i, x[k]);
    }
  }
}

static void put_in_order(tsl_problem *problem) {
  tri_params *p = problem->params;
  int32_t *order = alloc(p->n, sizeof *order);
  must(tri_near_sort(problem, order), "sort");
  must(tri_near_apply(problem, order), "order");
  p->near = 1;
}

/** Cut-offs: nothing, little, much, everything; in the values' own unit. */
static double cut_of(const tri_params *p, int c) {
  static const double cuts[] = {-1, 0.02, 0.3, 1e9};
  const bool sphere = tri_abouts[p->function].prepare == TRI_SPHERE;
  return sphere && c < 3 ? cuts[c] * p->scale : cuts[c];
}

static void check_output(shape cloud, tri_params params) {
  const int64_t cuts[] = {params.n, params.n > 300 ? params.n / 13 + 1 : 1};
  tsl_problem all, near;
  problem_make(&all, &params);
  problem_make(&near, &params);
  place_points(cloud, &all);
  place_points(cloud, &near);
  put_in_order(&near);
  whole want = {0};
  run_cut(&all, params.n, 2, &want);
  const int levels[] = {last_level, first_level};
  for (int l = 0; l < (params.n < SOME && first_level < last_level ? 2 : 1); l++)
    for (int c = 0; c < 2; c++) {
      whole got = {0};
      char text[2] = {(char)('0' + levels[l]), 0};
      if (levels[l] > 0) (void)setenv("TSL_SIMD", text, 1);
      run_cut(&near, cuts[c], 2, &got);
      same_bytes(shape_words[cloud], &params, levels[l], &want, &got);
      whole_clear(&got);
    }
  (void)unsetenv("TSL_SIMD");
  whole_clear(&want);
  tsl_problem_clear(&all);
  tsl_problem_clear(&near);
}

static void check_cloud(shape cloud, int function, int type, int64_t n, int64_t d) {
  tri_params p = {.function = function,
                  .type = type,
                  .n = n,
                  .d = d,
                  .d_read = d,
                  .bins = n % 2 == 0 ? 37 : 3000,
                  .box = {1, 1.25, 1.5},
                  .scale = 6371};
  static const int64_t ks[] = {1, 8, 100};
  for (int c = 0; c < (n < SOME ? 4 : n < MANY ? 3 : 2); c++) {
    const double most = function == TRI_EUCLIDEAN_PERIODIC && c == 3 ? 0.5 : cut_of(&p, c);
    p.threshold = most;
    p.output = TRI_THRESHOLD;
    check_output(cloud, p);
    p.range_lo = c == 2 ? 0.1 * most : tri_abouts[function].extra == TRI_RADIUS ? -0.5 : -1;
    p.range_hi = c == 0 ? 0 : most;
    p.output = TRI_HISTOGRAM;
    check_output(cloud, p);
    p.k = c < 3 ? ks[c] : n - 1;
    p.output = TRI_TOPK;
    if (p.k < n && p.k <= TRI_MAX_K) check_output(cloud, p);
  }
}

static bool fits(int function, int64_t d) {
  const tri_prepare how = tri_abouts[function].prepare;
  if (how == TRI_SPHERE) return d == 3;
  if (how == TRI_WRAPPED) return d <= 3;
  if (tri_abouts[function].sum >= TRI_TERMS) return false;
  return tri_abouts[function].sum != TRI_PRODUCT || (d > 1 && d < TRI_GEMM_D);
}

int main(void) {
  static const int64_t sizes[] = {1, 2, 33, 640, 1601}, dims[] = {1, 2, 3, 7, 16};
  int turn = 0;
  int64_t number = 0;
  last_level = tsl_cpu_level();
  first_level = lowest_level();
  for (int function = 0; function < TRI_N_PAIRS; function++)
    for (int type = TSL_F32; type <= TSL_F64; type++)
      for (int cloud = 0; cloud < N_SHAPES; cloud++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
          for (size_t k = 0; k < sizeof dims / sizeof *dims; k++)
            if (fits(function, dims[k]) && turn++ % (sizes[s] < SOME ? 5 : 37) == 0 &&
                case_is_mine(number++))
              check_cloud((shape)cloud, function, type, sizes[s], dims[k]);
  if (case_is_mine(number++)) check_cloud(UNIFORM, TRI_EUCLIDEAN, TSL_F32, 40001, 3);
  if (case_is_mine(number++)) check_cloud(CLUSTERS, TRI_EUCLIDEAN_PERIODIC, TSL_F64, 40002, 3);
  printf("cpu.tri.search: %ld checks, %ld failures, levels %d to %d\n", n_checks, n_failures,
         first_level, last_level);
  return n_failures == 0 ? 0 : 1;
}
