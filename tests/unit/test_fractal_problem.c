/* unit.fractal.problem: decks, coordinates, limits, units and regions of family fractal. */
#include "../cpu/cases.h"
#include "fractal_fixture.h"
#include "random.h"

#include <float.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/tsl_fractal_XXXXXX";

/* ------------------------------------------------------------------ decks */

static void expect_refused(const char *section, const char *word, const char *other) {
  made m;
  if (make(section, &m) != TSL_ERR_INPUT) fail_msg("accepted:\n%s", section);
  if (strstr(tsl_err_message(), word) == NULL || strstr(tsl_err_message(), other) == NULL ||
      strstr(tsl_err_message(), "f.yaml:") == NULL)
    fail_msg("'f.yaml:', '%s' and '%s' expected in: %s", word, other, tsl_err_message());
  release(&m);
}

static void deck_refused(void **state) {
  static const char *const bad[][3] = {
      {" set: mandelbort\n", "f.yaml:3", "mandelbrot"},
      {" xres: 0\n", "fractal.xres", "outside"},
      {" yres: -3\n", "fractal.yres", "outside"},
      {" maxiter: 0\n", "fractal.maxiter", "outside"},
      {" maxiter: 2147483648\n", "fractal.maxiter", "2147483647"},
      {" c: [0, 1]\n", "fractal.c", "not used by set mandelbrot"},
      {" set: julia\n", "fractal", "needs its constant as [re, im]"},
      {" set: julia\n c: 0.3\n", "fractal.c", "got 1 numbers"},
      {" set: julia\n c: [0.3, 1, 2]\n", "fractal.c", "got 3 numbers"},
      {" set: julia\n c: [0.3, 1e7]\n", "fractal.c", "outside"},
      {" set: julia\n c: [0.3, .nan]\n", "fractal.c", "f.yaml:4"},
      {" set: burning_ship\n interior: no\n", "fractal.interior", "not used by set burning_ship"},
      {" palette: grey\n", "fractal.palette", "png"},
      {" binarise: no\n binarised_png: a.png\n", "fractal.binarised_png", "binarise: no"},
      {" exact: no\n cpu_schedule: dynamic\n", "fractal.exact", "cpu_schedule auto, not dynamic"},
      {" exact: no\n gpu_threads: 2d\n", "fractal.exact", "gpu_threads auto, not 2d"},
      {" view: {corners: [0, 0, 1]}\n", "fractal.view.corners", "3 numbers; wanted 4"},
      {" view: {corners: [1, 0, 0, 1]}\n", "view is inverted", "x_lo = 1"},
      {" view: {corners: [0, 1, 1, 1]}\n", "view is empty", "y_lo = 1"},
      {" view: {corners: [0, 1, 1, 2], width: 1}\n", "fractal.view", "not both"},
      {" view: {centre: [0, 1]}\n", "fractal.view", "needs width"},
      {" view: {width: 1}\n", "fractal.view", "needs centre"},
      {" view: {width: 1, centre: 3}\n", "fractal.view", "got 1 numbers"},
      {" view: {width: 0, centre: [0, 0]}\n", "fractal.view.width", "outside"},
      {" view: {width: -1, centre: [0, 0]}\n", "fractal.view.width", "outside"},
      {" view: {width: .inf, centre: [0, 0]}\n", "fractal.view.width", "f.yaml:3"},
      {" xres: 1000000000000\n yres: 1000000000000\n", "overflow", "64-bit"},
      {" xres: 1000000000\n yres: 1000000000\n", "fractal.maxiter", "at most 9 here"},
      {" xres: 1000000\n yres: 1000000\n maxiter: 2147483647\n", "fractal.maxiter",
       "at most 9223372 here"},
      {" xres: 900000000000\n yres: 1\n", "fractal.xres", "half of this machine's memory"},
      {" xres: 100000\n yres: 100000\n maxiter: 1000000\n gpu_mean: cublas\n", "fractal.gpu_mean",
       "2^53"},
      {" precision: fp32\n xres: 40000000\n yres: 40000000\n", "fractal.xres",
       "fp32 has too few numbers for 40000000 columns"},
      {" precision: fp16\n", "fractal.precision", "fp32"},
      {" xres: 2147483648\n yres: 1\n png: /tmp/a.png\n", "fractal.png",
       "a PNG file has at most 2147483647"},
      {" xres: 1\n yres: 2147483648\n png: /tmp/a.png\n", "2147483648 rows", "fractal.png"},
      {" png: picture.jpg\n", "fractal.png", "must end in .png"},
      {" png: ''\n", "fractal.png", "must end in .png"},
      {" png: /no/such/folder/a.png\n", "fractal.png", "No such file or directory"},
      {" png: /proc/a.png\n", "/proc/a.png", "cannot be written"},
      {" png: /tmp/../tmp/a.png\n binarised_png: /tmp/a.png\n", "fractal.binarised_png",
       "is the file of fractal.png too"},
      {" png: a.png\n palette: magma\n", "fractal.palette", "viridis"},
  };
  (void)state;
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    expect_refused(bad[b][0], bad[b][1], bad[b][2]);
}

