/**
 * @file dp_bands.h
 * WAVEFRONT: bands of neighbouring lanes, which an engine computes as one: their edges, what a
 * recovery keeps of them, their traceback and checkpoints.
 *
 * Edges, states and what is kept are memory of the device. An edge for another rank goes to pinned
 * host memory of two tiles in turn, or is read where it is when the host has the device's memory.
 * Tiles are queued; whoever calls waits once for all of them.
 */
#pragma once

#include "dp_ends.h"
#include "dp_kept.h"
#include "dp_steps.h"

TSL_C_BEGIN

/** Where a tile's cells go in the mode TABLE: of row lo + r and column c to [r * ld + c]. */
typedef struct dp_window {
  void *cells; /**< host; NULL: nowhere */
  int64_t ld;
} dp_window;

/** What all engines know of their band. */
typedef struct dp_band_head {
  const dp_context *c; /**< of the worker that has opened it */
  int64_t top;         /**< first row that the engine knows */
  int64_t lo, hi;      /**< columns of the table */
  int64_t row;         /**< the last tile's end */
  int64_t keep_lo;     /**< first row of the tile that was kept */
} dp_band_head;

/** An engine of bands. Rows and columns of tiles are letters of the table, from 0. Edges and states
 *  are memory of the device. open, tile, state_get and state_put only queue, start too. Static
 *  storage. */
typedef struct dp_band_engine {
  /** REQUIRED. Bytes of an engine of a band: a struct that begins with dp_band_head, zeroed but for
   *  that. */
  int64_t bytes;
  /** REQUIRED. Its columns, whose tiles will have so many rows from `top` on only; at the boundary
   *  row above the table. top > 0: a state and left edges will be given. */
  tsl_err (*open)(void *engine, int64_t rows);
  /** REQUIRED. Free what open has allocated, also after its error. */
  void (*close)(void *engine);
  /** REQUIRED. Rows [lo, hi), which continue those before; edges as in dp.h, left NULL: the
   *  boundary. right may be NULL. keep: what trace needs, for these rows only. */
  tsl_err (*tile)(void *engine, int64_t lo, int64_t hi, const void *left, void *right, bool keep,
                  dp_window window);
  /** REQUIRED for RECOVER. Bytes that keep needs for so many rows and columns. */
  int64_t (*keep_bytes)(const void *worker, int64_t rows, int64_t columns);
  /** REQUIRED. Bytes of a state of so many columns: the first of dp_state_bytes, of which the
   *  others are zero. */
  int64_t (*state_bytes)(const dp_params *p, int64_t columns);
  /** REQUIRED. State after the last row: what begins a tile at that row. Bits beyond the last
   *  column may be any. */
  tsl_err (*state_get)(void *engine, void *state);
  tsl_err (*state_put)(void *engine, int64_t row, const void *state);
  /** REQUIRED for RECOVER. Go back through the rows kept, from cell (at[0], at[1]) of the table to
   *  their top or the band's left side or the end (lane -1). */
  tsl_err (*trace)(void *engine, tsl_cursor *cursor, dp_steps *steps);
  /** REQUIRED, but for LOCAL. This band's part of the goal, after the last row; waits.
   *  last: it ends with the last column. */
  tsl_err (*goal)(void *engine, bool last, double *goal);
  /** REQUIRED for LOCAL. (score, row, column) of the best cell of the band in the table; score 0:
   *  none; waits. */
  tsl_err (*best)(void *engine, int64_t best[3]);
  /** REQUIRED for LOCAL. Take it over from a checkpoint, before the first tile. */
  tsl_err (*best_put)(void *engine, const int64_t best[3]);
  /** OPTIONAL, default tiles of a band do not overlap. tile in two halves: up to TSL_MOST_STARTED
   *  are started and not finished; right is pinned host memory or NULL. */
  tsl_err (*start)(void *engine, int64_t lo, int64_t hi, const void *left, void *right);
  /** REQUIRED with start. Would finish not wait? */
  bool (*ended)(const void *engine);
  /** REQUIRED with start. Wait for the one started first; its seconds. */
  tsl_err (*finish)(void *engine, double *seconds);
  /** OPTIONAL, default none. LOCAL: cells of the band left out so far; waits. */
  tsl_err (*pruned)(void *engine, int64_t *cells);
  /** OPTIONAL, default all cells. LOCAL, after open: only what may lie on a path of this score that
   *  ends in cell (at[0], at[1]) of the table is wanted (dp_bands_region.c). */
  tsl_err (*aim)(void *engine, const int64_t at[2], int64_t score);
  /** OPTIONAL, default one edge a pass. LOCAL: as tile, with the edges right of each `every`
   *  columns, of which the band has a multiple, one behind the other. */
  tsl_err (*tile_sides)(void *engine, int64_t lo, int64_t hi, const void *left, int64_t every,
                        void *sides);
  /** REQUIRED with tile_sides. `every` is a multiple of this. */
  int64_t every;
} dp_band_engine;

