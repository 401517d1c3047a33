/**
 * @file test_fractal_cpu.c
 * Each pixel of the socket's fractal backend against a plain loop written here: sets x precisions x
 * views x sizes x maxiter x SIMD levels x shortcuts x schedules x cuts into units. Values must be
 * the same; sums and counts too. exact = 0 must give the image that the rule of the filling, done
 * here by recursion on the plain image, gives.
 */
#include "cases.h"
#include "fractal_cpu.h"
#include "fractal_fn.h"
#include "levels.h"
#include "must.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long n_checks, n_failures;

static uint64_t random_state = 7;
static int64_t n_cases;

/** Is the next case this run's (cases.h)? Each has random numbers of its own. */
static bool next_is_mine(void) {
  random_state = 7 + (uint64_t)n_cases;
  return case_is_mine(n_cases++);
}

static int64_t random_below(int64_t n) {
  random_state += 0x9e3779b97f4a7c15u;
  uint64_t z = random_state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (int64_t)((z ^ (z >> 31)) % (uint64_t)n);
}

/* ------------------------------------------------------------------ views and problems */

typedef struct view {
  const char *name;
  fractal_set set;
  double centre[2], width; /**< width of fp64 */
  double c[2];             /**< julia */
  double width_f32;        /**< 0: the same */
} view;

static const view views[] = {
    {"full", FRACTAL_MANDELBROT, {-0.5, 0}, 3, {0}, 0},
    {"seahorse", FRACTAL_MANDELBROT, {-0.743643887037151, 0.131825904205330}, 3e-3, {0}, 0},
    {"elephant", FRACTAL_MANDELBROT, {0.2925755, -0.0149977}, 1e-2, {0}, 0},
    {"deep", FRACTAL_MANDELBROT, {-0.743643887037151, 0.131825904205330}, 1e-10, {0}, 1e-4},
    {"all inside", FRACTAL_MANDELBROT, {-0.1, 0}, 0.2, {0}, 0},
    {"real axis", FRACTAL_MANDELBROT, {-1.75, 0}, 0.1, {0}, 0},
    {"tip", FRACTAL_MANDELBROT, {-2, 0}, 4e-8, {0}, 1e-4},
    {"circle of 2", FRACTAL_MANDELBROT, {0, 0}, 4.2, {0}, 0},
    {"julia", FRACTAL_JULIA, {0, 0}, 3.4, {-0.8, 0.156}, 0},
    {"julia dendrite", FRACTAL_JULIA, {0, 0}, 3, {0, 1}, 0},
    {"julia real", FRACTAL_JULIA, {0, 0}, 3, {-0.75, 0}, 0},
    {"julia disc", FRACTAL_JULIA, {0, 0}, 2.5, {0, 0}, 0},
    {"julia -2", FRACTAL_JULIA, {0, 0}, 4.2, {-2, 0}, 0},
    {"julia below 2", FRACTAL_JULIA, {0, 0}, 1e-6, {-1.9999999999, 0}, 0},
    {"julia wild", FRACTAL_JULIA, {0, 0}, 6, {1.9, 0.9}, 0},
    {"ship", FRACTAL_BURNING_SHIP, {-0.5, -0.5}, 3.75, {0}, 0},
    {"small ship", FRACTAL_BURNING_SHIP, {-1.755, -0.03}, 0.1, {0}, 0},
    {"ship inside", FRACTAL_BURNING_SHIP, {-0.1, -0.1}, 0.1, {0}, 0},
    {"where disc and cardioid touch", FRACTAL_MANDELBROT, {-0.75, 0}, 1e-4, {0}, 1e-2},
    {"cusp", FRACTAL_MANDELBROT, {0.25, 0}, 1e-6, {0}, 1e-3},
};
enum { N_VIEWS = sizeof views / sizeof *views };

static double coordinate(double centre, double step, int64_t i, int64_t n, int sign) {
  return centre + sign * ((double)i + 0.5 - 0.5 * (double)n) * step;
}

