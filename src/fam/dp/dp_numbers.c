/* Arrays of numbers: from the deck, from files, made up. */
#include "dp_family.h"

#include "table_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** Rows of so many columns, 0: as many as there are. about: how it was read. */
static tsl_err read_file(const tsl_deck *deck, const char *key, const dp_source *s, int64_t columns,
                         table_rows *table, char *about, size_t size) {
  tsl_err err = TSL_OK;
  char *path = NULL;
  table_source source = {.dataset = s->dataset,
                         .comment = '#',
                         .columns = s->columns.values,
                         .n_columns = (int64_t)s->columns.n,
                         .extra = -1};
  TSL_TRY(tsl_deck_path(deck, s->file, &path));
  source.path = path;
  TSL_TRY(tsl_deck_blame(deck, key, table_read_format(&source, &source.format)));
  TSL_TRY(tsl_deck_blame(deck, key, table_read(&source, table)));
  if (columns > 0) TSL_TRY(tsl_deck_blame(deck, key, table_check_width(&source, table, columns)));
  source.path = s->file; /* as the user calls it */
  table_describe(&source, table, about, size);
done:
  if (err != TSL_OK) table_rows_clear(table);
  tsl_free(path);
  return err;
}

/* Whole numbers lo..hi, or reals when the ends are no whole numbers. */
static double made_number(const dp_source *s, int64_t k) {
  const double u = (double)(dp_random((uint64_t)s->seed, (uint64_t)k) >> 11) * 0x1p-53;
  const bool whole = s->lo == floor(s->lo) && s->hi == floor(s->hi);
  return whole ? s->lo + floor(u * (s->hi - s->lo + 1)) : s->lo + u * (s->hi - s->lo);
}

static tsl_err make_numbers(const tsl_deck *deck, const char *key, const dp_source *s,
                            double **values) {
  tsl_err err = TSL_OK;
  if (s->lo > s->hi) TSL_DECK_FAIL(deck, key, "lo = %g is above hi = %g", s->lo, s->hi);
  TSL_TRY(tsl_alloc(s->random, sizeof **values, "random numbers", (void **)values));
  for (int64_t k = 0; k < s->random; k++) (*values)[k] = made_number(s, k);
done:
  return err;
}

static tsl_err copy_numbers(const dp_source *s, double **values) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc((int64_t)s->values.n, sizeof **values, "numbers", (void **)values));
  if (s->values.n > 0) memcpy(*values, s->values.values, s->values.n * sizeof **values);
done:
  return err;
}

static void describe_numbers(const dp_source *s, int64_t n, char *about, size_t size) {
  if (s->random > 0)
    (void)snprintf(about, size, "%lld numbers made up, seed %lld", (long long)n,
                   (long long)s->seed);
  else
    (void)snprintf(about, size, "%lld numbers of the deck", (long long)n);
}

/** @param[in,out] columns  as of dp_read_numbers  @param[out] n  how many numbers there are */
static tsl_err get_numbers(const tsl_deck *deck, const char *key, const dp_source *s,
                           int64_t *columns, double **values, int64_t *n, char *about,
                           size_t size) {
  tsl_err err = TSL_OK;
  table_rows table = {0};
  if (s->file != NULL) {
    TSL_TRY(read_file(deck, key, s, *columns, &table, about, size));
    *values = table.values;
    *n = table.n * table.columns;
    if (*columns == 0) *columns = table.columns;
    goto done;
  }
  if (s->random > 0)
    TSL_TRY(make_numbers(deck, key, s, values));
  else
    TSL_TRY(copy_numbers(s, values));
  *n = s->random > 0 ? s->random : (int64_t)s->values.n;
  describe_numbers(s, *n, about, size);
done:
  return err;
}

tsl_err dp_read_numbers(const tsl_deck *deck, const char *key, const dp_source *s, int64_t *columns,
                        double **values, int64_t *rows, dp_own *own) {
  tsl_err err = TSL_OK;
  int64_t n = 0;
  char about[512] = "";
  *values = NULL, *rows = 0;
  TSL_TRY(get_numbers(deck, key, s, columns, values, &n, about, sizeof about));
  if (*columns == 0) *columns = 1;
  if (n % *columns != 0)
    TSL_DECK_FAIL(deck, key, "%lld numbers are no whole number of rows of %lld", (long long)n,
                  (long long)*columns);
  *rows = n / *columns;
  if (own != NULL) dp_note_input(own, key + 3, about);
done:
  if (err != TSL_OK) tsl_free(*values), *values = NULL;
  return err;
}
