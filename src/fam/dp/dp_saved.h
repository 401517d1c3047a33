/**
 * @file dp_saved.h
 * Checkpoints of dp: edges and states as bytes, and what is saved of a tile. The same bytes from
 * sockets and from cards, which go on from each other's.
 *
 * All parts are filled up to 8 bytes. Of a tile of a wavefront:
 *   int64 [4]  is there a state (1 or 0), then LOCAL: (score, row, column) of the best cell so far;
 *              a_end, lane of the last column: the column's best value, its row, its last value
 *   state      of the lane, when the tile is of the last finished stage (dp_state_bytes)
 *   rows       RECOVER, with the first lane of a band, as often as there are: int64 [6] columns lo,
 *              hi of the band, its last lane + 1, rows lo, hi, bytes of the left edge; the state
 *              above; the left edge
 * Of a tile of a sweep:
 *   int64      is there a row (1 or 0)
 *   values     [columns] its last row, when the tile is of the last finished stage
 *   decisions  RECOVER, with the first lane of those computed together: int64 [7] items lo, hi,
 *              columns from, to, last lane + 1, kind, bytes; then as dp_saved_kind says
 * Of a tile of an interval problem: its edge. Recurrences: dp_recur_saved.h.
 *
 * What is read is hostile: every size is checked, and wrong ones are TSL_ERR_INPUT.
 */
#pragma once

#include "dp.h"

TSL_C_BEGIN