static void *table_make(int type, double centre, double step, int64_t n, int sign) {
  void *table = alloc(n, 8);
  for (int64_t i = 0; i < n; i++) {
    const double v = coordinate(centre, step, i, n, sign);
    if (type == TSL_F64)
      ((double *)table)[i] = v;
    else
      ((float *)table)[i] = (float)v;
  }
  return table;
}

/** A problem made by hand and its plain image. */
typedef struct scene {
  const view *view;
  tsl_problem problem;
  fractal_params *p; /**< problem.params */
  uint32_t *truth;   /**< [yres][xres] */
} scene;

/** The definition, written once more. */
#define PLAIN(R, name, FMA, FABS)                                       \
  static int64_t name(const fractal_params *p, R px, R py) {            \
    const int julia = p->set == FRACTAL_JULIA;                          \
    R x = julia ? px : 0, y = julia ? py : 0;                           \
    const R cx = julia ? (R)p->c[0] : px, cy = julia ? (R)p->c[1] : py; \
    for (int64_t k = 1; k < p->maxiter; k++) {                          \
      if (!(FMA(x, x, y * y) < 4)) return k;                            \
      const R a = p->set == FRACTAL_BURNING_SHIP ? FABS(x) : x;         \
      const R b = p->set == FRACTAL_BURNING_SHIP ? FABS(y) : y;         \
      x = FMA(a - b, a + b, cx);                                        \
      y = FMA(a + a, b, cy);                                            \
    }                                                                   \
    return 0;                                                           \
  }
PLAIN(double, plain_f64, fma, fabs)
PLAIN(float, plain_f32, fmaf, fabsf)
#undef PLAIN

static scene scene_make(const view *v, int type, int64_t columns, int64_t rows, int64_t maxiter) {
  scene s = {.view = v};
  const double width = type == TSL_F32 && v->width_f32 > 0 ? v->width_f32 : v->width;
  const double step = width / (double)columns, edge = type == TSL_F64 ? 4e-9 : 4e-5;
  s.p = alloc(1, sizeof *s.p);
  *s.p = (fractal_params){.set = (int32_t)v->set,
                          .type = type,
                          .value_type = maxiter <= 65536 ? TSL_U16 : TSL_U32,
                          .exact = 1,
                          .wild = v->set == FRACTAL_JULIA &&
                                  v->c[0] * v->c[0] + v->c[1] * v->c[1] > 4 - edge,
                          .xres = columns,
                          .yres = rows,
                          .maxiter = maxiter,
                          .c = {v->c[0], v->c[1]}};
  s.problem.params = s.p;
  s.problem.n_fields = FRACTAL_TOTALS + 1;
  void *const x = table_make(type, v->centre[0], step, columns, 1);
  void *const y = table_make(type, v->centre[1], step, rows, -1);
  s.problem.fields[FRACTAL_X].data = x;
  s.problem.fields[FRACTAL_Y].data = y;
  s.problem.fields[FRACTAL_TOTALS].data = alloc(FRACTAL_N_TOTALS, 8);
  s.truth = alloc(columns * rows, sizeof *s.truth);
  for (int64_t k = 0; k < columns * rows; k++) {
    const int64_t i = k % columns, j = k / columns;
    s.truth[k] = (uint32_t)(type == TSL_F64 ? plain_f64(s.p, ((double *)x)[i], ((double *)y)[j])
                                            : plain_f32(s.p, ((float *)x)[i], ((float *)y)[j]));
  }
  return s;
}

static void scene_clear(scene *s) {
  tsl_free(s->truth);
  tsl_problem_clear(&s->problem);
}

/* ------------------------------------------------------------------ running cuts */

enum { MAX_UNITS = 64 };

