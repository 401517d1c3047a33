/* Frames of XYZ files: one after another, all of the same atoms. */
#include "xc_frames.h"
#include "table_range.h"
#include "xc_words.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* --------------------------------------------------------------- one frame */

/* "frame 3: ", or nothing where a file has one frame alone. */
typedef struct place {
  char text[40];
} place;

static place place_of(int64_t number) {
  place p = {""};
  if (number > 0) (void)snprintf(p.text, sizeof p.text, "frame %lld: ", (long long)number);
  return p;
}

/* Elements and places must come first where the comment says what the columns are. */
static tsl_err check_properties(const table_lines *lines, int64_t number) {
  static const char key[] = "Properties=";
  static const char *const good[] = {"species:S:1:pos:R:3", "Z:I:1:pos:R:3"};
  tsl_err err = TSL_OK;
  const char *end = lines->line_end, *at = lines->line;
  const size_t length = sizeof key - 1;
  while (at + length <= end && strncasecmp(at, key, length) != 0) at++;
  if (at + length > end) goto done;
  at += length;
  if (at < end && *at == '"') at++;
  for (size_t k = 0; k < sizeof good / sizeof *good; k++)
    if (end - at >= (long)strlen(good[k]) && strncasecmp(at, good[k], strlen(good[k])) == 0)
      goto done;
  TSL_FAIL(TSL_ERR_INPUT,
           "%s:%lld: %sProperties of columns that do not begin with species:S:1:pos:R:3",
           lines->path, (long long)lines->number, place_of(number).text);
done:
  return err;
}

/* The line of the number of atoms is the current one; the comment follows. */
static tsl_err read_head(table_lines *lines, int64_t number, int64_t *n) {
  tsl_err err = TSL_OK;
  xc_words words;
  xc_words_cut(lines, &words);
  if (words.n != 1)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %s%lld words where the number of atoms is expected",
             lines->path, (long long)lines->number, place_of(number).text, (long long)words.n);
  TSL_TRY(xc_word_integer(&words, 0, "the number of atoms", 1, XC_MAX_ATOMS, n));
  if (*n > (lines->end - lines->at) / 7 + 1) /* shortest atom: "H 0 0 0" */
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %s%lld atoms cannot be in a file this short", lines->path,
             (long long)lines->number, place_of(number).text, (long long)*n);
  if (table_lines_next(lines)) TSL_TRY(check_properties(lines, number));
done:
  return err;
}

static tsl_err read_atom(const table_lines *lines, int64_t number, xc_atom *atom) {
  tsl_err err = TSL_OK;
  xc_words words;
  xc_words_cut(lines, &words);
  if (words.n < 4)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %s%lld words where 'symbol x y z' is expected", lines->path,
             (long long)lines->number, place_of(number).text, (long long)words.n);
  TSL_TRY(xc_word_atom(&words, 0, &atom->z, &atom->ghost));
  for (int k = 0; k < 3; k++) {
    TSL_TRY(xc_word_real(&words, k + 1, &atom->at[k]));
    atom->at[k] /= XC_BOHR;
  }
done:
  return err;
}

tsl_err xc_xyz_next(table_lines *lines, int64_t number, xc_atom **atoms, int64_t *n) {
  tsl_err err = TSL_OK;
  *atoms = NULL;
  if (number == 0 && !table_lines_next(lines))
    TSL_FAIL(TSL_ERR_INPUT, "%s: an empty XYZ file", lines->path);
  const int64_t head = lines->number;
  TSL_TRY(read_head(lines, number, n));
  TSL_TRY(tsl_alloc(*n, sizeof **atoms, "atoms", (void **)atoms));
  for (int64_t k = 0; k < *n; k++) {
    if (!table_lines_next(lines))
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: %s%lld atoms announced in line %lld, %lld found",
               lines->path, (long long)lines->number, place_of(number).text, (long long)*n,
               (long long)head, (long long)k);
    TSL_TRY(read_atom(lines, number, &(*atoms)[k]));
  }
