/**
 * @file dp.h
 * The family dp: dynamic programming tables, as seen by its backends.
 *
 * A table M has rows 0..n and columns 0..m (boundary included). It is filled by one of three
 * engines, into which the eight patterns fold by flipping and transposing (dp_params.flip):
 *
 *   WAVEFRONT  M[i][j] from left, up, up-left         (NOSE; SENO, SONE-like corners by flips)
 *   ROWS       M[i][.] from rows above, any columns   (RUD; RDU, CLR, CRL by flips and transposes)
 *   INTERVAL   M[i][j], i <= j, from M[i][k], M[k'][j] inside [i, j]   (SONE; NESO by flips)
 *
 * A unit is a tile, half-open, lo[0]..hi[0] and lo[1]..hi[1]:
 *
 *   WAVEFRONT  letters of a, letters of b, from 0; that is rows lo[0]+1..hi[0] of the table and
 *              columns lo[1]+1..hi[1]
 *   ROWS       items from 0, which are rows lo[0]+1..hi[0] of the table, and columns 0..m of the
 *              table; STAGECOACH: stages 1..n-1 and states 0..m-1
 *   INTERVAL   posts a and b, multiples of DP_BOX or the last post; see below. PARTITION: lo[2] is
 *              the sweep: 0 inside of a and b, from the diagonal on, 1 outside, towards it
 *
 * Its lane (a strip of columns, or a tile of the triangle) belongs to one rank for the whole phase;
 * its stage orders the lanes in time. See contract.h, WAVE.
 *
 * Edges, the same bytes from sockets and cards. For a tile of R = hi[0] - lo[0] rows, the first of
 * which is row i of the table:
 *   LCS        uint32 [ceil(R/32)]      bit r: M[i+r][j] - M[i+r-1][j] of the last column j is 1
 *   EDIT unit  uint32 [2][ceil(R/32)]   the same: is +1 (first part), -1 (second part)
 *   affine     int32 [R + 1][2]         H and E' of the last column; entry 0 is row i - 1;
 *                                       E' = max(E, H - open) is the best score of which a gap in
 *                                       the next column goes on; in entry 0 DP_MINUS_INFINITY,
 *                                       or of LOCAL a score that some cell of the table has. LOCAL
 *                                       leaves cells out: what is then less is any (adr/0039)
 *   EDIT, DTW  value [R + 1]            M of the last column, entry 0 is row i - 1
 *   ROWS       value [columns]          the last row of the tile
 *   INTERVAL   value [R][columns]       the tile, zero where a >= b
 *   PARTITION  f64, of the first sweep, lo[2] = 0: exponents of tiles; V, S and M; D and R of the
 *              first row, D of the last column; F of the columns, G of the rows, and their
 *              exponents, 0 where lo[0] > 0, hi[1] < N. Of the second: exponents, oV and oD; oR of
 *              the last row, oS of the first column; F[n] as a number and its exponent. What these
 *              are: rna_sums.h
 *   FOLD       i32   [2 R columns + 2 columns + R]  V and M of the tile, both [R][columns] and zero
 *                                       where a >= b; D of its first row and of its last column;
 *                                       F of its columns, 0 where lo[0] > 0. M and D as -M, -D,
 *                                       -RNA_NONE where there is none
 *
 * Intervals. Posts 0..N-1, N = dp_posts, and a value X[a][b] for each pair a < b:
 *
 *   X[a][a+1] = base,   X[a][b] = best over a < k < b of X[a][k] + X[k][b] + term, then finish
 *
 *   MATRIX_CHAIN  N = n + 1, base 0, min, term d[a] d[k] d[b]; X[a][b] multiplies matrices a..b-1
 *   SEARCH_TREE   N = n + 2, keys 1..n lie at posts 1..n; base gaps[a]; min; finish adds the weight
 *                 high[b] - low[a] of keys a+1..b-1 and gaps a..b-1 (dp_tree_sums); k is the root
 *   NUSSINOV      N = n + 1, X[a][b] = pairs of letters a..b-1, base 0, max; finish: where letters
 *                 a and b-1 pair and b-1 - a > span, also X[a+1][b-1] + 1
 *
 *   FOLD          N = n + 1, energies in 0.01 kcal/mol, min: V[a][b] of letters a..b-1 whose ends
 *                 pair: a hairpin, a loop with another pair inside, or a multiloop closed around
 *                 D[a+1][b-1]; M[a][b] of a multiloop with a stem or more: V, M[a+1][b],
 *                 M[a][b-1], D[a][b] = best over k of M[a][k] + M[k][b]; F[b] of letters 0..b-1:
 *                 F[b-1], F[a] + V[a][b]. X is M; tables and the field table have V
 *
 * Ties are resolved the same way on every device. Walking back:
 *   LCS        left where M[i][j-1] = M[i][j], else up where M[i-1][j] = M[i][j], else a match
 *   EDIT, DTW  diagonal where it attains M[i][j], else left, else up
 *   affine     end of a local alignment, pair, left, up; a gap is opened where opening attains its
 *              value, else extended; best cell: largest score, smallest row, smallest column; so is
 *              the end where ends are free (dp_ends.h)
 *   KNAPSACK   an item is taken only where that is better (unbounded: once more)
 *   ALLOTMENT  the smallest amount; STAGECOACH the smallest state; intervals the smallest split,
 *              NUSSINOV the pair only where no split attains the value
 */