/** The image as units: whole, or rows cut at random multiples of quantum and columns at random. */
static int64_t cut_make(const fractal_params *p, bool cut, int64_t quantum, tsl_unit *units) {
  int64_t n = 0;
  for (int64_t row = 0, to; row < p->yres; row = to) {
    to = cut ? row + quantum * (1 + random_below(1 + p->yres / quantum / 3)) : p->yres;
    if (to > p->yres || n > MAX_UNITS / 2) to = p->yres;
    const int64_t middle = cut && random_below(2) == 0 ? random_below(p->xres) : 0;
    const int64_t columns[3] = {0, middle, p->xres};
    for (int half = 0; half < 2; half++)
      if (columns[half] < columns[half + 1] || n == 0)
        units[n++] = (tsl_unit){.lo = {row, columns[half], 0}, .hi = {to, columns[half + 1], 1}};
  }
  return n;
}

/** How an image is run. */
typedef struct way {
  int level, threads;
  bool cut, together; /**< into units; all units in one call */
} way;

static void complain(const scene *s, const way *w, const char *what, int64_t place) {
  const fractal_params *p = s->p;
  if (++n_failures <= 20)
    fprintf(stderr,
            "FAIL %s: %s %s %lldx%lld maxiter %lld exact %d interior %d periodicity %d schedule %d "
            "level %d threads %d cut %d at row %lld column %lld\n",
            what, s->view->name, p->type == TSL_F64 ? "fp64" : "fp32", (long long)p->xres,
            (long long)p->yres, (long long)p->maxiter, p->exact, p->interior, p->periodicity,
            p->schedule, w->level, w->threads, w->cut, (long long)(place / p->xres),
            (long long)(place % p->xres));
}

/** Values of a unit into the image; bytes behind the slab must be untouched. */
static void paste(const scene *s, const way *w, const tsl_unit *u, const char *slab,
                  uint32_t *image) {
  const int64_t width = u->hi[1] - u->lo[1], n = (u->hi[0] - u->lo[0]) * width;
  const int bytes = s->p->value_type == TSL_U16 ? 2 : 4;
  for (int64_t k = 0; k < n; k++) {
    const int64_t at = (u->lo[0] + k / width) * s->p->xres + u->lo[1] + k % width;
    image[at] = bytes == 2 ? ((const uint16_t *)(const void *)slab)[k]
                           : ((const uint32_t *)(const void *)slab)[k];
  }
  for (int k = 0; k < 64; k++)
    if (slab[n * bytes + k] != (char)0xee) complain(s, w, "written behind the slab", 0);
}

/** Run the image; totals of the worker are in the problem's field afterwards. */
static uint32_t *image_run(scene *s, const way *w, const tsl_unit *units, int64_t n) {
  uint32_t *image = alloc(s->p->xres * s->p->yres, sizeof *image);
  tsl_worker *worker = NULL;
  tsl_part parts[MAX_UNITS];
  const tsl_device device = {.kind = TSL_CPU, .threads = w->threads};
  char level[2] = {(char)('0' + w->level), 0};
  if (w->level > 0) setenv("TSL_SIMD", level, 1);
  memset(parts, 0, sizeof parts);
  for (int64_t u = 0; u < n; u++) {
    const int64_t pixels = (units[u].hi[0] - units[u].lo[0]) * (units[u].hi[1] - units[u].lo[1]);
    parts[u].slab[FRACTAL_VALUES] = alloc(4 * pixels + 64, 1);
    parts[u].seconds = -1;
    memset(parts[u].slab[FRACTAL_VALUES], 0xee, (size_t)(4 * pixels + 64));
  }
  must(fractal_backend_cpu.open(&s->problem, &device, &worker), "open");
  must(fractal_backend_cpu.begin(worker, 0), "begin");
  if (w->together) must(fractal_backend_cpu.run(worker, units, n, parts), "run");
  for (int64_t u = 0; u < n && !w->together; u++)
    must(fractal_backend_cpu.run(worker, &units[u], 1, &parts[u]), "run");
  must(fractal_backend_cpu.collect(worker, &s->problem), "collect");
  fractal_backend_cpu.close(&worker);
  for (int64_t u = 0; u < n; u++) {
    if (!(parts[u].seconds >= 0)) complain(s, w, "seconds", 0);
    paste(s, w, &units[u], parts[u].slab[FRACTAL_VALUES], image);
    tsl_free(parts[u].slab[FRACTAL_VALUES]);
  }
  return image;
}

