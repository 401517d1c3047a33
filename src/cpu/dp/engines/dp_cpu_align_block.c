/** @file dp_cpu_align_block.c  One block of rows of a strip, with as few bits as it needs. */
#include "dp_cpu_align.h"

#include <string.h>

/** A block under way. */
typedef struct block {
  const dp_cpu_align *band;
  align_room *room;
  align_sides at;
  int32_t low, high; /**< of H around the block */
  int32_t base;
} block;

static const int32_t value_most[DP_N_WIDTHS] = {INT8_MAX, ALIGN_MOST, INT16_MAX, ALIGN_MOST};
static const int32_t value_bytes[DP_N_WIDTHS] = {1, 4, 2, 4}; /* in lists */
/* of a pair's score and of a letter's code */
static const dp_number_width score_width[DP_N_WIDTHS] = {DP_W8, DP_W8, DP_W16, DP_W32};

/* ------------------------------------------------------------------ which width */

/** Smallest and largest H on the block's left and upper sides. */
static void dp_cpu_align_block_look(block *b) {
  const dp_kernels *k = b->band->cpu.kernels;
  b->low = b->high = b->at.corner;
  k->range(b->at.eh, b->at.rows, &b->low, &b->high);
  k->range(b->at.h, b->at.columns, &b->low, &b->high);
}

/** Do the scores themselves fit? */
static bool scores_fit(const dp_cpu_align *b, int32_t most) {
  const int64_t gap = (int64_t)b->open + (b->extend_e > b->extend_f ? b->extend_e : b->extend_f);
  return gap < most / 2 && b->most < most / 2 && b->least > -most / 2;
}

/**
 * Can the block be computed at this width? Sets the base. *surely: no value can leave the width;
 * else the largest H must be looked at afterwards.
 */
static bool width_fits(block *b, dp_number_width width, bool *surely) {
  const dp_cpu_align *band = b->band;
  const int64_t diagonal = b->at.rows < b->at.columns ? b->at.rows : b->at.columns;
  const int64_t gap =
      (int64_t)band->open + (band->extend_e > band->extend_f ? band->extend_e : band->extend_f);
  const int64_t least = b->low + diagonal * (band->least < 0 ? band->least : 0) - gap;
  const int64_t most = b->high + diagonal * (band->most > 0 ? band->most : 0);
  const bool local = band->kind == DP_ALIGN_LOCAL;
  b->base = 0;
  *surely = true;
  if (width == DP_W32) return true;
  if (width == DP_MOVING) return band->move > 0;
  if (!scores_fit(band, value_most[width])) return false;
  b->base = (int32_t)(local && least < 0 ? 0 : least);
  if (most - b->base <= value_most[width]) return true;
  *surely = false;
  return local && b->base == 0 && b->high <= value_most[width] - band->most;
}

/* ------------------------------------------------------------------ by lane and back */

/** Values of a strip's columns by lane: n vectors of N lanes, g groups. */
static void to_lanes(const int32_t *from, int64_t groups, int columns, int64_t vector,
                     int32_t *lanes) {
  memset(lanes, 0, (size_t)(columns * vector) * sizeof *lanes);
  for (int64_t g = 0; g < groups; g++)
    for (int r = 0; r < columns; r++) lanes[r * vector + groups - 1 - g] = from[g * columns + r];
}

static void from_lanes(const int32_t *lanes, int64_t groups, int columns, int64_t vector,
                       int32_t *to) {
  for (int64_t g = 0; g < groups; g++)
    for (int r = 0; r < columns; r++) to[g * columns + r] = lanes[r * vector + groups - 1 - g];
}