#pragma once

#include "contract.h"
#include "dp_order.h"
#include "fn.h"
#include "letters_scores.h"

TSL_C_BEGIN

/** DP_RECURRENCE, DP_BINOMIAL, ...: the rows of dp_ready.def, which says what each is. */
typedef enum dp_problem {
#define DP_READY(NAME, ...) DP_##NAME,
#include "dp_ready.def"
#undef DP_READY
  DP_N_PROBLEMS
} dp_problem;

/** What is kept. */
typedef enum dp_mode {
  DP_VALUE,   /**< the goal only; linear memory */
  DP_TABLE,   /**< the whole table to the file */
  DP_RECOVER, /**< the goal and a solution that attains it, scored again */
  DP_N_MODES
} dp_mode;

/** Ends of sequences that cost nothing where they stand alone: bits of free_ends, and the deck's
 *  words in this order. */
typedef enum dp_free_end {
  DP_A_BEGIN = 1, /**< M[i][0] = 0 */
  DP_A_END = 2,   /**< the optimum may lie in the last column */
  DP_B_BEGIN = 4, /**< M[0][j] = 0 */
  DP_B_END = 8    /**< the optimum may lie in the last row */
} dp_free_end;

enum {
  DP_MAX_LANES = 65536,
  DP_BOX = 256,                     /**< side of an interval tile */
  DP_MINUS_INFINITY = INT32_MIN / 2 /**< affine: E' of entry 0 of an edge; no gap can end */
};

/**
 * Parameters of a dp problem; plain data, the same on all ranks.
 *
 *   problem       n            m            field A            field B           field C
 *   lcs edit      length of a  length of b  u8 [n] letters     u8 [m] letters
 *   global local  length of a  length of b  u8 [n] letters     u8 [m] letters
 *   dtw           length of a  length of b  type [n]           type [m]
 *   knapsack(s)   items        capacity     i64 [n] weights    i64 [n] values
 *   binomial      n            k
 *   allotment     activities   amount       type [n][m + 1]: returns r_i(k)
 *   stagecoach    stages       states       type [n - 1][m][m]: costs w_t(k, s) of going from
 *                                           state k to s       type [m] start
 *   matrix_chain  matrices     n            i64 [n + 1] dimensions
 *   search_tree   keys         n            type [n] keys      type [n + 1] gaps
 *   nussinov      letters      n            u8 [n] letters, 0..3 = A C G U, others above
 *   fold          letters      n            u8 [n] the same    i32 [] rna_energy
 *                                           field C: i32 [n + 1] energies of hairpins by size
 *   partition     letters      n            u8 [n] the same    f64 [] rna_exact
 *                                           field C: f64 [n + 1] energies of hairpins by size
 *   recurrence    rows - 1     columns - 1  u8 [] dp_equation  and more fields, dp_recur_problem.h
 *
 * Types: i32 for sequences, i64 for knapsacks, binomial and matrix_chain; search_tree i64, f64; dtw
 * f32, f64; allotment and stagecoach i32, i64, f32, f64. The family has proven that integers do not
 * overflow (affine: all scores below 2^30), except for the exact binomial, whose backend looks.
 */
