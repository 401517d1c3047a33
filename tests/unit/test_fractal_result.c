/* unit.fractal.result: binarised image, pictures, colours and summary, from images in memory. */
#include "fractal_fixture.h"
#include "random.h"

#include <math.h>
#include <png.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tsl_fractal_XXXXXX";

/** Name of a file in the folder of this test. */
static const char *in_folder(const char *name, char path[64]) {
  (void)snprintf(path, 64, "%s/%s", folder, name);
  return path;
}

/* --------------------------------------------------------- an image at hand */

/** A store over arrays; also counts the rows that are held at a time. */
typedef struct shelf {
  const fractal_params *params;
  void *values;
  uint8_t *binary;
  int64_t most_rows, reads;
  int64_t fail_at; /**< this read fails; 0 none */
} shelf;

static tsl_err shelf_read(void *state, int field, int64_t lo, int64_t hi, void *rows) {
  tsl_err err = TSL_OK;
  shelf *s = state;
  const size_t row = (size_t)s->params->xres * tsl_type_bytes((tsl_type)s->params->value_type);
  assert_int_equal(field, FRACTAL_VALUES);
  assert_true(lo >= 0 && lo < hi && hi <= s->params->yres);
  if (++s->reads == s->fail_at) TSL_FAIL(TSL_ERR_IO, "the shelf broke");
  if (hi - lo > s->most_rows) s->most_rows = hi - lo;
  memcpy(rows, (char *)s->values + (size_t)lo * row, (size_t)(hi - lo) * row);
done:
  return err;
}

static tsl_err shelf_write(void *state, int field, int64_t lo, int64_t hi, const void *rows) {
  const shelf *s = state;
  const size_t row = (size_t)s->params->xres;
  assert_int_equal(field, FRACTAL_BINARY);
  memcpy(s->binary + (size_t)lo * row, rows, (size_t)(hi - lo) * row);
  return TSL_OK;
}

/** A problem with its image, computed by the plain loop or set by value. */
typedef struct image {
  made m;
  shelf shelf;
  tsl_field_rows store;
  uint64_t *totals;
} image;

static uint32_t value_at(const image *im, int64_t i) {
  return im->shelf.params->value_type == TSL_U16 ? ((uint16_t *)im->shelf.values)[i]
                                                 : ((uint32_t *)im->shelf.values)[i];
}

static void set_value(const image *im, int64_t i, int64_t value) {
  if (im->shelf.params->value_type == TSL_U16)
    ((uint16_t *)im->shelf.values)[i] = (uint16_t)value;
  else
    ((uint32_t *)im->shelf.values)[i] = (uint32_t)value;
  im->totals[FRACTAL_TOTAL_VALUES] += (uint64_t)value;
  im->totals[FRACTAL_TOTAL_INSIDE] += value == 0;
}

static void open_image(const char *section, image *im) {
  *im = (image){0};
  const fractal_params *p = make_good(section, &im->m);
  const int64_t pixels = p->xres * p->yres;
  im->shelf.params = p;
  assert_int_equal(tsl_alloc(pixels, 4, "image", &im->shelf.values), TSL_OK);
  assert_int_equal(tsl_alloc(pixels, 1, "image", (void **)&im->shelf.binary), TSL_OK);
  assert_int_equal(tsl_alloc(FRACTAL_N_TOTALS, 8, "totals", (void **)&im->totals), TSL_OK);
  im->m.problem.fields[FRACTAL_TOTALS].data = im->totals;
  im->store = (tsl_field_rows){.state = &im->shelf, .read = shelf_read, .write = shelf_write};
}

static void compute(image *im) {
  const fractal_params *p = im->shelf.params;
  for (int64_t j = 0; j < p->yres; j++)
    for (int64_t i = 0; i < p->xres; i++)
      set_value(
          im, j * p->xres + i,
          fractal_plain_f64(p, coordinate(&im->m, FRACTAL_X, i), coordinate(&im->m, FRACTAL_Y, j)));
}

static void close_image(image *im) {
  tsl_free(im->shelf.values);
  tsl_free(im->shelf.binary);
  release(&im->m);
}

static void finish_good(image *im) {
  if (fractal_finish(&im->m.problem, &im->store) != TSL_OK) fail_msg("%s", tsl_err_message());
  assert_null(tsl_files_lost(0));
}