/** Scores of all letters with the columns [c, c + groups * columns) of the block. */
static void fill_profile(const block *b, dp_number_width width, int64_t c, int64_t groups,
                         int columns, int64_t vector, char *profile) {
  const dp_cpu_align *band = b->band;
  int32_t scores[ALIGN_WIDTH];
  for (int x = 0; x < band->scores.alphabet; x++) {
    for (int64_t k = 0; k < groups * columns; k++)
      scores[k] = band->scores.s[x][band->columns[b->at.column + c + k]];
    to_lanes(scores, groups, columns, vector, b->room->lanes);
    band->cpu.kernels->narrow[width](b->room->lanes, columns * vector, 0, false,
                                     profile + x * columns * vector * value_bytes[width]);
  }
}

/* ------------------------------------------------------------------ running */

/** Lists by row at a width, from the block's left side. */
static void dp_cpu_align_block_enter(const block *b, dp_number_width width) {
  const dp_cpu_align *band = b->band;
  const dp_kernels *k = band->cpu.kernels;
  align_room *room = b->room;
  const int64_t pad = DP_PAD * (int64_t)value_bytes[width];
  k->narrow[width](b->at.eh, b->at.rows, b->base, false, (char *)room->h_in + pad);
  k->narrow[width](b->at.ee, b->at.rows, b->base + band->extend_e, false, (char *)room->e_in + pad);
}

/** A part of the strip that one kernel call takes: columns [c, c + groups * columns). */
typedef struct part {
  int64_t c, groups, vector;
  int64_t at; /**< columns of vectors before it */
  int columns;
  char *h_in, *e_in, *h_out, *e_out;
} part;

static void run_part(block *b, dp_number_width width, dp_align_kind kind, const part *p,
                     dp_align_strip *s) {
  const dp_cpu_align *band = b->band;
  const dp_kernels *k = band->cpu.kernels;
  align_room *room = b->room;
  const int64_t size = p->columns * p->vector, pad = DP_PAD * (int64_t)value_bytes[width];
  const dp_number_width scores = score_width[width];
  int32_t codes[ALIGN_WIDTH], corner = p->c > 0 ? b->at.h[p->c - 1] : b->at.corner;
  char *profile = room->profile[scores] + p->at * LETTERS_SCORED * value_bytes[scores];
  to_lanes(b->at.h + p->c, p->groups, p->columns, p->vector, room->lanes);
  k->narrow[width](room->lanes, size, b->base, false, room->h);
  if (kind != DP_ALIGN_LINEAR) {
    to_lanes(b->at.f + p->c, p->groups, p->columns, p->vector, room->lanes);
    k->narrow[width](room->lanes, size, b->base + band->extend_f, width == DP_W8 || width == DP_W16,
                     room->f);
  }
  if (band->matrix) {
    if (room->profile_of[scores] != b->at.strip + 1)
      fill_profile(b, scores, p->c, p->groups, p->columns, p->vector, profile);
  } else {
    for (int64_t c = 0; c < p->groups * p->columns; c++)
      codes[c] = band->column_code[band->columns[b->at.column + p->c + c]];
    to_lanes(codes, p->groups, p->columns, p->vector, room->lanes);
    k->narrow[scores](room->lanes, size, 0, false, room->b);
  }
  k->narrow[width](&corner, 1, b->base, false, p->h_in + pad - value_bytes[width]);
  s->lanes = (int)p->groups;
  s->wide = p->columns > 1;
  s->profile = band->matrix ? profile : NULL;
  s->left_h = p->h_in + pad;
  s->left_e = p->e_in + pad;
  s->right_h = p->h_out + pad;
  s->right_e = p->e_out + pad;
  s->row = s->column = INT64_MAX;
  k->align[width](kind, s);
  k->widen[width](room->h, size, b->base, room->lanes);
  from_lanes(room->lanes, p->groups, p->columns, p->vector, room->row_h + p->c);
  if (kind == DP_ALIGN_LINEAR) return;
  k->widen[width](room->f, size, b->base + band->extend_f, room->lanes);
  from_lanes(room->lanes, p->groups, p->columns, p->vector, room->row_f + p->c);
}

