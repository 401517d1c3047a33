/* After the units: the binarised image, the pictures, and the lines of the summary. */
#include "fractal_family.h"

#include "files.h"

#include <inttypes.h>

enum { BLOCK = 1 << 24 }; /* bytes of values held at a time; one row at least */

uint64_t fractal_threshold(uint64_t sum, uint64_t pixels) {
  return sum / pixels + (sum % pixels > 0);
}

/* ------------------------------------------------------------------ rows */

/** The image passing by in blocks of rows. */
typedef struct flow {
  const fractal_params *params;
  const tsl_field_rows *store;
  int64_t rows;         /**< of a block */
  void *values;         /**< [rows][xres] as stored */
  uint8_t *bytes;       /**< [rows][xres] binarised or colours */
  uint64_t sum;         /**< of the values seen */
  fractal_tally *tally; /**< filled on the first pass; NULL: not wanted */
  uint8_t *colour;      /**< [FRACTAL_BINS] */
  uint64_t threshold;   /**< value from which a pixel is 255 */
} flow;

static uint32_t value_at(const flow *f, int64_t i) {
  return f->params->value_type == TSL_U16 ? ((const uint16_t *)f->values)[i]
                                          : ((const uint32_t *)f->values)[i];
}

static tsl_err open_flow(const tsl_problem *problem, const tsl_field_rows *store, flow *f) {
  tsl_err err = TSL_OK;
  const fractal_params *p = fractal_params_of(problem);
  const fractal_own *own = problem->own;
  const int64_t element = (int64_t)tsl_type_bytes((tsl_type)p->value_type);
  int64_t rows = BLOCK / element / p->xres;
  if (rows < 1) rows = 1;
  if (rows > p->yres) rows = p->yres;
  *f = (flow){.params = p, .store = store, .rows = rows};
  TSL_TRY(tsl_alloc(rows * p->xres, (size_t)element, "rows of the image", &f->values));
  TSL_TRY(tsl_alloc(rows * p->xres, 1, "rows of a picture", (void **)&f->bytes));
  if (own->png == NULL) goto done;
  TSL_TRY(tsl_alloc(1, sizeof *f->tally, "tally of values", (void **)&f->tally));
  TSL_TRY(tsl_alloc(FRACTAL_BINS, 1, "colours", (void **)&f->colour));
done:
  return err;
}

static void close_flow(flow *f) {
  TSL_FREE_ALL(f->values, f->bytes, f->tally, f->colour);
}

/** Read rows from row on. @param[out] n  rows read */
static tsl_err read_block(const flow *f, int64_t row, int64_t *n) {
  const int64_t left = f->params->yres - row;
  *n = left < f->rows ? left : f->rows;
  return f->store->read(f->store->state, FRACTAL_VALUES, row, row + *n, f->values);
}

/* ------------------------------------------------------------ first pass */

/** Sum, tally and binarise n pixels. */
static void fractal_result_look(flow *f, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const uint32_t value = value_at(f, i);
    f->sum += value;
    f->bytes[i] = value >= f->threshold ? 255 : 0;
    if (f->tally != NULL) f->tally->count[fractal_bin(value)]++;
  }
}

/** Rows of the picture; one that cannot be written is lost, not the image. */
static void put_rows(fractal_png **png, const uint8_t *rows, int64_t n) {
  if (*png != NULL && tsl_files_lose("fractal.binarised_png", fractal_png_rows(*png, rows, n)))
    fractal_png_discard(png);
}

/** Over the whole image: binarised rows to the store and to the picture (NULL: none). */
static tsl_err first_pass(flow *f, bool binarise, fractal_png **png) {
  tsl_err err = TSL_OK;
  const fractal_params *p = f->params;
  for (int64_t row = 0, n = 0; row < p->yres; row += n) {
    TSL_TRY(read_block(f, row, &n));
    fractal_result_look(f, n * p->xres);
    if (!binarise) continue;
    TSL_TRY(f->store->write(f->store->state, FRACTAL_BINARY, row, row + n, f->bytes));
    put_rows(png, f->bytes, n);
  }
done:
  return err;
}

/** What the devices summed must be what the file holds. */
static tsl_err check_sum(const flow *f, uint64_t sum) {
  tsl_err err = TSL_OK;
  if (f->sum != sum)
    TSL_FAIL(TSL_ERR_NUMERIC,
             "fractal: the values in the file sum to %" PRIu64 ", but the devices' sum is %" PRIu64,
             f->sum, sum);
done:
  return err;
}

/* ----------------------------------------------------------- second pass */