/** Read a picture in red, green, blue; libpng ends the program when it is no good. */
static uint8_t *read_png(const char *path, int64_t columns, int64_t rows) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  uint8_t *pixels = malloc((size_t)(3 * columns * rows));
  assert_non_null(pixels);
  png_init_io(png, file);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* its own limit is a million */
  png_read_info(png, info);
  assert_int_equal(png_get_image_width(png, info), columns);
  assert_int_equal(png_get_image_height(png, info), rows);
  assert_int_equal(png_get_bit_depth(png, info), 8);
  png_set_palette_to_rgb(png);
  png_set_gray_to_rgb(png);
  png_read_update_info(png, info);
  for (int64_t row = 0; row < rows; row++) png_read_row(png, pixels + 3 * columns * row, NULL);
  png_read_end(png, NULL);
  png_destroy_read_struct(&png, &info, NULL);
  assert_int_equal(fclose(file), 0);
  return pixels;
}

/* ------------------------------------------------------------ binarised */

static void threshold_is_ceiling(void **state) {
  uint64_t seed = 4;
  (void)state;
  assert_int_equal(fractal_threshold(0, 7), 0);
  assert_int_equal(fractal_threshold(7, 7), 1);
  assert_int_equal(fractal_threshold(8, 7), 2);
  assert_true(fractal_threshold(UINT64_MAX, 1) == UINT64_MAX);
  assert_true(fractal_threshold(UINT64_MAX, UINT64_MAX) == 1);
  for (int t = 0; t < 100000; t++) {
    const uint64_t pixels = 1 + random_bits(&seed) % 1000, sum = random_bits(&seed) % 100000;
    const uint64_t least = fractal_threshold(sum, pixels);
    assert_true(least * pixels >= sum && (least == 0 || (least - 1) * pixels < sum));
  }
}

/** Against the definition value >= mean in whole numbers: value * pixels >= sum. */
static void check_binarised(const image *im) {
  const int64_t pixels = im->shelf.params->xres * im->shelf.params->yres;
  for (int64_t i = 0; i < pixels; i++) {
    const bool above =
        (uint64_t)value_at(im, i) * (uint64_t)pixels >= im->totals[FRACTAL_TOTAL_VALUES];
    assert_int_equal(im->shelf.binary[i], above ? 255 : 0);
  }
}

static void binarised_by_mean(void **state) {
  static const char *const sections[] = {
      " xres: 160\n yres: 121\n maxiter: 200\n",
      " xres: 160\n yres: 121\n maxiter: 70000\n view: {centre: [-0.74, 0.13], width: 0.01}\n",
      " xres: 1\n yres: 1\n", " xres: 1\n yres: 77\n maxiter: 1\n",
      " xres: 80\n yres: 1\n set: burning_ship\n"};
  (void)state;
  for (int s = 0; s < 5; s++) {
    image im;
    open_image(sections[s], &im);
    compute(&im);
    finish_good(&im);
    check_binarised(&im);
    close_image(&im);
  }
}

static void sums_must_agree(void **state) {
  image im;
  (void)state;
  open_image(" xres: 30\n yres: 20\n", &im);
  compute(&im);
  im.totals[FRACTAL_TOTAL_VALUES]++;
  assert_int_equal(fractal_finish(&im.m.problem, &im.store), TSL_ERR_NUMERIC);
  assert_non_null(strstr(tsl_err_message(), "devices' sum"));
  close_image(&im);
}

static void nothing_asked_nothing_read(void **state) {
  image im;
  (void)state;
  open_image(" xres: 30\n yres: 20\n binarise: no\n", &im);
  finish_good(&im);
  assert_int_equal(im.shelf.reads, 0);
  close_image(&im);
}

/* ------------------------------------------------------------- pictures */

static void pictures_show_values(void **state) {
  char section[512], a[64], b[64];
  (void)state;
  for (int grey = 0; grey < 2; grey++) {
    image im;
    (void)snprintf(section, sizeof section,
                   " xres: 203\n yres: 101\n maxiter: 300\n png: %s\n binarised_png: %s\n"
                   " palette: %s\n",
                   in_folder("a.png", a), in_folder("b.png", b), grey ? "grey" : "viridis");
    open_image(section, &im);
    compute(&im);
    finish_good(&im);
    check_binarised(&im);
    uint8_t *colours = read_png(a, 203, 101), *binary = read_png(b, 203, 101);
    uint8_t of_value[300][3] = {{0}};
    for (int64_t i = 0; i < 203 * 101; i++) {
      const uint32_t value = value_at(&im, i);
      const uint8_t *c = colours + 3 * i;
      if (value == 0) assert_true(c[0] == 0 && c[1] == 0 && c[2] == 0);
      if (value > 0) assert_true(c[0] + c[1] + c[2] > 0);
      if (of_value[value][0] + of_value[value][1] + of_value[value][2] > 0)
        assert_memory_equal(of_value[value], c, 3);
      memcpy(of_value[value], c, 3);
      for (int k = 0; k < 3; k++) assert_int_equal(binary[3 * i + k], im.shelf.binary[i]);
    }
    assert_true(of_value[1][1] < of_value[2][1] && of_value[2][1] < of_value[4][1]);
    free(colours), free(binary);
    close_image(&im);
    assert_int_equal(unlink(a), 0);
    assert_int_equal(unlink(b), 0);
  }
}