static void write_file(const char *path, const char *bytes, size_t n) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

/** Files that are there: a PNG may be replaced, anything else may not; trying leaves no trace. */
static void pictures_checked(void **state) {
  char path[64], section[128], part[80];
  made m;
  (void)state;
  (void)snprintf(path, sizeof path, "%s/a.png", folder);
  (void)snprintf(part, sizeof part, "%s.part", path);
  (void)snprintf(section, sizeof section, " png: %s\n", path);
  (void)make_good(section, &m);
  assert_int_equal(access(path, F_OK), -1);
  assert_int_equal(access(part, F_OK), -1);
  release(&m);
  write_file(path, "my notes", 8);
  expect_refused(section, "is no PNG file", path);
  write_file(path, "\x89PNG\r\n\x1a\nrest", 12);
  (void)make_good(section, &m);
  assert_int_equal(access(path, F_OK), 0);
  release(&m);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkdir(path, 0777), 0);
  expect_refused(section, "is a folder", path);
  assert_int_equal(rmdir(path), 0);
}

/* Neither by its name nor by a detour; the file need not be there yet. */
static void picture_is_not_the_output(void **state) {
  char section[128], output[96];
  made m = {.deck = NULL};
  (void)state;
  (void)snprintf(section, sizeof section, "family: fractal\nfractal:\n png: %s/b.png\n", folder);
  (void)snprintf(output, sizeof output, "%s/../%s/b.png", folder, folder + strlen("/tmp/"));
  m.problem = (tsl_problem){.family = &tsl_family_fractal, .output = output};
  assert_int_equal(tsl_files_write(TSL_FILE_OUTPUT, "output", output), TSL_OK);
  assert_int_equal(tsl_deck_parse(section, strlen(section), "f.yaml", NULL, 0, &m.deck), TSL_OK);
  assert_int_equal(tsl_family_fractal.create(m.deck, &m.problem), TSL_ERR_INPUT);
  assert_non_null(strstr(tsl_err_message(), "is the output file too"));
  release(&m);
}

static void params_follow_deck(void **state) {
  made m;
  (void)state;
  const fractal_params *p = make_good("", &m);
  assert_true(p->set == FRACTAL_MANDELBROT && p->type == TSL_F64 && p->value_type == TSL_U16);
  assert_true(p->exact && p->interior && p->periodicity && p->doubling && !p->wild);
  assert_true(p->xres == 1024 && p->yres == 1024 && p->maxiter == 1000);
  assert_int_equal(m.problem.n_fields, FRACTAL_BINARY + 1);
  const tsl_field *values = &m.problem.fields[FRACTAL_VALUES];
  assert_true(values->shape[0] == 1024 && values->stream == 1);
  assert_int_equal(values->scale[0], 1 + FRACTAL_Y);
  assert_int_equal(values->scale[1], 1 + FRACTAL_X);
  release(&m);
  p = make_good(" set: burning_ship\n binarise: no\n maxiter: 65537\n precision: fp32\n"
                " xres: 7\n yres: 3\n exact: no\n periodicity: no\n gpu_memory: pinned\n",
                &m);
  assert_true(p->set == FRACTAL_BURNING_SHIP && p->type == TSL_F32 && p->value_type == TSL_U32);
  assert_true(!p->exact && !p->interior && !p->periodicity && p->memory == FRACTAL_MEMORY_PINNED);
  assert_int_equal(m.problem.n_fields, FRACTAL_BINARY);
  release(&m);
  assert_int_equal(make_good(" maxiter: 65536\n", &m)->value_type, TSL_U16);
  release(&m);
}