/** Open an engine for columns [lo[1], hi[1]), and rows [lo[0], hi[0]) of tiles.
 *  @param[in]  c    lives as long as the engine
 *  @param[out] out  for dp_band_engine_close; NULL after an error */
tsl_err dp_band_engine_open(const dp_band_engine *type, const dp_context *c, const dp_box *cells,
                            void **out);
/** NULL is accepted. */
void dp_band_engine_close(const dp_band_engine *type, void **engine);
/** Compute a tile; the engine's head says what came last. */
tsl_err dp_band_engine_tile(const dp_band_engine *type, void *engine, int64_t lo, int64_t hi,
                            const void *left, void *right, bool keep, dp_window window);

/** What an engine that leaves out cells below a score it knows is told so that it leaves out those
 *  from which a path to a cell does not attain that path's score: rows and columns that are left,
 *  and the score, all of them more by as many pairs as the table can have. So no score that the
 *  engine finds is above it, for H may have been higher on the way there. */
typedef struct dp_aim {
  int64_t rows, columns, known;
} dp_aim;

/** Largest score of a pair, at least 0. */
static inline int64_t dp_pair_most(const dp_params *p) {
  int64_t most = 0;
  for (int x = 0; x < p->scores.alphabet; x++)
    for (int y = 0; y < p->scores.alphabet; y++)
      most = p->scores.s[x][y] > most ? p->scores.s[x][y] : most;
  return most;
}

/** @param[in] top, lo  first row and column of the engine  @param[in] at  the path's end */
static inline dp_aim dp_aim_of(const dp_params *p, int64_t top, int64_t lo, const int64_t at[2],
                               int64_t score) {
  const int64_t more = p->n < p->m ? p->n : p->m;
  return (dp_aim){at[0] - top + more, at[1] - lo + more, score + dp_pair_most(p) * more};
}

/** Rows that were computed together: what their recovery needs. */
typedef struct dp_kept_rows {
  int64_t lo, hi;
  dp_kept top;  /**< state above them */
  dp_kept left; /**< edge; none: the boundary */
} dp_kept_rows;

/** Neighbouring lanes that are computed as one. */
typedef struct dp_band {
  int64_t lo, hi;     /**< columns, from 0 */
  int64_t lanes[2];   /**< [first, last + 1) */
  bool past;          /**< of a run before this one: what is kept of it, no more */
  int64_t row;        /**< rows done */
  bool resumed;       /**< the first of them not by this band */
  void *engine;       /**< past: NULL */
  dp_buffer right;    /**< edge of the last tile, which begins with row right_lo */
  int64_t right_lo;   /**< -1: none */
  dp_buffer out[2];   /**< pinned: the same of two tiles in turn, which begin with rows out_lo; */
  int64_t out_lo[2];  /**< unused where the table ends, or the host has the device's memory */
  int turn;           /**< out[turn] is the next tile's */
  dp_kept_rows *kept; /**< [n_kept], RECOVER */
  int64_t n_kept, kept_room;
  void *image; /**< state after row image_row, host; NULL: none */
  int64_t image_row;
  dp_last_column column; /**< a_end, with the last column: of the rows that were looked at */
} dp_band;

/** An edge of another rank. */
typedef struct dp_edge {
  int64_t column, row; /**< one past its column; first row */
  dp_buffer data;
} dp_edge;

/** The bands of a worker; zero-initialise, dp_bands_open, dp_bands_clear. */
typedef struct dp_bands {
  const dp_context *c;
  const dp_band_engine *engine;
  dp_band *list; /**< [n] in the order they appeared */
  int64_t n, room;
  dp_edge *edges; /**< [n_edges], at most edges_each of a column */
  int64_t n_edges, edge_room;
  int edges_each;        /**< 2 where stages overlap, else 1 */
  dp_keep keep;          /**< of all bands' kept rows */
  double again;          /**< cells computed again on the way back */
  dp_lane_states loaded; /**< from a checkpoint, host */
  dp_buffer state;       /**< of a band, on its way to or from a checkpoint */
  dp_buffer piece;       /**< right edge of a piece of a tile */
  dp_buffer side;        /**< a_begin: left edge of the table, of any rows */
  dp_buffer looked;      /**< pinned: values that the way back looks at */
} dp_bands;

/** Allocates nothing. @param[in] c  lives as long as the bands */
void dp_bands_open(dp_bands *bands, const dp_context *c, const dp_band_engine *engine,
                   int edges_each);

/** Start a phase, or end: free all bands, edges and loaded states; what dp_bands_open has set
 *  stays. Nothing may be under way. Accepts bands that were not opened. */
void dp_bands_clear(dp_bands *bands);

/* ---- tiles */

/** First unit after the band that begins with unit k: neighbouring lanes, TABLE one lane. */
int64_t dp_band_end(const dp_bands *bands, const tsl_unit *units, int64_t n, int64_t k);