static void colours_follow_logarithm(void **state) {
  static fractal_tally tally;
  uint8_t colour[FRACTAL_BINS];
  (void)state;
  fractal_colours(&tally, colour); /* all inside */
  assert_int_equal(colour[0], 0);
  for (uint32_t k = 1; k < 1024; k *= 2) tally.count[fractal_bin(k)] = 1000;
  tally.count[fractal_bin(1u << 31)] = 8; /* few: they do not stretch the scale */
  tally.count[0] = 1000000;
  fractal_colours(&tally, colour);
  assert_int_equal(colour[0], 0);
  assert_int_equal(colour[1], 1);
  assert_int_equal(colour[fractal_bin(512)], 255);
  assert_int_equal(colour[fractal_bin(8)], 1 + lrint(254 * 3.0 / 9));
  assert_int_equal(colour[fractal_bin(1u << 31)], 255);
  for (int b = 2; b < FRACTAL_BINS; b++) assert_true(colour[b] >= colour[b - 1]);
  memset(&tally, 0, sizeof tally);
  tally.count[fractal_bin(77)] = 5; /* one value only */
  fractal_colours(&tally, colour);
  assert_true(colour[77] >= 1);
}

static void bins_grow(void **state) {
  (void)state;
  for (uint32_t v = 1; v < 100000; v++) {
    const int step = fractal_bin(v) - fractal_bin(v - 1);
    assert_true(step == 1 || (step == 0 && v > 512));
  }
  for (int e = 9; e < 32; e++) {
    assert_int_equal(fractal_bin(UINT32_C(1) << e), 512 + (e - 9) * 256);
    assert_int_equal(fractal_bin((UINT32_C(1) << e) - 1), 511 + (e - 9) * 256);
  }
  assert_int_equal(fractal_bin(UINT32_MAX), FRACTAL_BINS - 1);
}

static void viridis_gets_lighter(void **state) {
  double before = 0;
  (void)state;
  assert_true(fractal_viridis[0][0] + fractal_viridis[0][1] + fractal_viridis[0][2] == 0);
  assert_true(fractal_viridis[255][0] > 240 && fractal_viridis[255][1] > 220);
  for (int c = 1; c < 256; c++) {
    const uint8_t *v = fractal_viridis[c];
    const double light = 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
    assert_true(light > before - 0.5);
    before = light;
  }
}

/** Ten million columns: rows come one by one, so that memory stays that of a few rows. */
static void wide_is_bounded(void **state) {
  enum { COLUMNS = 10000000, ROWS = 4 };
  char section[256], a[64];
  image im;
  (void)state;
  (void)snprintf(
      section, sizeof section,
      " xres: %d\n yres: %d\n maxiter: 50\n png: %s\n view: {centre: [0, 0], width: 4}\n", COLUMNS,
      ROWS, in_folder("wide.png", a));
  open_image(section, &im);
  for (int64_t i = 0; i < (int64_t)COLUMNS * ROWS; i++) set_value(&im, i, i % 49);
  finish_good(&im);
  assert_int_equal(im.shelf.most_rows, 1); /* 20 MB */
  uint8_t *pixels = read_png(a, COLUMNS, ROWS);
  assert_true(pixels[0] == 0 && pixels[3] + pixels[4] + pixels[5] > 0);
  free(pixels);
  close_image(&im);
  assert_int_equal(unlink(a), 0);
}

/** A failure leaves neither a picture nor its part. */
static void failures_leave_nothing(void **state) {
  char section[256], a[64], b[64], part[64];
  (void)state;
  (void)snprintf(section, sizeof section, " xres: 90\n yres: 50\n png: %s\n binarised_png: %s\n",
                 in_folder("a.png", a), in_folder("b.png", b));
  for (int64_t fail_at = 1; fail_at <= 2; fail_at++) {
    image im;
    open_image(section, &im);
    compute(&im);
    im.shelf.fail_at = fail_at;
    assert_int_equal(fractal_finish(&im.m.problem, &im.store), TSL_ERR_IO);
    assert_int_equal(access(a, F_OK), -1);
    assert_int_equal(access(in_folder("a.png.part", part), F_OK), -1);
    assert_int_equal(access(in_folder("b.png.part", part), F_OK), -1);
    assert_int_equal(access(b, F_OK), fail_at == 1 ? -1 : 0);
    close_image(&im);
  }
  assert_int_equal(unlink(b), 0);
}

