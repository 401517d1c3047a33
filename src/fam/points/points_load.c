/* From the deck's `input:` or `generator:` to rows of doubles. */
#include "points.h"

#include "memory.h"

#include <stdio.h>
#include <string.h>

tsl_err points_choose(points_source *s) {
  tsl_err err = TSL_OK;
  char *path = NULL, key[POINTS_PATH];
  const bool file = s->input->file != NULL;
  table_source source = {.format = s->input->format};
  s->format = TABLE_FORMAT_AUTO;
  if (file == (s->generator->kind != POINTS_NONE))
    TSL_DECK_FAIL(s->deck, file ? points_key(s->section, "generator.kind", key) : s->section,
                  "points come from either input.file or generator.kind: give exactly one");
  if (!file) goto done;
  TSL_TRY(tsl_deck_path(s->deck, s->input->file, &path));
  source.path = path;
  TSL_TRY(tsl_deck_blame(s->deck, points_key(s->section, "input.file", key),
                         table_read_format(&source, &s->format)));
done:
  tsl_free(path);
  return err;
}

static tsl_err find_comment(const points_source *s, char *comment) {
  tsl_err err = TSL_OK;
  char key[POINTS_PATH];
  const char *text = s->input->comment != NULL ? s->input->comment : "#";
  if (strlen(text) != 1 || strchr("0123456789+-.eE,; \t\"", text[0]) != NULL)
    TSL_DECK_FAIL(s->deck, points_key(s->section, "input.comment", key),
                  "one character is needed that cannot be part of a number or a separator");
  *comment = text[0];
done:
  return err;
}

tsl_err points_read(const points_source *s, const int64_t *columns, int64_t n_columns,
                    int64_t extra, table_rows *table, char *from, size_t size) {
  tsl_err err = TSL_OK;
  char *path = NULL, key[POINTS_PATH];
  table_source source = {.format = s->format,
                         .dataset = s->input->dataset,
                         .delimiter = s->input->delimiter,
                         .header = s->input->header,
                         .columns = columns,
                         .n_columns = n_columns,
                         .extra = extra};
  TSL_TRY(find_comment(s, &source.comment));
  TSL_TRY(tsl_deck_path(s->deck, s->input->file, &path));
  source.path = path;
  TSL_TRY(tsl_deck_blame(s->deck, points_key(s->section, "input.file", key),
                         table_read(&source, table)));
  table_describe(&source, table, from, size);
done:
  tsl_free(path);
  return err;
}

/** Memory is the only thing that a checked generator can lack. */
static tsl_err blame_number(const points_source *s, tsl_err err) {
  char why[TSL_ERR_MESSAGE_MAX], key[POINTS_PATH];
  if (err == TSL_OK) return err;
  (void)snprintf(why, sizeof why, "%s", tsl_err_message());
  return tsl_deck_fail(s->deck, err, points_key(s->section, "generator.n", key), __FILE__, __LINE__,
                       "%s; lower n or d", why);
}

tsl_err points_make(const points_source *s, const tsl_reals *box, const char *box_key,
                    table_rows *table, char *from, size_t size) {
  tsl_err err = TSL_OK;
  points_generator g = *s->generator;
  char key[POINTS_PATH];
  const bool boxed =
      box->n > 0 && !tsl_deck_given(s->deck, points_key(s->section, "generator.side", key));
  if (g.kind == POINTS_PLUMMER && g.d != 3)
    TSL_DECK_FAIL(s->deck, points_key(s->section, "generator.d", key),
                  "a Plummer sphere has 3 dimensions");
  if (boxed && (int64_t)box->n != g.d)
    TSL_DECK_FAIL(s->deck, box_key, "%llu edges, but the points have %lld dimensions",
                  (unsigned long long)box->n, (long long)g.d);
  g.box = boxed ? box->values : NULL;
  TSL_TRY(blame_number(s, points_generate(&g, table)));
  (void)snprintf(from, size, "made up, %s with seed %lld", points_kind_words[g.kind],
                 (long long)g.seed);
done:
  return err;
}

const char *points_unit(const points_source *s) {
  return s->format == TABLE_FORMAT_XYZ ? "angstrom" : "1";
}