static int wild_of(const char *section) {
  made m;
  const int wild = make_good(section, &m)->wild;
  release(&m);
  return wild;
}

static int doubling_of(const char *section) {
  made m;
  const int doubling = make_good(section, &m)->doubling;
  release(&m);
  return doubling;
}

static void wild_and_doubling(void **state) {
  (void)state;
  assert_false(wild_of(" set: julia\n c: [0.3, 0.5]\n"));
  assert_false(wild_of(" set: julia\n c: [-1.999999, 0]\n"));
  assert_true(wild_of(" set: julia\n c: [-2, 0]\n"));
  assert_true(wild_of(" set: julia\n c: [1.5, -1.4]\n"));
  assert_true(wild_of(" set: julia\n c: [-1.999999, 0]\n precision: fp32\n"));
  assert_false(wild_of(" set: mandelbrot\n"));
  assert_true(doubling_of(" set: julia\n c: [0.3, 0.5]\n"));
  assert_false(doubling_of(" set: julia\n c: [0.3, 0]\n"));
  assert_false(doubling_of(" set: julia\n c: [0.3, 1e-280]\n"));
  assert_true(doubling_of(" set: julia\n c: [0.3, 1e-260]\n"));
  assert_false(doubling_of(" set: julia\n c: [0.3, 1e-35]\n precision: fp32\n"));
  assert_true(doubling_of(" yres: 1025\n")); /* row 512 has y = 0 */
  assert_true(doubling_of(" view: {corners: [-2, -1e-260, 1, 1e-260]}\n"));
  assert_false(doubling_of(" view: {corners: [-2, -1e-280, 1, 1e-280]}\n"));
}

/* ------------------------------------------------------------ coordinates */

static void coordinates_symmetric(void **state) {
  static const char *const sections[] = {
      " xres: 100\n yres: 37\n view: {corners: [-2, -1.3, 2, 1.3]}\n",
      " xres: 101\n yres: 64\n set: julia\n c: [0.1, 0.2]\n",
      " xres: 33\n yres: 99\n precision: fp32\n view: {centre: [0, 0], width: 1e-20}\n"};
  (void)state;
  for (int s = 0; s < 3; s++) {
    made m;
    const fractal_params *p = make_good(sections[s], &m);
    for (int64_t i = 0; i < p->xres; i++)
      assert_true(coordinate(&m, FRACTAL_X, i) == -coordinate(&m, FRACTAL_X, p->xres - 1 - i));
    for (int64_t j = 0; j < p->yres; j++)
      assert_true(coordinate(&m, FRACTAL_Y, j) == -coordinate(&m, FRACTAL_Y, p->yres - 1 - j));
    for (int64_t j = 1; j < p->yres; j++)
      assert_true(coordinate(&m, FRACTAL_Y, j) < coordinate(&m, FRACTAL_Y, j - 1));
    release(&m);
  }
}

static void coordinates_known(void **state) {
  made m;
  (void)state;
  (void)make_good(" xres: 4\n yres: 2\n view: {corners: [-1, 2, 3, 3]}\n", &m);
  for (int i = 0; i < 4; i++) assert_true(coordinate(&m, FRACTAL_X, i) == -0.5 + i);
  assert_true(coordinate(&m, FRACTAL_Y, 0) == 2.75 && coordinate(&m, FRACTAL_Y, 1) == 2.25);
  release(&m);
  (void)make_good(" xres: 4\n yres: 2\n view: {centre: [1, 5], width: 8}\n", &m);
  assert_true(coordinate(&m, FRACTAL_X, 0) == -2 && coordinate(&m, FRACTAL_X, 3) == 4);
  assert_true(coordinate(&m, FRACTAL_Y, 0) == 6 && coordinate(&m, FRACTAL_Y, 1) == 4);
  release(&m);
  (void)make_good(" xres: 400\n yres: 200\n", &m); /* the whole set: y from -1.5 to 1.5 */
  assert_true(fabs(coordinate(&m, FRACTAL_Y, 0) - 1.5 + 0.0075) < 1e-15);
  assert_true(fabs(coordinate(&m, FRACTAL_X, 0) + 3.5 - 0.0075) < 1e-15);
  release(&m);
}