/**
 * Queue the tiles of a band. RECOVER keeps the state above each piece of rows and its left edge,
 * and nothing of its cells.
 * @param[in]     units  shape [n], of one band (dp_band_end)
 * @param[in,out] parts  shape [n]; slabs of the table, filled when the device is done
 * @return TSL_ERR_INTERNAL: a tile whose rows do not follow those of its band, or without its left
 *         edge; TSL_ERR_MEMORY: what RECOVER keeps is more than dp.memory; those of the device
 */
tsl_err dp_band_run(dp_bands *bands, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Tiles whose edges and states are there. LOCAL, of the last stage: the band's best cell to their
 *  parts, in the lane that has it. Free ends: look at the last column; of the last stage: what each
 *  lane has of the end (dp_ends.h). Waits. Nothing for others. */
tsl_err dp_band_best(dp_bands *bands, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Cells of the tile in its slab; the slab's row 0 or column 0 may be the boundary. */
dp_window dp_window_of(const dp_context *c, const tsl_unit *unit, const tsl_part *part);

/** Sum this worker's parts of the goal into goal->data [1], i64 or f64; waits. Nothing where the
 *  goal comes from the field best. */
tsl_err dp_bands_goal(dp_bands *bands, tsl_field *goal);

/* ---- parts of dp_band_run, for tiles that overlap */

/** The band of n tiles, NULL when it is new. */
dp_band *dp_band_find(dp_bands *bands, const tsl_unit *units, int64_t n);
/** A new band of them, at the row where they begin. */
tsl_err dp_band_open(dp_bands *bands, const tsl_unit *units, int64_t n, dp_band **out);
/** *left: left edge of the tile `first` of band b, NULL: the boundary.
 *  @return TSL_ERR_INTERNAL: none came, or the rows do not follow those of the band */
tsl_err dp_band_left(dp_bands *bands, const dp_band *b, const tsl_unit *first, const void **left);
/** *side: left edge of so many rows of the table, zeros with a_begin; NULL: the boundary. Waits
 *  when it is made. */
tsl_err dp_bands_side(dp_bands *bands, int64_t rows, const void **side);
/** *out: pinned host memory for the right edge of a tile's rows; NULL: none is needed. */
tsl_err dp_band_out(const dp_bands *bands, dp_band *b, int64_t rows, void **out);
/** The edge of rows from lo on is on its way there. */
void dp_band_sent(dp_band *b, int64_t lo);

/** Queue: rows [from, to) of an edge of `rows` rows and the edge of these rows alone trade places
 *  by `out`; from is a multiple of 32. Entry 0 of a part does not go in, where the row before it
 *  has more (E'). */
tsl_err dp_edge_move(const dp_context *c, char *edge, int64_t rows, int64_t from, int64_t to,
                     char *part, bool out);

/* ---- edges of other ranks */

/** Copy the edge of a finished tile that ends its band to bytes [dp_edge_size].
 *  @return TSL_ERR_INTERNAL: there is none of these rows any more */
tsl_err dp_bands_edge_out(const dp_bands *bands, const tsl_unit *unit, void *bytes);

/** Queue the copy of the edge of another worker's tile; bytes may change afterwards. It replaces
 *  the oldest of edges_each of that column. */
tsl_err dp_bands_edge_in(dp_bands *bands, const tsl_unit *unit, const void *bytes);

/* ---- traceback and checkpoints */

/**
 * Go back through rows of one band that were computed together: left of the cell and above it they
 * are computed once more, within dp.memory (dp_bands_region.h).
 * @param[in]     units   all tiles, shape [n]
 * @param[in,out] cursor  at[0], at[1]: the cell; moves on, and lane becomes that of the new column
 *                        or -1
 * @return TSL_ERR_INTERNAL: this worker has no rows with that cell; TSL_ERR_MEMORY: dp.memory is
 *         too little; those of the device
 */
tsl_err dp_bands_trace(dp_bands *bands, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                       dp_steps *steps);

/** Checkpoints, as in contract.h; save and load wait. */
int64_t dp_bands_state_bytes(const dp_bands *bands, const tsl_unit *unit, int64_t stage);
tsl_err dp_bands_save(dp_bands *bands, const tsl_unit *unit, int64_t stage, void *bytes);
tsl_err dp_bands_load(dp_bands *bands, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                      int64_t lanes, const void *bytes, int64_t n);
/** Set a band that begins at row > 0 to the state loaded for its lanes; waits. */
tsl_err dp_band_resume(dp_bands *bands, dp_band *b, int64_t row);

/** b->image: the state after row b->row in host memory; waits. */
tsl_err dp_band_image(dp_bands *bands, dp_band *b);

/** Append a band without engine, edges and rows. The list may move. */
tsl_err dp_bands_add(dp_bands *bands, int64_t lo, int64_t hi, dp_band **out);

TSL_C_END