typedef struct dp_params {
  int32_t problem;   /**< dp_problem that is computed: PROBLEM of the deck's row */
  int32_t engine;    /**< dp_engine */
  int32_t mode;      /**< dp_mode */
  int32_t type;      /**< tsl_type of values */
  int32_t host;      /**< RECOVER: on the host although a card computed the table */
  int32_t unit;      /**< EDIT: all three costs are 1; LCS: true */
  int32_t square;    /**< DTW: (x - y)^2 instead of |x - y| */
  int32_t span;      /**< NUSSINOV: letters at least between the two of a pair */
  int32_t wobble;    /**< NUSSINOV: G-U pairs too */
  int32_t letters;   /**< sequences: letters are 0..letters-1 */
  int32_t pattern;   /**< RECURRENCE: dp_pattern, as found or confirmed by the checker */
  int32_t values;    /**< RECURRENCE: of a cell (dp_code) */
  int32_t depth;     /**< RECURRENCE in rows: how many rows above are read, 0: any (dp_code) */
  int32_t interpret; /**< RECURRENCE: no compiled code */
  int32_t band;      /**< LCS, EDIT, GLOBAL: a band of diagonals may do (dp_diagonals.h) */
  int32_t free_ends; /**< EDIT, GLOBAL: dp_free_end; 0: none */
  int64_t n, m;
  int64_t reach[2]; /**< RECURRENCE in rows: columns read to either side (dp_code) */
  int64_t strip;    /**< RECURRENCE, RECOVER: of so many folded rows the last ones are
                                        kept (dp_recur_kept); 0: the whole table is */
  int64_t modulus;  /**< BINOMIAL: prime or not, > 0; 0: exact in i64 */
  int64_t insert, remove, replace; /**< EDIT: costs >= 0 */
  int64_t least;                   /**< LOCAL: a score that some alignment has (dp_anchors.h) */
  int64_t budget;                  /**< RECOVER: bytes of memory that a rank may use for it */
  int64_t special_rows;            /**< RECOVER: bytes of a rank's rows on disk; 0: in memory */
  double kt;                       /**< PARTITION: kcal/mol */
  double threshold;                /**< PARTITION: least probability of a pair that is listed */
  letters_scores scores;           /**< GLOBAL, LOCAL */
  char special_folder[256];        /**< where they are */
} dp_params;

/**
 * Indices into problem->fields; A, B, C are IN as above (length 0 where a problem has none).
 *   goal   OUT SUM i64 or f64 [1]  the optimum; each worker adds its part: one has it, LCS and EDIT
 *          with unit costs the sum of each one's columns (EDIT: the first lane's owner adds n);
 *          nothing for LOCAL, STAGECOACH and free ends, where the root takes it from best
 *   best   OUT GATHER i64 [DP_MAX_LANES][dp_best_width] hidden, given by the lane's last tile.
 *          LOCAL: (score, i, j) of the best cell of a lane with smallest i, then j (from 1), 0 when
 *          none is positive, and cells that its band left out: 0 but in the band's first lane, -1
 *          when the band goes on from a state that another had.
 *          STAGECOACH: (cost as the bits of goal's type, stage n - 1, state) of the cheapest last
 *          state. Free ends: dp_ends.h
 *   path   OUT LIST i64 [.][.]     RECOVER: the solution, appended by the family's finish; fold and
 *                                  partition also structure, partition pairs, probabilities, paired
 *   table  OUT GATHER type; streamed for TABLE, in memory and hidden for RECOVER of intervals:
 *          [n + 1][m + 1] with boundary; [n][m] DTW, STAGECOACH; X [posts][posts] intervals;
 *          [n][n] partition
 * goal is always there, the others as problem and mode ask; dp_field finds them.
 *
 * Steps of a walk (tsl_backend.traceback), from the end of the solution to its beginning:
 *   lcs                  (i, j) letters that match, from 0
 *   edit global local    (dp_op, length)
 *   dtw                  (i, j) cells, from 0
 *   knapsack, allotment  (item, how many) where that is above 0; one item in several steps when
 *                        another lane is reached in between
 *   stagecoach           (stage, state), from 0
 * The cursor: at[0] = i, at[1] = j, table row and column (STAGECOACH: stage and state); at[2] =
 * matrix (affine: 0 H, 1 E gap in a, 2 F gap in b).
 * A walk ends (lane -1) at row 0, WAVEFRONT at column 0 as well (ends that are free or not are
 * added to its steps by the root), LOCAL where the score is 0,
 * STAGECOACH with stage 0.
 */