/** *lost: the picture cannot be written; anything else is an error of the image. */
static tsl_err second_pass(flow *f, fractal_png *png, bool *lost) {
  tsl_err err = TSL_OK;
  const fractal_params *p = f->params;
  for (int64_t row = 0, n = 0; row < p->yres && !*lost; row += n) {
    TSL_TRY(read_block(f, row, &n));
    for (int64_t i = 0; i < n * p->xres; i++) f->bytes[i] = f->colour[fractal_bin(value_at(f, i))];
    *lost = tsl_files_lose("fractal.png", fractal_png_rows(png, f->bytes, n));
  }
done:
  return err;
}

static tsl_err draw(flow *f, const fractal_own *own) {
  tsl_err err = TSL_OK;
  const fractal_params *p = f->params;
  const uint8_t(*palette)[3] = own->palette == FRACTAL_VIRIDIS ? fractal_viridis : NULL;
  fractal_png *png = NULL;
  bool lost = false;
  if (own->png == NULL) goto done;
  fractal_colours(f->tally, f->colour);
  lost = tsl_files_lose("fractal.png", fractal_png_open(own->png, p->xres, p->yres, palette, &png));
  if (!lost) TSL_TRY(second_pass(f, png, &lost));
  if (!lost) (void)tsl_files_lose("fractal.png", fractal_png_close(&png));
done:
  fractal_png_discard(&png);
  return err;
}

/** The picture of binarised rows; NULL when there is none, or it cannot be made. */
static fractal_png *open_binarised(const fractal_own *own, const fractal_params *p) {
  fractal_png *png = NULL;
  if (own->binarised_png == NULL) return NULL;
  (void)tsl_files_lose("fractal.binarised_png",
                       fractal_png_open(own->binarised_png, p->xres, p->yres, NULL, &png));
  return png;
}

tsl_err fractal_finish(tsl_problem *problem, const tsl_field_rows *store) {
  tsl_err err = TSL_OK;
  const fractal_params *p = fractal_params_of(problem);
  const fractal_own *own = problem->own;
  const bool binarise = problem->n_fields > FRACTAL_BINARY;
  const uint64_t sum =
      ((const uint64_t *)problem->fields[FRACTAL_TOTALS].data)[FRACTAL_TOTAL_VALUES];
  fractal_png *png = NULL;
  flow f = {0};
  if (!binarise && own->png == NULL) goto done;
  TSL_TRY(open_flow(problem, store, &f));
  f.threshold = fractal_threshold(sum, (uint64_t)p->xres * (uint64_t)p->yres);
  png = open_binarised(own, p);
  TSL_TRY(first_pass(&f, binarise, &png));
  TSL_TRY(check_sum(&f, sum));
  if (png != NULL) (void)tsl_files_lose("fractal.binarised_png", fractal_png_close(&png));
  TSL_TRY(draw(&f, own));
done:
  fractal_png_discard(&png);
  close_flow(&f);
  return err;
}

/* ---------------------------------------------------------------- summary */

/** Filling: how much, and how often it was wrong where it was looked at. */
static void add_filled(const uint64_t *totals, double pixels, tsl_summary *summary) {
  const double filled = (double)totals[FRACTAL_TOTAL_FILLED];
  const double sampled = (double)totals[FRACTAL_TOTAL_SAMPLED];
  const double wrong = (double)totals[FRACTAL_TOTAL_WRONG];
  tsl_summary_add(summary, "pixels filled", filled, "1");
  tsl_summary_add(summary, "filled pixels sampled", sampled, "1");
  tsl_summary_add(summary, "sampled pixels wrong", wrong, "1");
  if (sampled > 0 || filled == 0)
    tsl_summary_add(summary, "estimated wrong fraction",
                    filled == 0 ? 0 : wrong / sampled * filled / pixels, "1");
}

tsl_err fractal_summary(const tsl_problem *problem, tsl_summary *summary) {
  const fractal_params *p = fractal_params_of(problem);
  const uint64_t *totals = problem->fields[FRACTAL_TOTALS].data;
  const double pixels = (double)p->xres * (double)p->yres;
  const double sum = (double)totals[FRACTAL_TOTAL_VALUES];
  const double inside = (double)totals[FRACTAL_TOTAL_INSIDE];
  summary->valid = true;
  tsl_summary_add(summary, "pixels", pixels, "1");
  tsl_summary_add(summary, "pixels inside", inside, "1");
  tsl_summary_add(summary, "mean", sum / pixels, "1");
  tsl_summary_add(summary, "steps of the plain loop",
                  sum - (pixels - inside) + inside * (double)(p->maxiter - 1), "1");
  if (!p->exact) add_filled(totals, pixels, summary);
  return TSL_OK;
}