/** Is the view accepted? Then all coordinates must differ. @param[out] advised  else, its width */
static bool try_view(const double centre[2], double width, int64_t n, bool single,
                     double *advised) {
  char section[256];
  made m;
  (void)snprintf(section, sizeof section,
                 " xres: %lld\n yres: %lld\n precision: %s\n view: {centre: [%.17g, %.17g], width: "
                 "%.17g}\n",
                 (long long)n, (long long)n, single ? "fp32" : "fp64", centre[0], centre[1], width);
  const bool good = make(section, &m) == TSL_OK;
  for (int64_t i = 1; good && i < n; i++) {
    assert_true(coordinate(&m, FRACTAL_X, i) > coordinate(&m, FRACTAL_X, i - 1));
    assert_true(coordinate(&m, FRACTAL_Y, i) < coordinate(&m, FRACTAL_Y, i - 1));
  }
  if (!good) {
    const char *at = strstr(tsl_err_message(), "smallest meaningful width here is ");
    if (at == NULL) fail_msg("no width advised: %s", tsl_err_message());
    *advised = strtod(at + strlen("smallest meaningful width here is "), NULL);
  }
  release(&m);
  return good;
}

/** Accepted views resolve, and the width that a refusal advises is accepted and not far off. */
static void narrow_views(void **state) {
  uint64_t seed = 11;
  (void)state;
  for (int t = 0; t < 400; t++) {
    const bool single = t % 2 == 1;
    const double centre[2] = {4 * random_unit(&seed) - 2,
                              t % 5 == 0 ? 0 : 4 * random_unit(&seed) - 2};
    const int64_t n = 2 + (int64_t)(3000 * random_unit(&seed));
    const double width = pow(10, (single ? -9 : -18) + 9 * random_unit(&seed));
    double advised = 0;
    if (try_view(centre, width, n, single, &advised)) continue;
    assert_true(advised > width);
    assert_true(try_view(centre, advised, n, single, &advised));
    assert_false(try_view(centre, advised / 2.2, n, single, &advised));
  }
}

/* ------------------------------------------------------------------ units */

static tsl_limits limits_of(int64_t slab_bytes, int64_t device_bytes, int64_t target_units) {
  return (tsl_limits){
      .slab_bytes = slab_bytes, .device_bytes = device_bytes, .target_units = target_units};
}

/** Boxes are in the image, at the wanted cuts, and cover it once. */
static void check_units(made *m, const tsl_limits *limits) {
  const fractal_params *p = fractal_params_of(&m->problem);
  const int64_t tile = p->exact ? 1 : FRACTAL_TILE;
  const double element = (double)tsl_type_bytes((tsl_type)p->value_type);
  int64_t row = 0, column = 0, below = 0;
  tsl_units units;
  if (fractal_units(&m->problem, limits, &units) != TSL_OK) fail_msg("%s", tsl_err_message());
  for (int64_t u = 0; u < units.n; u++) {
    const tsl_unit *unit = &units.list[u];
    const int64_t rows = unit->hi[0] - unit->lo[0], columns = unit->hi[1] - unit->lo[1];
    int64_t lo[3], hi[3];
    assert_true(unit->id == u && unit->kind == 0 && rows > 0 && columns > 0);
    assert_true(unit->lo[0] == row && unit->lo[1] == column);
    if (column == 0) below = unit->hi[0];
    assert_int_equal(unit->hi[0], below);
    assert_true(unit->hi[0] % tile == 0 || unit->hi[0] == p->yres);
    assert_true(p->exact || unit->hi[1] % tile == 0 || unit->hi[1] == p->xres);
    assert_true(unit->count >= (double)rows * (double)columns && unit->flops == 7 * unit->count);
    assert_true(unit->bytes == element * (double)rows * (double)columns);
    assert_true(unit->bytes <= (double)limits->slab_bytes || (rows <= tile && columns <= tile));
    assert_true(unit->device_bytes <= (double)limits->device_bytes ||
                (rows <= tile && columns <= tile));
    fractal_region(&m->problem, unit, FRACTAL_VALUES, lo, hi);
    assert_true(lo[0] == unit->lo[0] && hi[0] == unit->hi[0] && lo[1] == unit->lo[1]);
    assert_true(hi[1] == unit->hi[1] && lo[2] == 0 && hi[2] == 1);
    fractal_region(&m->problem, unit, FRACTAL_BINARY, lo, hi);
    assert_int_equal(lo[0], hi[0]);
    column = unit->hi[1];
    if (column == p->xres) column = 0, row = below;
  }
  assert_true(row == p->yres && column == 0);
  tsl_free(units.list);
}