/** LOCAL: where a cursor has the score that the path has up to there: of H, or of the gap that it
 *  is in. */
enum { DP_CURSOR_SCORE = 3 };
enum dp_op { DP_MATCH, DP_MISMATCH, DP_INSERT, DP_DELETE }; /* insert: a letter of b alone */
enum { DP_A, DP_B, DP_C, DP_GOAL };

/** A pair of places, counted from 0, in the sequences of rows and of columns. */
typedef struct dp_pair {
  int64_t row, column;
} dp_pair;

/** The best cell of a local alignment: largest score, then smallest row, then smallest column. */
typedef struct dp_best {
  int64_t score;       /**< 0: nothing aligns; row and column are then 0 */
  int64_t row, column; /**< 1-based: rows of the table, columns of the band */
} dp_best;

/** Step of an alignment, from the end to the begin. */
typedef enum dp_step {
  DP_STEP_PAIR, /**< row and column letters paired, equal or not */
  DP_STEP_LEFT, /**< column letter against a gap (E) */
  DP_STEP_UP    /**< row letter against a gap (F) */
} dp_step;

/** Where a walk back through the tiles of a band stands. Cells are 1-based in the table, columns
 *  in the band. */
typedef struct dp_place {
  int64_t row, column;
  int32_t state; /**< DP_STEP_PAIR: at H; DP_STEP_LEFT, DP_STEP_UP: inside that gap */
  int32_t done;  /**< DP_LOCAL: 1 where the alignment begins */
} dp_place;

static inline const dp_params *dp_params_of(const tsl_problem *problem) {
  return (const dp_params *)problem->params;
}

/** Element k of an array of a type of values; long double holds all of them. */
static inline long double dp_number(int32_t type, const void *values, int64_t k) {
  if (type == TSL_I32) return ((const int32_t *)values)[k];
  if (type == TSL_I64) return ((const int64_t *)values)[k];
  if (type == TSL_F32) return ((const float *)values)[k];
  return ((const double *)values)[k];
}

static inline long double dp_field_number(const tsl_field *field, int64_t k) {
  return dp_number(field->type, field->data, k);
}

/** Set the goal, of TSL_I64 or TSL_F64. */
static inline void dp_goal_set(tsl_field *goal, long double value) {
  if (goal->type == TSL_I64)
    *(int64_t *)goal->data = (int64_t)value;
  else
    *(double *)goal->data = (double)value;
}

/** Is a best cell, {value, row, column}, better than another: larger, or the first of equals? */
static inline bool dp_best_better(const int64_t x[3], const int64_t y[3]) {
  if (x[0] != y[0]) return x[0] > y[0];
  return x[1] < y[1] || (x[1] == y[1] && x[2] < y[2]);
}

/** Index of an optional field ("best", "path", "table"), or -1. */
static inline int dp_field(const tsl_problem *problem, const char *name) {
  return tsl_problem_find(problem, name);
}

/* ------------------------------------------------------------------------ ready problems */

struct dp_deck;

/** What the steps of a solution are. */
typedef enum dp_steps_kind {
  DP_STEPS_PLACES, /**< cells, letters, states */
  DP_STEPS_RUNS,   /**< (dp_op, length); neighbours of one operation are joined */
  DP_STEPS_AMOUNTS /**< (item, how many); those of one item are joined */
} dp_steps_kind;

