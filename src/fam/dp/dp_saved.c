/* What is saved of the tiles of wavefronts and sweeps, as bytes. */
#include "dp_saved.h"

#include <string.h>

enum { HEAD = 4, ROWS_HEAD = 6, CHOICES_HEAD = 7 };

tsl_err dp_saved_bad(const tsl_unit *unit) {
  return tsl_fail(TSL_ERR_INPUT, __FILE__, __LINE__,
                  "the checkpoint's state of tile %lld is not one of this table",
                  (long long)unit->id);
}

static int64_t columns_of(const tsl_unit *u) {
  return u->hi[1] - u->lo[1];
}

/* ---- values */

/** Could a table hold these integers? Decks that reach 30 or 61 bits are refused, so that what is
 *  computed from them stays within their type. Binomials have a check of their own. */
static bool are_possible(const dp_params *p, int32_t type, const char *values, int64_t n) {
  if (p->problem == DP_BINOMIAL || (type != TSL_I32 && type != TSL_I64)) return true;
  for (int64_t k = 0; k < n; k++) {
    int32_t narrow = 0;
    int64_t wide = 0;
    if (type == TSL_I32)
      memcpy(&narrow, values + k * (int64_t)sizeof narrow, sizeof narrow);
    else
      memcpy(&wide, values + k * (int64_t)sizeof wide, sizeof wide);
    if (narrow < -(1 << 30) || narrow > 1 << 30 || wide < -INT64_MAX / 2 || wide > INT64_MAX / 2)
      return false;
  }
  return true;
}

/* ---- states */

/** Arrays of a state: bytes of an entry, and entries more than columns. */
typedef struct arrays {
  int n, entry[2], more[2];
} arrays;

static arrays arrays_of(const dp_params *p) {
  const int value = (int)tsl_type_bytes((tsl_type)p->type);
  const bool affine = dp_ready_of(p)->affine;
  if (p->mode == DP_TABLE) return (arrays){affine ? 2 : 1, {value, 4}, {1, 0}};
  if (p->problem == DP_DTW) return (arrays){1, {value, 0}, {0, 0}};
  return (arrays){2, {4, 4}, {0, 0}};
}

int64_t dp_state_bytes(const dp_params *p, int64_t columns) {
  const arrays a = arrays_of(p);
  int64_t bytes = 0;
  if (dp_state_is_bits(p)) return 4 * dp_bit_parts(p) * dp_bit_words(columns);
  for (int k = 0; k < a.n; k++) bytes += a.entry[k] * (columns + a.more[k]);
  return bytes;
}

/** The first array; F is only compared. */
static bool state_is_possible(const dp_params *p, const char *state, int64_t columns) {
  const bool values = p->mode == DP_TABLE || p->problem == DP_DTW;
  if (dp_state_is_bits(p)) return true;
  return are_possible(p, values ? p->type : TSL_I32, state, columns + arrays_of(p).more[0]);
}

static bool edge_is_possible(const dp_params *p, const char *edge, int64_t bytes) {
  const int32_t type = dp_ready_of(p)->affine ? TSL_I32 : p->type;
  if (dp_edge_is_bits(p)) return true;
  return are_possible(p, type, edge, bytes / (int64_t)tsl_type_bytes((tsl_type)type));
}

static void move_bits(uint32_t *whole, int64_t from, int64_t n, uint32_t *part, bool out) {
  if (out) memset(part, 0, (size_t)dp_bit_words(n) * sizeof *part);
  for (int64_t k = 0; k < n; k++) {
    const int64_t at = from + k;
    if (out)
      part[k / 32] |= (whole[at / 32] >> at % 32 & 1) << k % 32;
    else
      whole[at / 32] |= (part[k / 32] >> k % 32 & 1) << at % 32;
  }
}

static void move_state(const dp_params *p, char *whole, int64_t columns, int64_t from, int64_t to,
                       char *part, bool out) {
  const arrays a = arrays_of(p);
  const int64_t n = to - from;
  for (int k = 0; k < dp_bit_parts(p) && dp_state_is_bits(p); k++)
    move_bits((uint32_t *)whole + k * dp_bit_words(columns), from, n,
              (uint32_t *)part + k * dp_bit_words(n), out);
  for (int k = 0; k < a.n && !dp_state_is_bits(p); k++) {
    char *here = whole + from * a.entry[k];
    const int64_t bytes = (n + a.more[k]) * a.entry[k];
    memcpy(out ? part : here, out ? here : part, (size_t)bytes);
    part += bytes;
    whole += (columns + a.more[k]) * a.entry[k];
  }
}