static inline int64_t dp_padded(int64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

/** TSL_ERR_INPUT: these bytes are not of this tile. */
tsl_err dp_saved_bad(const tsl_unit *unit);

/* ------------------------------------------------------------------------ edges and states */

/** Are edges bits (dp.h)? */
static inline bool dp_edge_is_bits(const dp_params *p) {
  return dp_ready_of(p)->bits > 0 && p->unit;
}

/** Parts of bits, and words of each for so many rows or columns. */
static inline int dp_bit_parts(const dp_params *p) {
  return dp_ready_of(p)->bits;
}
static inline int64_t dp_bit_words(int64_t n) {
  return (n + 31) / 32;
}

/** Bytes of an entry of an edge that is not bits. */
static inline int64_t dp_edge_entry(const dp_params *p) {
  return dp_ready_of(p)->affine ? 8 : (int64_t)tsl_type_bytes((tsl_type)p->type);
}

/** Bytes of the edge of so many rows. */
static inline int64_t dp_edge_size(const dp_params *p, int64_t rows) {
  if (dp_edge_is_bits(p)) return 4 * dp_bit_parts(p) * dp_bit_words(rows);
  return (rows + 1) * dp_edge_entry(p);
}

/** Are states bits? */
static inline bool dp_state_is_bits(const dp_params *p) {
  return p->mode != DP_TABLE && dp_edge_is_bits(p);
}

/** Bytes of the state after a row of so many columns: LCS, EDIT unit: bits of the differences along
 *  the row, as edges have them along a column; TABLE: values [columns + 1], the first is left of
 *  them, affine then F i32 [columns]; others: affine and EDIT: H, F' i32 [2][columns]; DTW: values.
 *  F may be any number that gives the same max(F, H - open). */
int64_t dp_state_bytes(const dp_params *p, int64_t columns);

/** Columns [from, to) of a state of `columns` columns, as a state of their own. */
void dp_state_cut(const dp_params *p, const void *whole, int64_t columns, int64_t from, int64_t to,
                  void *part);

/* ------------------------------------------------------------------------------ wavefronts */

/** Bytes saved of a tile; rows: those of all its rows. 0: nothing. */
int64_t dp_saved_bytes(const dp_params *p, const tsl_unit *unit, int64_t stage, int64_t rows);

/** Is the tile's state saved? */
static inline bool dp_saved_has_state(const tsl_unit *unit, int64_t stage) {
  return unit->stage == stage - 1;
}

/** Does its lane end with the last column, in which the alignment may end? */
static inline bool dp_saved_column(const dp_params *p, const tsl_unit *unit) {
  return p->free_ends & DP_A_END && unit->hi[1] == p->m;
}

/** Write the beginning. @param[in] best  LOCAL, where the best cell of the band lies in the lane;
 *  dp_saved_column
 *  @param[out] state  where the state goes, NULL: none  @return where the rows go */
char *dp_saved_put(const dp_params *p, const tsl_unit *unit, int64_t stage, const int64_t best[3],
                   void *bytes, char **state);

/** Rows that were computed together, all columns of a band: what their recovery needs. */
typedef struct dp_saved_rows {
  int64_t from, to;      /**< columns */
  int64_t end;           /**< last lane + 1; the first is the tile's */
  int64_t lo, hi;        /**< rows */
  int64_t left_bytes;    /**< 0: the boundary is to the left */
  const char *top;       /**< state above them, [dp_state_bytes] */
  const char *left_edge; /**< [left_bytes] */
} dp_saved_rows;

int64_t dp_saved_rows_bytes(const dp_params *p, const dp_saved_rows *rows);
/** Write their numbers; top and left_edge are not read.
 *  @param[out] top, left  where these go  @return where the next rows go */
char *dp_saved_rows_put(const dp_params *p, const dp_saved_rows *rows, char *at, char **top,
                        char **left);

/** What is saved of a tile, and how far it is read; borrows the bytes. */
typedef struct dp_saved {
  const char *state; /**< NULL none; sweeps: the row */
  int64_t best[3];
  const char *at; /**< [left] what follows */
  int64_t left;
} dp_saved;

tsl_err dp_saved_open(const dp_params *p, const tsl_unit *unit, int64_t stage, const void *bytes,
                      int64_t n, dp_saved *out);
/** The next rows. @param[in] lanes  of the table  @param[out] more  false: there are none */
tsl_err dp_saved_next(const dp_params *p, const tsl_unit *unit, int64_t lanes, dp_saved *saved,
                      dp_saved_rows *rows, bool *more);

/** Does one of lanes [first, end) belong to whom own says? */
static inline bool dp_saved_wanted(const uint8_t *own, int64_t first, int64_t end) {
  for (int64_t lane = first; lane < end; lane++)
    if (own[lane]) return true;
  return false;
}

/** The state of a lane that a checkpoint had, until its band is opened. */
typedef struct dp_lane_state {
  int64_t lo, hi, row; /**< columns; rows done */
  int64_t best[3];
  void *state; /**< [dp_state_bytes] */
} dp_lane_state;

/** Zero-initialise. */
typedef struct dp_lane_states {
  dp_lane_state *list; /**< [n] */
  int64_t n, room;
} dp_lane_states;

void dp_lane_states_clear(dp_lane_states *lanes);
/** Copy the state that is saved of a tile. */
tsl_err dp_lane_states_add(const dp_params *p, dp_lane_states *lanes, const tsl_unit *unit,
                           const dp_saved *saved);
/** That of the tile's lane, or NULL. */
const dp_lane_state *dp_lane_states_find(const dp_lane_states *lanes, const tsl_unit *unit);
/** The state after `row` rows of columns [lo, hi), whose lanes are all there.
 *  @param[out] state  [dp_state_bytes] zeroed by the caller
 *  @param[out] best   LOCAL: score 0: none; free ends: of the last lane
 *  @return TSL_ERR_INTERNAL when a lane is missing */
tsl_err dp_lane_states_join(const dp_params *p, const dp_lane_states *lanes, int64_t lo, int64_t hi,
                            int64_t row, void *state, int64_t best[3]);

/* ---------------------------------------------------------------------------------- sweeps */

static inline bool dp_is_sack(const dp_params *p) {
  return p->problem == DP_KNAPSACK || p->problem == DP_KNAPSACK_UNBOUNDED;
}

typedef enum dp_saved_kind {
  DP_SAVED_BITS,    /**< knapsacks: u64 [items][words], words of 64 columns */
  DP_SAVED_AMOUNTS, /**< others: i32 [items][columns] */
  DP_SAVED_TOP      /**< value [width] the row above; decisions are made again when needed */
} dp_saved_kind;

/** Decisions of items [lo, hi) in columns [from, to). */
typedef struct dp_saved_choices {
  int64_t lo, hi, from, to;
  int64_t end;   /**< last lane + 1; the first is the tile's */
  int64_t kind;  /**< dp_saved_kind */
  int64_t bytes; /**< of data */
  const char *data;
} dp_saved_choices;

/** Bytes of bits or amounts. */
int64_t dp_choice_bytes(const dp_params *p, int64_t rows, int64_t columns);

/** Bytes saved of a tile; choices: those of all its decisions. 0: nothing. */
int64_t dp_saved_row_bytes(const dp_params *p, const tsl_unit *unit, int64_t stage,
                           int64_t choices);
int64_t dp_saved_choices_bytes(const dp_saved_choices *choices);
/** Write the beginning. @param[out] row  where the last row goes, NULL: none
 *  @return where the decisions go */
char *dp_saved_row_put(const dp_params *p, const tsl_unit *unit, int64_t stage, void *bytes,
                       char **row);
/** Write their numbers. @param[out] data  where they go  @return where the next ones go */
char *dp_saved_choices_put(const dp_saved_choices *choices, char *at, char **data);

tsl_err dp_saved_row_open(const dp_params *p, const tsl_unit *unit, int64_t stage,
                          const void *bytes, int64_t n, dp_saved *out);
tsl_err dp_saved_choices_next(const dp_params *p, const tsl_unit *unit, int64_t lanes,
                              dp_saved *saved, dp_saved_choices *choices, bool *more);

TSL_C_END