done:
  if (err != TSL_OK) tsl_free(*atoms), *atoms = NULL;
  return err;
}

/* -------------------------------------------------------------- all frames */

void xc_frames_clear(xc_frames *frames) {
  TSL_FREE_ALL(frames->number, frames->atoms);
  *frames = (xc_frames){.n = 0};
}

/* The atoms of the first frame. @param[in] head  line of their number */
static tsl_err check_same(const table_lines *lines, int64_t head, const xc_frames *frames,
                          const xc_atom *atoms, int64_t n) {
  tsl_err err = TSL_OK;
  const long long frame = (long long)frames->n + 1;
  if (n != frames->n_atoms)
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: frame %lld has %lld atoms, the first one %lld", lines->path,
             (long long)head, frame, (long long)n, (long long)frames->n_atoms);
  for (int64_t a = 0; a < n; a++) {
    const xc_atom *first = &frames->atoms[a];
    if (atoms[a].z != first->z || atoms[a].ghost != first->ghost)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: frame %lld: atom %lld is %s%s, in the first one %s%s",
               lines->path, (long long)(head + 2 + a), frame, (long long)a + 1,
               atoms[a].ghost ? "a ghost of " : "", xc_symbol(atoms[a].z),
               first->ghost ? "a ghost of " : "", xc_symbol(first->z));
  }
done:
  return err;
}

static tsl_err add_frame(const table_lines *lines, int64_t head, const xc_atom *atoms, int64_t n,
                         int64_t room[2], xc_frames *frames) {
  tsl_err err = TSL_OK;
  if (frames->n == 0) frames->n_atoms = n;
  if (frames->n > 0) TSL_TRY(check_same(lines, head, frames, atoms, n));
  TSL_TRY(
      tsl_grow((void **)&frames->number, frames->n, 1, &room[0], sizeof *frames->number, "frames"));
  TSL_TRY(tsl_grow((void **)&frames->atoms, frames->n * n, n, &room[1], sizeof *frames->atoms,
                   "frames"));
  memcpy(frames->atoms + frames->n * n, atoms, (size_t)n * sizeof *atoms);
  frames->number[frames->n] = frames->n + 1;
  frames->n++;
done:
  return err;
}

/* Go to the next line with a word. @return false at the end */
static bool next_head(table_lines *lines) {
  xc_words words = {.n = 0};
  while (words.n == 0 && table_lines_next(lines)) xc_words_cut(lines, &words);
  return words.n > 0;
}

tsl_err xc_frames_parse(const char *path, const char *text, int64_t bytes, xc_frames *frames) {
  tsl_err err = TSL_OK;
  table_lines lines;
  xc_atom *atoms = NULL;
  int64_t n = 0, room[2] = {0, 0};
  *frames = (xc_frames){.n = 0};
  table_lines_open(path, text, bytes, '\0', &lines);
  while (next_head(&lines)) {
    const int64_t head = lines.number;
    TSL_TRY(xc_xyz_next(&lines, frames->n + 1, &atoms, &n));
    TSL_TRY(add_frame(&lines, head, atoms, n, room, frames));
    tsl_free(atoms);
    atoms = NULL;
  }
  if (frames->n == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: an empty XYZ file", path);
done:
  tsl_free(atoms);
  if (err != TSL_OK) xc_frames_clear(frames);
  return err;
}

/* ------------------------------------------------------------------- choice */

tsl_err xc_frames_choose(const char *which, xc_frames *frames) {
  tsl_err err = TSL_OK;
  table_range r;
  int64_t n = 0;
  TSL_TRY(table_range_parse(which, frames->n, &r));
  for (int64_t k = r.first - 1; k < r.last; n++) {
    memmove(frames->atoms + n * frames->n_atoms, frames->atoms + k * frames->n_atoms,
            (size_t)frames->n_atoms * sizeof *frames->atoms);
    frames->number[n] = k + 1;
    k = r.step < r.last - k ? k + r.step : r.last;
  }
  frames->n = n;
done:
  return err;
}