static void check_total(const scene *s, const way *w, int which, uint64_t wanted) {
  static const char *const names[] = {"sum", "inside", "filled", "sampled", "wrong"};
  const uint64_t *totals = s->problem.fields[FRACTAL_TOTALS].data;
  n_checks++;
  if (totals[which] != wanted) {
    complain(s, w, names[which], 0);
    fprintf(stderr, "  %llu instead of %llu\n", (unsigned long long)totals[which],
            (unsigned long long)wanted);
  }
}

/** Run and compare with the wanted image and its sums. */
static void check_image(scene *s, const way *w, const tsl_unit *units, int64_t n,
                        const uint32_t *wanted) {
  uint32_t *image = image_run(s, w, units, n);
  uint64_t sum = 0, inside = 0;
  for (int64_t k = 0; k < s->p->xres * s->p->yres; k++) {
    sum += wanted[k];
    inside += wanted[k] == 0;
    n_checks++;
    if (image[k] != wanted[k]) {
      complain(s, w, "value", k);
      fprintf(stderr, "  %u instead of %u\n", image[k], wanted[k]);
      break;
    }
  }
  check_total(s, w, FRACTAL_TOTAL_VALUES, sum);
  check_total(s, w, FRACTAL_TOTAL_INSIDE, inside);
  tsl_free(image);
}

/* ------------------------------------------------------------------ exact images */

/** All levels of this build, shortcuts and cuts of one scene. */
static void check_exact(scene *s) {
  const int most = tsl_cpu_level();
  tsl_unit units[MAX_UNITS];
  for (int level = lowest_level(); level <= most; level++)
    for (int shortcuts = 0; shortcuts < 4; shortcuts++) {
      s->p->interior = shortcuts & 1;
      s->p->periodicity = shortcuts >> 1;
      s->p->interior = s->p->interior && s->p->set == FRACTAL_MANDELBROT;
      /* fused multiply-adds of the C library take their time */
      if (level == 2 && shortcuts != 3 && s->p->xres * s->p->yres * s->p->maxiter > 1000000)
        continue;
      const way w = {.level = level,
                     .threads = 1 + shortcuts % 3,
                     .cut = (shortcuts + level) % 2 == 0,
                     .together = random_below(2) == 0};
      const int64_t n = cut_make(s->p, w.cut, 1, units);
      check_image(s, &w, units, n, s->truth);
    }
}

static void test_exact(void) {
  static const int64_t maxiters[] = {1, 2, 3, 8, 9, 16, 17, 18, 33, 500, 65536, 70000};
  static const int64_t sizes[][2] = {{1, 1}, {1, 7}, {13, 11}, {53, 31}, {257, 129}};
  for (int v = 0; v < N_VIEWS; v++)
    for (int type = TSL_F32; type <= TSL_F64; type++)
      for (size_t m = 0; m < sizeof maxiters / sizeof *maxiters; m++)
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
          if (maxiters[m] > 500 && z > 1) continue;
          if (maxiters[m] != 500 && maxiters[m] != 17 && z > 3) continue;
          if (!next_is_mine()) continue;
          scene s = scene_make(&views[v], type, sizes[z][0], sizes[z][1], maxiters[m]);
          check_exact(&s);
          scene_clear(&s);
        }
}

/** Large maxiter on images that need lanes refilled; plain loops of the test take the time. */
static void test_long(void) {
  static const int chosen[] = {1, 3, 5, 8, 16, 18, 19};
  for (size_t k = 0; k < sizeof chosen / sizeof *chosen; k++)
    for (int type = TSL_F32; type <= TSL_F64; type++) {
      if (!next_is_mine()) continue;
      scene s = scene_make(&views[chosen[k]], type, 23, 17, k % 2 == 0 ? 65536 : 70000);
      check_exact(&s);
      scene_clear(&s);
    }
}