static void units_cover_once(void **state) {
  static const int64_t sizes[][2] = {{1, 1},       {1, 97},      {97, 1},       {31, 32},
                                     {33, 65},     {101, 103},   {509, 257},    {1024, 768},
                                     {3000000, 1}, {1, 3000000}, {70001, 50021}};
  uint64_t seed = 3;
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int exact = 0; exact < 2; exact++) {
      char section[160];
      made m;
      (void)snprintf(section, sizeof section, " xres: %lld\n yres: %lld\n exact: %s\n",
                     (long long)sizes[s][0], (long long)sizes[s][1], exact ? "yes" : "no");
      (void)make_good(section, &m);
      for (int t = 0; t < 12; t++) {
        const double pixels = (double)sizes[s][0] * (double)sizes[s][1];
        const double least = pixels > 1e5 ? pixels / 1e4 : 1; /* units stay countable */
        const tsl_limits limits = limits_of(
            (int64_t)(least + pow(4 * pixels, random_unit(&seed))),
            t % 2 == 0 ? INT64_MAX : (int64_t)(least + pow(4 * pixels, random_unit(&seed))),
            (int64_t)pow(3000, random_unit(&seed)));
        check_units(&m, &limits);
      }
      release(&m);
    }
}

static void units_full_width(void **state) {
  const tsl_limits limits = limits_of(1 << 28, INT64_MAX, 512);
  made m;
  tsl_units units;
  (void)state;
  (void)make_good(" xres: 8192\n yres: 8192\n", &m);
  assert_int_equal(fractal_units(&m.problem, &limits, &units), TSL_OK);
  assert_true(units.n > 450 && units.n < 570);
  for (int64_t u = 0; u < units.n; u++) assert_int_equal(units.list[u].hi[1], 8192);
  tsl_free(units.list);
  release(&m);
}

/** Steps that the walk with the exact shortcuts really takes, by a plain loop of this test. */
static double true_steps(const fractal_params *p, double cx, double cy) {
  double x = 0, y = 0, x_saved = 0, y_saved = 0;
  int64_t k = 1, save = 2;
  if (p->interior && fractal_is_interior_f64(cx, cy)) return FRACTAL_COST_FIXED;
  for (; k < p->maxiter && x * x + y * y < 4; k++) {
    const double next = x * x - y * y + cx;
    y = 2 * x * y + cy, x = next;
    if (p->periodicity && x == x_saved && y == y_saved) break;
    if (k == save) x_saved = x, y_saved = y, save *= 2;
  }
  return (double)k + FRACTAL_COST_FIXED;
}