static void disk_errors_have_reasons(void **state) {
  fractal_png *png = NULL;
  uint8_t row[4096];
  uint64_t seed = 1;
  char a[64];
  tsl_err err = TSL_OK;
  (void)state;
  assert_int_equal(fractal_png_open("/no/such/a.png", 4, 4, NULL, &png), TSL_ERR_IO);
  assert_null(png);
  assert_non_null(strstr(tsl_err_message(), "No such file"));
  assert_int_equal(fractal_png_open("a.png", FRACTAL_PNG_MAX + 1, 4, NULL, &png), TSL_ERR_INPUT);
  const struct rlimit small = {20000, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
  assert_int_equal(fractal_png_open(in_folder("full.png", a), 4096, 4096, NULL, &png), TSL_OK);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int r = 0; r < 4096 && err == TSL_OK; r++) {
    for (int i = 0; i < 4096; i++) row[i] = (uint8_t)random_bits(&seed);
    err = fractal_png_rows(png, row, 1);
  }
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
  assert_int_equal(err, TSL_ERR_IO);
  assert_non_null(strstr(tsl_err_message(), "File too large"));
  fractal_png_discard(&png);
  assert_int_equal(access(in_folder("full.png.part", a), F_OK), -1);
  assert_int_equal(fractal_png_open(in_folder("few.png", a), 4, 4, NULL, &png), TSL_OK);
  assert_int_equal(fractal_png_rows(png, row, 2), TSL_OK);
  assert_int_equal(fractal_png_close(&png), TSL_ERR_IO); /* rows are missing */
  assert_null(png);
  assert_int_equal(access(a, F_OK), -1);
}

/* --------------------------------------------------------------- summary */

static double line_of(const tsl_summary *summary, const char *name) {
  for (int r = 0; r < summary->n_results; r++)
    if (strcmp(summary->results[r].name, name) == 0) return summary->results[r].value;
  return NAN;
}

static void summary_counts(void **state) {
  tsl_summary summary = {0};
  image im;
  double steps = 0;
  (void)state;
  open_image(" xres: 100\n yres: 90\n maxiter: 120\n exact: no\n", &im);
  compute(&im);
  for (int64_t i = 0; i < 9000; i++) steps += value_at(&im, i) == 0 ? 119 : value_at(&im, i) - 1;
  im.totals[FRACTAL_TOTAL_FILLED] = 3000, im.totals[FRACTAL_TOTAL_SAMPLED] = 50;
  im.totals[FRACTAL_TOTAL_WRONG] = 2;
  assert_int_equal(fractal_summary(&im.m.problem, &summary), TSL_OK);
  assert_true(summary.valid && line_of(&summary, "pixels") == 9000);
  assert_true(line_of(&summary, "steps of the plain loop") == steps);
  assert_true(line_of(&summary, "pixels inside") == (double)im.totals[FRACTAL_TOTAL_INSIDE]);
  assert_true(fabs(line_of(&summary, "estimated wrong fraction") - 0.04 / 3) < 1e-15);
  im.totals[FRACTAL_TOTAL_SAMPLED] = 0, summary = (tsl_summary){0};
  assert_int_equal(fractal_summary(&im.m.problem, &summary), TSL_OK);
  assert_true(isnan(line_of(&summary, "estimated wrong fraction"))); /* not known */
  close_image(&im);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threshold_is_ceiling),
      cmocka_unit_test(binarised_by_mean),
      cmocka_unit_test(sums_must_agree),
      cmocka_unit_test(nothing_asked_nothing_read),
      cmocka_unit_test(pictures_show_values),
      cmocka_unit_test(colours_follow_logarithm),
      cmocka_unit_test(bins_grow),
      cmocka_unit_test(viridis_gets_lighter),
      cmocka_unit_test(wide_is_bounded),
      cmocka_unit_test(failures_leave_nothing),
      cmocka_unit_test(disk_errors_have_reasons),
      cmocka_unit_test(summary_counts),
  };
  if (mkdtemp(folder) == NULL || signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return rmdir(folder) != 0 || failed != 0;
}