/** Largest H that the kernel saw. */
static int32_t part_best(const block *b, dp_number_width width, int64_t groups) {
  int32_t best[64], low = INT32_MAX, most = INT32_MIN;
  b->band->cpu.kernels->widen[width](b->room->most, groups, b->base, best);
  b->band->cpu.kernels->range(best, groups, &low, &most);
  return most;
}

/**
 * Compute the block at a width; its new row stays in room->row_h, row_f and its right side in
 * *h_out, *e_out. Returns the largest H (LOCAL, TRACK, LOCATE); LOCATE: room->found_row,
 * found_column is where target is first.
 */
static int32_t dp_cpu_align_block_run(block *b, dp_number_width width, dp_align_kind asked,
                                      int32_t target, char **h_out, char **e_out) {
  const dp_cpu_align *band = b->band;
  const dp_align_kind kind = asked == DP_ALIGN_TRACK ? DP_ALIGN_LOCAL : asked;
  align_room *room = b->room;
  dp_align_strip s = {.rows = b->at.rows,
                      .a = band->row_codes + b->at.row,
                      .b = room->b,
                      .scores = room->scores,
                      .h = room->h,
                      .f = room->f,
                      .best = room->most,
                      .open = band->open,
                      .extend_e = band->extend_e,
                      .extend_f = band->extend_f,
                      .match = band->match,
                      .mismatch = band->mismatch,
                      .floor = band->kind == DP_ALIGN_LOCAL ? 0 : DP_MINUS_INFINITY,
                      .target = target,
                      .move = band->move,
                      .below = band->below};
  part p = {.vector = band->cpu.kernels->bytes / value_bytes[score_width[width]],
            .h_in = (char *)room->h_in,
            .e_in = (char *)room->e_in,
            .h_out = (char *)room->h_out,
            .e_out = (char *)room->e_out};
  int32_t best = INT32_MIN;
  dp_cpu_align_block_enter(b, width);
  room->found_row = room->found_column = INT64_MAX;
  for (; p.c < b->at.columns; p.c += p.groups * p.columns, p.at += p.columns * p.vector) {
    const int64_t left = b->at.columns - p.c;
    p.columns = left >= DP_COLUMNS ? DP_COLUMNS : 1;
    p.groups = left / p.columns < p.vector ? left / p.columns : p.vector;
    run_part(b, width, kind, &p, &s);
    if (kind == DP_ALIGN_LOCAL || kind == DP_ALIGN_LOCATE) {
      const int32_t mine = part_best(b, width, p.groups);
      if (mine > best) best = mine;
    }
    if (s.row < room->found_row) {
      room->found_row = s.row;
      room->found_column = p.c + s.column;
    }
    char *const h = p.h_in, *const e = p.e_in;
    p.h_in = p.h_out, p.e_in = p.e_out;
    p.h_out = h, p.e_out = e;
  }
  if (band->matrix) room->profile_of[score_width[width]] = b->at.strip + 1;
  *h_out = p.h_in;
  *e_out = p.e_in;
  return best;
}

/* ------------------------------------------------------------------ the best cell */

static void save(const align_sides *from, align_saved *to) {
  to->sides = *from;
  memcpy(to->eh, from->eh, (size_t)from->rows * sizeof *to->eh);
  memcpy(to->ee, from->ee, (size_t)from->rows * sizeof *to->ee);
  memcpy(to->h, from->h, (size_t)from->columns * sizeof *to->h);
  memcpy(to->f, from->f, (size_t)from->columns * sizeof *to->f);
  to->sides.eh = to->eh, to->sides.ee = to->ee;
  to->sides.h = to->h, to->sides.f = to->f;
}

/** The first cell of a saved block with this score: the block is computed again. None has it only
 *  after a forged checkpoint, whose results are worthless but must lie in the table. */