/** The predicted cost of units against that of all their pixels. */
static void cost_predicts(void **state) {
  static const struct {
    const char *section;
    double spread; /**< of the true cost of a unit over the mean */
  } cases[] = {
      {" xres: 1536\n yres: 1536\n", 1.6},
      {" xres: 1536\n yres: 1536\n interior: no\n periodicity: no\n", 1.3},
      {" xres: 1536\n yres: 1536\n view: {centre: [-0.7436, 0.1318], width: 0.004}\n", 1.4},
      {" xres: 1536\n yres: 1536\n interior: no\n periodicity: no\n view: {corners: [-2, 0, 1, "
       "3]}\n",
       1.5}};
  (void)state;
  for (size_t s = 0; s < sizeof cases / sizeof *cases; s++) {
    if (!case_is_mine((int64_t)s)) continue;
    const tsl_limits limits = limits_of(1 << 28, INT64_MAX, 16);
    double total = 0, predicted = 0, most = 0;
    tsl_units units;
    made m;
    const fractal_params *p = make_good(cases[s].section, &m);
    assert_int_equal(fractal_units(&m.problem, &limits, &units), TSL_OK);
    for (int64_t u = 0; u < units.n; u++) {
      double steps = 0;
      for (int64_t j = units.list[u].lo[0]; j < units.list[u].hi[0]; j++)
        for (int64_t i = units.list[u].lo[1]; i < units.list[u].hi[1]; i++)
          steps += true_steps(p, coordinate(&m, FRACTAL_X, i), coordinate(&m, FRACTAL_Y, j));
      total += steps, predicted += units.list[u].count;
      most = fmax(most, steps);
    }
    print_message("predicted / true %.3f, largest / mean %.3f\n", predicted / total,
                  most * (double)units.n / total);
    assert_true(predicted / total > 0.8 && predicted / total < 1.25);
    assert_true(most * (double)units.n / total < cases[s].spread);
    tsl_free(units.list);
    release(&m);
  }
}