/** A ready problem: a row of dp_ready.def. What a row does not name is NULL, 0 or false. */
typedef struct dp_ready {
  dp_problem problem; /**< what is computed */
  /* of the deck's word */
  const char *needs, *takes; /**< keys that must, and that may be given, with blanks between */
  const char *goal;          /**< what the optimum is, as the summary and axes name it */
  /** Defaults that follow from the word, values that it fixes, and what it refuses; NULL: none. */
  tsl_err (*settle)(const tsl_deck *deck, struct dp_deck *s);
  /* of what is computed */
  dp_engine engine;
  tsl_type type; /**< of values; 0: the deck's `type` */
  /** Fill params and the IN fields from the section. */
  tsl_err (*load)(const tsl_deck *deck, struct dp_deck *s, tsl_problem *problem);
  /** M[0][k], or M[k][0] where rows; NULL: zeros. */
  int64_t (*boundary)(const dp_params *p, int64_t k, bool rows);
  /** ROWS: columns to the left that rows [lo, hi) reach at most; NULL: all of them. */
  int64_t (*reach)(const tsl_problem *problem, int64_t lo, int64_t hi);
  /** Steps of the innermost loop for a cell of the tile, on the average; NULL: one. */
  double (*items)(const dp_params *p, const tsl_unit *unit);
  /** Score of the recovered solution again from the input, compared with the goal; sets mismatch.
   *  NULL: there is none, or it is an interval's. */
  void (*rescore)(const tsl_problem *problem);
  dp_steps_kind steps;
  int columns;       /**< numbers of a record of the path; 0: nothing can be recovered */
  const char *path;  /**< what these are */
  const char *table; /**< what the table holds; NULL: it has a boundary */
  int history;       /**< bits kept of a cell to recover a solution, where values are no bits */
  int bits;          /**< with unit costs edges and states are this many bits; 0: always values */
  bool affine;       /**< gaps have costs to open and to extend: edges are pairs of values */
  bool best;         /**< the optimum is that of the field best */
} dp_ready;

extern const dp_ready dp_ready_rows[DP_N_PROBLEMS];

/** The row of what is computed. */
static inline const dp_ready *dp_ready_of(const dp_params *p) {
  return &dp_ready_rows[p->problem];
}

/** Boundary of the table: M[0][k], or M[k][0] where rows; not of DTW. */
static inline int64_t dp_boundary(const dp_params *p, int64_t k, bool rows) {
  const dp_ready *ready = dp_ready_of(p);
  if (p->free_ends & (rows ? DP_A_BEGIN : DP_B_BEGIN)) return 0;
  return ready->boundary != NULL ? ready->boundary(p, k, rows) : 0;
}

/** Is the optimum that of the field best? */
static inline bool dp_has_best(const dp_params *p) {
  return dp_ready_of(p)->best || p->free_ends != 0;
}

/** Numbers that a lane gives in the field best. */
static inline int64_t dp_best_width(const dp_params *p) {
  return p->free_ends != 0 ? 5 : p->problem == DP_LOCAL ? 4 : 3;
}

/** Posts of an interval problem. */
static inline int64_t dp_posts(const dp_params *p) {
  return p->n + (p->problem == DP_SEARCH_TREE ? 2 : 1);
}

/** Columns that lanes share out: letters of b, states, or columns 0..m of a sweep. */
static inline int64_t dp_width(const dp_params *p) {
  return p->engine == DP_ROWS && p->problem != DP_STAGECOACH ? p->m + 1 : p->m;
}

/** Does the table have a row 0 and a column 0 that hold the boundary? */
static inline bool dp_has_boundary(const dp_params *p) {
  return dp_ready_of(p)->table == NULL;
}

/** May letters x and y of an RNA pair? Codes of LETTERS_RNA: A C G U. */
static inline bool dp_pairs(const dp_params *p, int x, int y) {
  return x + y == 3 || (p->wobble && x + y == 5 && x != y && x < 4 && y < 4);
}

/** A box of an interval problem's pairs of posts: a in [lo[0], hi[0]), b in [lo[1], hi[1]); lo[2]:
 *  the sweep, as of the unit. */
typedef struct dp_box {
  int64_t lo[3], hi[3];
} dp_box;

/** The lane of a column of a wavefront (from 0) or sweep. @param[in] units  all tiles, shape [n] */
int64_t dp_lane_of(const tsl_unit *units, int64_t n, int64_t column);
/** First unit of units after k that does not continue the lanes from k on; at most n. */
int64_t dp_units_end(const tsl_unit *units, int64_t n, int64_t k);

/** Words of the deck for dp_problem and dp_mode, NULL-ended. */
extern const char *const dp_problem_words[];
extern const char *const dp_mode_words[];

extern const tsl_family tsl_family_dp;

TSL_C_END