static dp_best locate(const dp_cpu_align *band, align_room *room, const align_saved *saved,
                      int64_t score) {
  block b = {.band = band, .room = room, .at = saved->sides};
  char *h_out = NULL, *e_out = NULL;
  (void)dp_cpu_align_block_run(&b, DP_W32, DP_ALIGN_LOCATE, (int32_t)score, &h_out, &e_out);
  const bool found = room->found_row < INT64_MAX;
  return (dp_best){score, b.at.row + (found ? room->found_row : 0) + 1,
                   b.at.column + (found ? room->found_column : 0) + 1};
}

void align_settle_best(const dp_cpu_align *band, int thread) {
  align_room *room = &band->rooms[thread];
  if (room->pending) room->best = locate(band, room, &room->first, room->best.score);
  room->pending = false;
}

/** Is the block's largest H a candidate? Then its sides are saved. */
static bool may_be_best(const block *b, int32_t score) {
  align_room *room = b->room;
  const int64_t last =
      room->pending ? room->first.sides.row + room->first.sides.rows : room->best.row;
  if (score > room->best.score) {
    save(&b->at, &room->first);
    room->best.score = score;
    room->pending = true;
    return false;
  }
  if (score <= 0 || score < room->best.score || b->at.row + 1 > last) return false;
  save(&b->at, &room->second);
  return true;
}

/** The block whose sides are in room->second has as large an H as the best cell: which is first? */
static void compare_best(const dp_cpu_align *band, int thread) {
  align_room *room = &band->rooms[thread];
  align_settle_best(band, thread);
  const dp_best other = locate(band, room, &room->second, room->best.score);
  if (other.row < room->best.row ||
      (other.row == room->best.row && other.column < room->best.column))
    room->best = other;
}

/* ------------------------------------------------------------------ the block */

/** The block's new row and right side become the band's; first: its row in the tile. */
static void leave(const block *b, dp_cpu_align *band, int64_t first, dp_number_width width,
                  const char *h_out, const char *e_out) {
  const dp_kernels *k = band->cpu.kernels;
  const int64_t pad = DP_PAD * (int64_t)value_bytes[width];
  const size_t bytes = (size_t)b->at.columns * sizeof *band->h;
  band->corner[b->at.strip] = band->eh[first + b->at.rows];
  k->widen[width](h_out + pad, b->at.rows, b->base, band->eh + first + 1);
  memcpy(band->h + b->at.column, b->room->row_h, bytes);
  if (band->kind == DP_ALIGN_LINEAR) return;
  k->widen[width](e_out + pad, b->at.rows, b->base + band->extend_e, band->ee + first + 1);
  memcpy(band->f + b->at.column, b->room->row_f, bytes);
}

void align_block(dp_cpu_align *band, int64_t lo, int64_t strip, int64_t first, int64_t rows,
                 int thread) {
  const int64_t column = strip * band->width, left = band->m - column;
  block b = {.band = band,
             .room = &band->rooms[thread],
             .at = {.strip = strip,
                    .row = lo + first,
                    .rows = rows,
                    .column = column,
                    .columns = left < band->width ? left : band->width,
                    .corner = band->corner[strip],
                    .eh = band->eh + first + 1,
                    .ee = band->ee + first + 1,
                    .h = band->h + column,
                    .f = band->f + column}};
  const bool local = band->kind == DP_ALIGN_LOCAL;
  int width = local ? DP_W8 : DP_MOVING;
  int32_t score = 0;
  char *h_out = NULL, *e_out = NULL;
  dp_cpu_align_block_look(&b);
  for (bool surely = false;; width++) {
    if (!width_fits(&b, (dp_number_width)width, &surely)) continue;
    score = dp_cpu_align_block_run(&b, (dp_number_width)width, band->kind, 0, &h_out, &e_out);
    if (surely || score <= value_most[width] - band->most) break;
  }
  const bool compare = local && may_be_best(&b, score);
  if (band->kind == DP_ALIGN_TRACK && score > b.room->best.score) b.room->best.score = score;
  leave(&b, band, first, (dp_number_width)width, h_out, e_out);
  if (compare) compare_best(band, thread);
  if (local) align_know(band, score);
}