/** Without the shortcuts these would take days: each must find its lanes. */
static void test_endless(void) {
  static const struct {
    int view;
    int32_t interior, periodicity;
  } cases[] = {{4, 0, 1}, {4, 1, 0}, {17, 0, 1}}; /* of views */
  const int most = tsl_cpu_level();
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int level = lowest_level(); level <= most; level++)
      for (int type = TSL_F32; type <= TSL_F64; type++) {
        scene s = scene_make(&views[cases[k].view], type, 13, 11, 300);
        memset(s.truth, 0, 13 * 11 * sizeof *s.truth);
        s.p->maxiter = FRACTAL_MAX_ITER;
        s.p->value_type = TSL_U32;
        s.p->interior = cases[k].interior;
        s.p->periodicity = cases[k].periodicity;
        const tsl_unit all = {.hi = {11, 13, 1}};
        check_image(&s, &(way){.level = level, .threads = 2}, &all, 1, s.truth);
        scene_clear(&s);
      }
}

static void test_schedules(void) {
  tsl_unit units[MAX_UNITS];
  for (int v = 0; v < N_VIEWS; v += 4)
    for (int type = TSL_F32; type <= TSL_F64; type++) {
      scene s = scene_make(&views[v], type, 53, 31, 500);
      for (int k = FRACTAL_SCHEDULE_TASKS; k < FRACTAL_N_SCHEDULES; k++) {
        const way w = {.level = tsl_cpu_level(), .threads = 2, .cut = k % 2 == 0};
        s.p->schedule = k;
        const int64_t n = cut_make(s.p, w.cut, 1, units);
        check_image(&s, &w, units, n, s.truth);
      }
      scene_clear(&s);
    }
}

/* ------------------------------------------------------------------ filled images */

/** The image that the rule of the filling makes of a plain image. */
typedef struct filling {
  const scene *s;
  uint32_t *image;
  uint64_t filled, sampled, wrong;
} filling;

static void fill_box(filling *f, int64_t r0, int64_t c0, int64_t rows, int64_t columns) {
  const int64_t ld = f->s->p->xres;
  const uint32_t *truth = f->s->truth;
  const uint32_t first = truth[r0 * ld + c0];
  bool uniform = true;
  for (int64_t r = r0; r < r0 + rows; r++)
    for (int64_t c = c0; c < c0 + columns; c++)
      if (r == r0 || c == c0 || r == r0 + rows - 1 || c == c0 + columns - 1)
        uniform = uniform && truth[r * ld + c] == first;
  if (!uniform && rows > 4 && columns > 4) {
    const int64_t up = rows / 2, left = columns / 2;
    fill_box(f, r0, c0, up, left);
    fill_box(f, r0, c0 + left, up, columns - left);
    fill_box(f, r0 + up, c0, rows - up, left);
    fill_box(f, r0 + up, c0 + left, rows - up, columns - left);
    return;
  }
  for (int64_t r = r0 + 1; uniform && r < r0 + rows - 1; r++)
    for (int64_t c = c0 + 1; c < c0 + columns - 1; c++) {
      f->image[r * ld + c] = first;
      f->filled++;
      if (!fractal_is_sampled(r, c)) continue;
      f->sampled++;
      f->wrong += truth[r * ld + c] != first;
    }
}

static int64_t tile_end(int64_t at, int64_t end) {
  const int64_t next = (at / FRACTAL_TILE + 1) * FRACTAL_TILE;
  return next < end ? next : end;
}

static void fill_unit(filling *f, const tsl_unit *u) {
  for (int64_t r = u->lo[0]; r < u->hi[0]; r = tile_end(r, u->hi[0]))
    for (int64_t c = u->lo[1]; c < u->hi[1]; c = tile_end(c, u->hi[1]))
      fill_box(f, r, c, tile_end(r, u->hi[0]) - r, tile_end(c, u->hi[1]) - c);
}