void dp_state_cut(const dp_params *p, const void *whole, int64_t columns, int64_t from, int64_t to,
                  void *part) {
  move_state(p, (char *)whole, columns, from, to, part, true);
}

/** The way back of dp_state_cut; the whole was zero before its first part came. */
static void paste_state(const dp_params *p, void *whole, int64_t columns, int64_t from, int64_t to,
                        const void *part) {
  move_state(p, whole, columns, from, to, (char *)part, false);
}

/* ---- wavefronts */

static int64_t state_of(const dp_params *p, const tsl_unit *u, int64_t stage) {
  return dp_saved_has_state(u, stage) ? dp_padded(dp_state_bytes(p, columns_of(u))) : 0;
}

int64_t dp_saved_bytes(const dp_params *p, const tsl_unit *u, int64_t stage, int64_t rows) {
  const int64_t bytes = state_of(p, u, stage) + rows;
  return bytes > 0 ? HEAD * 8 + bytes : 0;
}

char *dp_saved_put(const dp_params *p, const tsl_unit *u, int64_t stage, const int64_t best[3],
                   void *bytes, char **state) {
  const int64_t head[HEAD] = {dp_saved_has_state(u, stage), best[0], best[1], best[2]};
  char *at = (char *)bytes + sizeof head;
  memcpy(bytes, head, sizeof head);
  *state = head[0] ? at : NULL;
  return at + state_of(p, u, stage);
}

int64_t dp_saved_rows_bytes(const dp_params *p, const dp_saved_rows *r) {
  return ROWS_HEAD * 8 + dp_padded(dp_state_bytes(p, r->to - r->from)) + dp_padded(r->left_bytes);
}

char *dp_saved_rows_put(const dp_params *p, const dp_saved_rows *r, char *at, char **top,
                        char **left) {
  const int64_t head[ROWS_HEAD] = {r->from, r->to, r->end, r->lo, r->hi, r->left_bytes};
  memcpy(at, head, sizeof head);
  *top = at + sizeof head;
  *left = *top + dp_padded(dp_state_bytes(p, r->to - r->from));
  return at + dp_saved_rows_bytes(p, r);
}

/** Could these be the best of a lane? */
static bool best_is_possible(const dp_params *p, const tsl_unit *u, const int64_t best[3]) {
  const int64_t most = 1 << 30;
  if (dp_saved_column(p, u))
    return best[0] >= -most && best[0] <= most && best[1] >= 0 && best[1] <= u->hi[0] &&
           best[2] >= -most && best[2] <= most;
  if (best[0] == 0) return true;
  return best[0] > 0 && best[0] <= most && best[1] >= 1 && best[1] <= u->hi[0] &&
         best[2] > u->lo[1] && best[2] <= u->hi[1];
}

tsl_err dp_saved_open(const dp_params *p, const tsl_unit *u, int64_t stage, const void *bytes,
                      int64_t n, dp_saved *out) {
  int64_t head[HEAD] = {0};
  if (n < (int64_t)sizeof head) return dp_saved_bad(u);
  memcpy(head, bytes, sizeof head);
  *out = (dp_saved){.best = {head[1], head[2], head[3]},
                    .at = (const char *)bytes + sizeof head,
                    .left = n - (int64_t)sizeof head};
  if (head[0] != dp_saved_has_state(u, stage)) return dp_saved_bad(u);
  if (head[0] == 0) return TSL_OK;
  if (out->left < state_of(p, u, stage) || !best_is_possible(p, u, out->best) ||
      !state_is_possible(p, out->at, columns_of(u)))
    return dp_saved_bad(u);
  out->state = out->at;
  out->at += state_of(p, u, stage);
  out->left -= state_of(p, u, stage);
  return TSL_OK;
}

/** Are the numbers possible, and the bytes there? */
static bool rows_fit(const dp_params *p, const tsl_unit *u, const dp_saved_rows *r, int64_t lanes,
                     int64_t left) {
  if (p->mode != DP_RECOVER || r->from != u->lo[1] || r->to < u->hi[1] || r->to > p->m ||
      r->end <= u->lane || r->end > lanes || r->lo < u->lo[0] || r->hi <= r->lo || r->hi > u->hi[0])
    return false;
  return r->left_bytes == (r->from > 0 ? dp_edge_size(p, r->hi - r->lo) : 0) &&
         dp_saved_rows_bytes(p, r) <= left;
}