/** However large maxiter is, cutting takes a moment, and costs stay finite and above 0. */
static void cost_is_bounded(void **state) {
  static const char *const sections[] = {
      " xres: 20000\n yres: 20000\n maxiter: 2147483647\n interior: no\n periodicity: no\n",
      " xres: 20000\n yres: 20000\n maxiter: 2147483647\n cpu_schedule: static\n",
      (" xres: 20000\n yres: 20000\n maxiter: 2147483647\n precision: fp32\n set: burning_ship\n"
       " periodicity: no\n exact: no\n"),
      " xres: 900\n yres: 900\n maxiter: 1\n"};
  const tsl_limits limits = limits_of(1 << 28, INT64_MAX, 512);
  (void)state;
  for (int s = 0; s < 4; s++) {
    struct timespec a, b;
    made m;
    tsl_units units;
    (void)make_good(sections[s], &m);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    assert_int_equal(fractal_units(&m.problem, &limits, &units), TSL_OK);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    print_message("%.3f s\n",
                  (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
    for (int64_t u = 0; u < units.n; u++)
      assert_true(units.list[u].count > 0 && units.list[u].count < 1e19);
    tsl_free(units.list);
    check_units(&m, &limits);
    release(&m);
  }
}

static void sample_is_smaller(void **state) {
  static const char *const sections[] = {" xres: 4096\n yres: 4096\n",
                                         " xres: 4096\n yres: 4096\n exact: no\n",
                                         " xres: 300\n yres: 2\n", " xres: 1\n yres: 1\n"};
  static const double fractions[] = {1e-9, 1e-3, 0.01, 0.3, 0.999, 1};
  const tsl_limits limits = limits_of(1 << 28, INT64_MAX, 32);
  (void)state;
  for (int s = 0; s < 4; s++) {
    made m;
    tsl_units units;
    const fractal_params *p = make_good(sections[s], &m);
    const int64_t tile = p->exact ? 1 : FRACTAL_TILE;
    assert_int_equal(fractal_units(&m.problem, &limits, &units), TSL_OK);
    for (int64_t u = 0; u < units.n; u++)
      for (int f = 0; f < 6; f++) {
        const tsl_unit *whole = &units.list[u];
        tsl_unit part;
        fractal_sample(&m.problem, whole, fractions[f], &part);
        for (int k = 0; k < 2; k++) {
          assert_true(part.lo[k] >= whole->lo[k] && part.hi[k] <= whole->hi[k]);
          assert_true(part.hi[k] > part.lo[k]);
          assert_true(part.lo[k] % tile == 0 || p->exact);
        }
        assert_true(part.count > 0 && part.flops == 7 * part.count);
        const double share = part.bytes / whole->bytes;
        const double piece = (double)(FRACTAL_TILE * tile) / (whole->bytes / 2); /* a quantum */
        assert_true(share <= fractions[f] + piece);
        assert_true(f < 5 || share == 1);
      }
    tsl_free(units.list);
    release(&m);
  }
}

/** Steps of the plain loop; what has not left after so many never will. */
static double plain_steps(const fractal_params *p, double cx, double cy) {
  enum { NEARLY_ALL = 20000 };
  double x = 0, y = 0;
  int64_t k = 0;
  for (; k < NEARLY_ALL && x * x + y * y <= 4; k++) {
    const double next = x * x - y * y + cx;
    y = 2 * x * y + cy, x = next;
  }
  return (double)(k < NEARLY_ALL ? k : p->maxiter) + FRACTAL_COST_FIXED;
}

/** Where a pixel takes 400 000 steps a part of a row is tried: its cost is that of its pixels. */
static void sample_of_long_steps(void **state) {
  static const char *const section =
      " xres: 2000\n yres: 1334\n maxiter: 400000\n interior: no\n"
      " periodicity: no\n view: {corners: [-2.25, -1.25, 1.5, 1.25]}\n";
  double off = 0, sum = 0, predicted = 0;
  made m;
  const fractal_params *p = make_good(section, &m);
  (void)state;
  for (int64_t row = 240; row < 1100; row += 43) {
    const tsl_unit whole = {.lo = {row, 0, 0}, .hi = {row + 1, 2000, 1}};
    tsl_unit part;
    double steps = 0;
    fractal_sample(&m.problem, &whole, 0.5, &part);
    for (int64_t i = part.lo[1]; i < part.hi[1]; i++)
      steps += plain_steps(p, coordinate(&m, FRACTAL_X, i), coordinate(&m, FRACTAL_Y, row));
    sum += steps, predicted += part.count;
    off += fabs(part.count - steps);
  }
  print_message("predicted / true %.3f, a row %.3f off\n", predicted / sum, off / sum);
  assert_true(fabs(predicted / sum - 1) < 0.04 && off / sum < 0.06);
  release(&m);
}

/** The resolved deck describes the same problem. */
static void resolved_again(void **state) {
  static const char *const sections[] = {"", " set: julia\n c: [0.1, 0.6]\n precision: fp32\n",
                                         " exact: no\n view: {centre: [0, 1], width: 1e-3}\n"};
  (void)state;
  for (int s = 0; s < 3; s++) {
    made m;
    char *text = NULL;
    tsl_deck *deck = NULL;
    tsl_problem again = {0};
    const fractal_params *p = make_good(sections[s], &m);
    assert_int_equal(tsl_deck_resolved(m.deck, &text), TSL_OK);
    assert_int_equal(tsl_deck_parse(text, strlen(text), "r.yaml", NULL, 0, &deck), TSL_OK);
    if (tsl_family_fractal.create(deck, &again) != TSL_OK) fail_msg("%s", tsl_err_message());
    assert_memory_equal(again.params, p, sizeof *p);
    assert_memory_equal(again.fields[FRACTAL_X].data, m.problem.fields[FRACTAL_X].data,
                        (size_t)p->xres * tsl_type_bytes((tsl_type)p->type));
    tsl_family_fractal.destroy(&again);
    tsl_problem_clear(&again);
    tsl_deck_destroy(&deck);
    free(text);
    release(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(deck_refused),
      cmocka_unit_test(pictures_checked),
      cmocka_unit_test(picture_is_not_the_output),
      cmocka_unit_test(params_follow_deck),
      cmocka_unit_test(wild_and_doubling),
      cmocka_unit_test(coordinates_symmetric),
      cmocka_unit_test(coordinates_known),
      cmocka_unit_test(narrow_views),
      cmocka_unit_test(units_cover_once),
      cmocka_unit_test(units_full_width),
      cmocka_unit_test(cost_predicts),
      cmocka_unit_test(cost_is_bounded),
      cmocka_unit_test(sample_is_smaller),
      cmocka_unit_test(sample_of_long_steps),
      cmocka_unit_test(resolved_again),
  };
  if (mkdtemp(folder) == NULL) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return rmdir(folder) != 0 || failed != 0;
}