static void check_filled(scene *s, const way *w) {
  tsl_unit units[MAX_UNITS];
  const int64_t pixels = s->p->xres * s->p->yres;
  const int64_t n = cut_make(s->p, w->cut, FRACTAL_TILE, units);
  filling f = {.s = s, .image = alloc(pixels, sizeof *f.image)};
  memset(f.image, 0xff, (size_t)pixels * sizeof *f.image);
  s->p->exact = 0;
  for (int64_t u = 0; u < n; u++) fill_unit(&f, &units[u]);
  for (int64_t k = 0; k < pixels; k++)
    if (f.image[k] == UINT32_MAX) f.image[k] = s->truth[k];
  check_image(s, w, units, n, f.image);
  check_total(s, w, FRACTAL_TOTAL_FILLED, f.filled);
  check_total(s, w, FRACTAL_TOTAL_SAMPLED, f.sampled);
  check_total(s, w, FRACTAL_TOTAL_WRONG, f.wrong);
  tsl_free(f.image);
}

static void test_filled(void) {
  const int below = tsl_cpu_level() > lowest_level() ? tsl_cpu_level() - 1 : tsl_cpu_level();
  static const int64_t sizes[][2] = {{1, 1}, {3, 2}, {31, 5}, {257, 129}, {1100, 70}};
  for (int v = 0; v < N_VIEWS; v++)
    for (int type = TSL_F32; type <= TSL_F64; type++)
      for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
        if (!next_is_mine()) continue;
        scene s = scene_make(&views[v], type, sizes[z][0], sizes[z][1], z == 3 ? 500 : 120);
        s.p->periodicity = s.p->interior = 1;
        for (int cut = 0; cut < 2; cut++)
          check_filled(&s, &(way){.level = cut != 0 ? below : tsl_cpu_level(),
                                  .threads = 1 + cut,
                                  .cut = cut != 0,
                                  .together = v % 2 == 0});
        scene_clear(&s);
      }
}

/* ------------------------------------------------------------------ refusals and empty work */

static void test_refusals(void) {
  scene s = scene_make(&views[0], TSL_F64, 7, 5, 20);
  const tsl_device device = {.kind = TSL_CPU, .threads = 1};
  const tsl_unit empty[2] = {{.lo = {2, 0, 0}, .hi = {2, 7, 1}},
                             {.lo = {0, 3, 0}, .hi = {5, 3, 1}}};
  tsl_part parts[2] = {{.seconds = -1}, {.seconds = -1}};
  tsl_worker *worker = NULL;
  n_checks += 3;
  s.p->exact = 0, s.p->schedule = FRACTAL_SCHEDULE_DYNAMIC;
  if (fractal_backend_cpu.open(&s.problem, &device, &worker) != TSL_ERR_INPUT || worker != NULL)
    complain(&s, &(way){0}, "filling with a plain schedule was not refused", 0);
  s.p->schedule = FRACTAL_SCHEDULE_AUTO;
  for (int exact = 0; exact < 2; exact++) {
    s.p->exact = exact;
    must(fractal_backend_cpu.open(&s.problem, &device, &worker), "open");
    must(fractal_backend_cpu.begin(worker, 0), "begin");
    must(fractal_backend_cpu.run(worker, empty, 2, parts), "empty units");
    must(fractal_backend_cpu.run(worker, empty, 0, parts), "no units");
    if (!(parts[0].seconds >= 0) || !(parts[1].seconds >= 0))
      complain(&s, &(way){0}, "seconds of empty units", 0);
    fractal_backend_cpu.close(&worker);
  }
  scene_clear(&s);
}

int main(void) {
  test_exact();
  test_long();
  test_endless();
  test_schedules();
  test_filled();
  test_refusals();
  printf("%ld checks, %ld failures\n", n_checks, n_failures);
  return n_failures == 0 ? 0 : 1;
}