tsl_err dp_saved_next(const dp_params *p, const tsl_unit *u, int64_t lanes, dp_saved *saved,
                      dp_saved_rows *rows, bool *more) {
  int64_t head[ROWS_HEAD];
  char *top = NULL, *left = NULL;
  *more = saved->left > 0;
  if (!*more) return TSL_OK;
  if (saved->left < (int64_t)sizeof head) return dp_saved_bad(u);
  memcpy(head, saved->at, sizeof head);
  *rows = (dp_saved_rows){.from = head[0],
                          .to = head[1],
                          .end = head[2],
                          .lo = head[3],
                          .hi = head[4],
                          .left_bytes = head[5]};
  if (!rows_fit(p, u, rows, lanes, saved->left)) return dp_saved_bad(u);
  top = (char *)saved->at + sizeof head;
  left = top + dp_padded(dp_state_bytes(p, rows->to - rows->from));
  if (!state_is_possible(p, top, rows->to - rows->from) ||
      !edge_is_possible(p, left, rows->left_bytes))
    return dp_saved_bad(u);
  rows->top = top;
  rows->left_edge = left;
  saved->at += dp_saved_rows_bytes(p, rows);
  saved->left -= dp_saved_rows_bytes(p, rows);
  return TSL_OK;
}

/* ---- lanes until their bands are opened */

void dp_lane_states_clear(dp_lane_states *lanes) {
  for (int64_t k = 0; k < lanes->n; k++) tsl_free(lanes->list[k].state);
  tsl_free(lanes->list);
  *lanes = (dp_lane_states){0};
}

tsl_err dp_lane_states_add(const dp_params *p, dp_lane_states *lanes, const tsl_unit *u,
                           const dp_saved *saved) {
  tsl_err err = TSL_OK;
  const int64_t bytes = dp_state_bytes(p, columns_of(u));
  dp_lane_state *l = NULL;
  TSL_TRY(tsl_grow((void **)&lanes->list, lanes->n, 1, &lanes->room, sizeof *lanes->list,
                   "states of lanes"));
  l = &lanes->list[lanes->n++];
  *l = (dp_lane_state){.lo = u->lo[1], .hi = u->hi[1], .row = u->hi[0]};
  memcpy(l->best, saved->best, sizeof l->best);
  TSL_TRY(tsl_alloc(bytes, 1, "state of a lane", &l->state));
  memcpy(l->state, saved->state, (size_t)bytes);
done:
  return err;
}

const dp_lane_state *dp_lane_states_find(const dp_lane_states *lanes, const tsl_unit *u) {
  for (int64_t k = 0; k < lanes->n; k++)
    if (lanes->list[k].lo == u->lo[1] && lanes->list[k].hi == u->hi[1]) return &lanes->list[k];
  return NULL;
}

tsl_err dp_lane_states_join(const dp_params *p, const dp_lane_states *lanes, int64_t lo, int64_t hi,
                            int64_t row, void *state, int64_t best[3]) {
  tsl_err err = TSL_OK;
  int64_t found = 0;
  memset(best, 0, 3 * sizeof *best);
  for (int64_t k = 0; k < lanes->n; k++) {
    const dp_lane_state *l = &lanes->list[k];
    if (l->row != row || l->lo < lo || l->hi > hi) continue;
    paste_state(p, state, hi - lo, l->lo - lo, l->hi - lo, l->state);
    const bool better =
        p->free_ends != 0 ? l->hi == p->m : l->best[0] > 0 && dp_best_better(l->best, best);
    if (better) memcpy(best, l->best, sizeof l->best);
    found += l->hi - l->lo;
  }
  if (found != hi - lo)
    TSL_FAIL(TSL_ERR_INTERNAL, "dp: columns %lld to %lld have no state in row %lld", (long long)lo,
             (long long)hi, (long long)row);
done:
  return err;
}

/* ---- sweeps */

int64_t dp_choice_bytes(const dp_params *p, int64_t rows, int64_t columns) {
  return dp_is_sack(p) ? rows * ((columns + 63) / 64) * 8 : rows * columns * 4;
}

