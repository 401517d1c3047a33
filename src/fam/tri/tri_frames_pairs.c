/* Pairs of atoms of a list, frame by frame: their distances, and which are contacts. */
#include "tri_frames_own.h"

#include "integers.h"
#include "table_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------- list */

/** A pair, and the line that it is on. */
typedef struct listed {
  int64_t low, high, line;
} listed;

static int by_atoms(const void *a, const void *b) {
  const listed *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  if (x->high != y->high) return x->high < y->high ? -1 : 1;
  return (x->line > y->line) - (x->line < y->line);
}

/** The next word of a line. @return false: there is none */
static bool next_word(const char **at, const char *end, const char **word_end) {
  while (*at < end && strchr(" \t,;", **at) != NULL) (*at)++;
  *word_end = *at;
  while (*word_end < end && strchr(" \t,;", **word_end) == NULL) (*word_end)++;
  return *at < *word_end;
}

static tsl_err take_pair(const table_lines *l, int64_t n, int64_t pair[2]) {
  tsl_err err = TSL_OK;
  const char *at = l->line, *stop = NULL;
  char shown[48];
  for (int k = 0; k < 2; k++, at = stop) {
    double value = 0;
    const bool there = next_word(&at, l->line_end, &stop);
    if (!there || table_number_parse(at, stop, &value) != TABLE_NUMBER || value != floor(value))
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: two numbers of atoms are expected; '%s' is none", l->path,
               (long long)l->number, table_shown(at, stop, shown));
    if (value < 0 || value >= (double)n)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: atom %.0f; the frames have atoms 0 to %lld", l->path,
               (long long)l->number, value, (long long)n - 1);
    pair[k] = (int64_t)value;
  }
  if (next_word(&at, l->line_end, &stop))
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: two numbers of atoms are expected; '%s' is one more", l->path,
             (long long)l->number, table_shown(at, stop, shown));
  if (pair[0] == pair[1])
    TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: atom %lld with itself", l->path, (long long)l->number,
             (long long)pair[0]);
done:
  return err;
}

/** No pair twice, in whatever order of its atoms. */
static tsl_err check_once(const char *path, listed *list, int64_t n) {
  tsl_err err = TSL_OK;
  qsort(list, (size_t)n, sizeof *list, by_atoms);
  for (int64_t k = 1; k < n; k++)
    if (list[k].low == list[k - 1].low && list[k].high == list[k - 1].high)
      TSL_FAIL(TSL_ERR_INPUT, "%s:%lld: atoms %lld and %lld are the pair of line %lld, too", path,
               (long long)list[k].line, (long long)list[k].low, (long long)list[k].high,
               (long long)list[k - 1].line);
done:
  return err;
}

static tsl_err read_list(const char *path, tri_frames_input *in) {
  tsl_err err = TSL_OK;
  char *text = NULL;
  listed *list = NULL;
  int64_t bytes = 0, room[2] = {0, 0}, n = 0;
  table_lines l;
  TSL_TRY(table_file_load(path, &text, &bytes));
  table_lines_open(path, text, bytes, '#', &l);
  for (; table_lines_content(&l); n++) {
    TSL_TRY(tsl_grow((void **)&in->pairs, n, 1, &room[0], sizeof *in->pairs, "pairs of atoms"));
    TSL_TRY(tsl_grow((void **)&list, n, 1, &room[1], sizeof *list, "pairs of atoms"));
    TSL_TRY(take_pair(&l, in->t.n_atoms, in->pairs[n]));
    list[n] = (listed){tsl_min(in->pairs[n][0], in->pairs[n][1]),
                       tsl_max(in->pairs[n][0], in->pairs[n][1]), l.number};
  }
  if (n == 0) TSL_FAIL(TSL_ERR_INPUT, "%s: no pair of atoms is in it", path);
  TSL_TRY(check_once(path, list, n));
  in->n_pairs = n;
done:
  TSL_FREE_ALL(text, list);
  return err;
}

tsl_err tri_frames_pairs(const tsl_deck *deck, const tri_deck *s, tri_frames_input *in,
                         tri_params *p) {
  tsl_err err = TSL_OK;
  char *path = NULL;
  if (s->atom_pairs == NULL) goto done;
  if (s->output != TRI_THRESHOLD)
    TSL_DECK_FAIL(deck, "tri.atom_pairs", "is of output threshold; remove it");
  TSL_TRY(tsl_deck_path(deck, s->atom_pairs, &path));
  TSL_TRY(tsl_deck_blame(deck, "tri.atom_pairs", read_list(path, in)));
  p->frames_pairs = in->n_pairs;
done:
  tsl_free(path);
  return err;
}

/* ------------------------------------------------------------------- frames */

void tri_frames_put_pairs(const tsl_problem *problem, const tsl_unit *unit, int64_t k,
                          const tri_frames_slot *slot, tsl_part *part) {
  const tri_params *p = tri_params_of(problem);
  const int64_t n = p->frames_pairs, row = k - unit->lo[0];
  const int64_t(*pairs)[2] = problem->fields[TRI_FRAMES_LIST].data;
  const double *at = slot->read.at;
  double *distances = (double *)part->slab[TRI_FRAMES_DISTANCES] + row * n;
  uint8_t *contact = (uint8_t *)part->slab[TRI_FRAMES_IN_CONTACT] + row * n;
  uint64_t contacts = 0;
  tri_images images;
  tri_images_of(p, &slot->read, &images);
  for (int64_t i = 0; i < n; i++) {
    const double *a = at + 3 * pairs[i][0], *b = at + 3 * pairs[i][1];
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    distances[i] = tri_images_distance(&images, d);
    contact[i] = distances[i] <= p->threshold;
    contacts += contact[i];
  }
  tri_frames_put(problem, unit, k, slot->frame.volume, &contacts, part);
}

tsl_err tri_frames_finish_pairs(tsl_problem *problem, const tsl_field_rows *store) {
  enum { BYTES = 1 << 24 };
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  const int64_t n = p->frames_pairs, rows = tsl_max(1, tsl_min(p->frames, BYTES / n));
  int64_t(*list)[2] = NULL;
  double *occupancy = NULL;
  uint8_t *contact = NULL;
  TSL_TRY(tri_frames_derived(problem, "atom_pairs", &list));
  TSL_TRY(tri_frames_derived(problem, "occupancy", &occupancy));
  TSL_TRY(tsl_alloc(rows * n, 1, "contacts", (void **)&contact));
  memcpy(list, problem->fields[TRI_FRAMES_LIST].data, (size_t)n * sizeof *list);
  for (int64_t k = 0; k < p->frames; k += rows) {
    const int64_t end = tsl_min(k + rows, p->frames);
    TSL_TRY(store->read(store->state, TRI_FRAMES_IN_CONTACT, k, end, contact));
    for (int64_t i = 0; i < (end - k) * n; i++) occupancy[i % n] += contact[i];
  }
  for (int64_t i = 0; i < n; i++) occupancy[i] /= (double)p->frames;
done:
  tsl_free(contact);
  return err;
}