static int64_t row_of(const dp_params *p, const tsl_unit *u, int64_t stage) {
  const int64_t value = (int64_t)tsl_type_bytes((tsl_type)p->type);
  return dp_saved_has_state(u, stage) ? dp_padded(columns_of(u) * value) : 0;
}

int64_t dp_saved_row_bytes(const dp_params *p, const tsl_unit *u, int64_t stage, int64_t choices) {
  const int64_t bytes = row_of(p, u, stage) + choices;
  return bytes > 0 ? 8 + bytes : 0;
}

int64_t dp_saved_choices_bytes(const dp_saved_choices *c) {
  return CHOICES_HEAD * 8 + dp_padded(c->bytes);
}

char *dp_saved_row_put(const dp_params *p, const tsl_unit *u, int64_t stage, void *bytes,
                       char **row) {
  const int64_t has = dp_saved_has_state(u, stage);
  memcpy(bytes, &has, sizeof has);
  *row = has ? (char *)bytes + sizeof has : NULL;
  return (char *)bytes + sizeof has + row_of(p, u, stage);
}

char *dp_saved_choices_put(const dp_saved_choices *c, char *at, char **data) {
  const int64_t head[CHOICES_HEAD] = {c->lo, c->hi, c->from, c->to, c->end, c->kind, c->bytes};
  memcpy(at, head, sizeof head);
  *data = at + sizeof head;
  return at + dp_saved_choices_bytes(c);
}

tsl_err dp_saved_row_open(const dp_params *p, const tsl_unit *u, int64_t stage, const void *bytes,
                          int64_t n, dp_saved *out) {
  const int64_t size = row_of(p, u, stage);
  int64_t row = 0;
  if (n < (int64_t)sizeof row + size) return dp_saved_bad(u);
  memcpy(&row, bytes, sizeof row);
  if (row != dp_saved_has_state(u, stage)) return dp_saved_bad(u);
  *out = (dp_saved){.at = (const char *)bytes + sizeof row + size,
                    .left = n - (int64_t)sizeof row - size};
  if (row) out->state = (const char *)bytes + sizeof row;
  if (row && !are_possible(p, p->type, out->state, columns_of(u))) return dp_saved_bad(u);
  return TSL_OK;
}

/** Are the numbers possible, and the bytes there? */
static bool choices_fit(const dp_params *p, const tsl_unit *u, const dp_saved_choices *c,
                        int64_t lanes, int64_t left) {
  const int64_t width = dp_width(p), value = (int64_t)tsl_type_bytes((tsl_type)p->type);
  const bool top = c->kind == DP_SAVED_TOP;
  if (p->mode != DP_RECOVER || c->lo != u->lo[0] || c->hi != u->hi[0] || c->from != u->lo[1] ||
      c->to < u->hi[1] || c->to > width || c->end <= u->lane || c->end > lanes ||
      (!top && c->kind != (dp_is_sack(p) ? DP_SAVED_BITS : DP_SAVED_AMOUNTS)))
    return false;
  if (top && (c->from != 0 || c->to != width)) return false;
  return c->bytes == (top ? width * value : dp_choice_bytes(p, c->hi - c->lo, c->to - c->from)) &&
         dp_saved_choices_bytes(c) <= left;
}

tsl_err dp_saved_choices_next(const dp_params *p, const tsl_unit *u, int64_t lanes, dp_saved *saved,
                              dp_saved_choices *choices, bool *more) {
  int64_t head[CHOICES_HEAD];
  *more = saved->left > 0;
  if (!*more) return TSL_OK;
  if (saved->left < (int64_t)sizeof head) return dp_saved_bad(u);
  memcpy(head, saved->at, sizeof head);
  *choices = (dp_saved_choices){.lo = head[0],
                                .hi = head[1],
                                .from = head[2],
                                .to = head[3],
                                .end = head[4],
                                .kind = head[5],
                                .bytes = head[6],
                                .data = saved->at + sizeof head};
  if (!choices_fit(p, u, choices, lanes, saved->left) ||
      (choices->kind == DP_SAVED_TOP && !are_possible(p, p->type, choices->data, dp_width(p))))
    return dp_saved_bad(u);
  saved->at += dp_saved_choices_bytes(choices);
  saved->left -= dp_saved_choices_bytes(choices);
  return TSL_OK;
}
