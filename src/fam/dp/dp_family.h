/**
 * @file dp_family.h
 * What the files of the family share among themselves: the deck section and the steps of create.
 */
#ifndef TSL_FAM_DP_FAMILY_H
#define TSL_FAM_DP_FAMILY_H

#include "dp.h"
#include "dp_recur_deck.h"
#include "dp_recur_problem.h"

/** Section `dp:`; the keys and their meaning are in dp_deck.c. */
typedef struct dp_deck {
  int32_t problem, mode, type, recover, alphabet, distance;
  dp_source a, b, weights, values, dimensions, keys, gaps, returns, costs, start;
  int64_t capacity, n, k, modulus, span, memory;
  bool wobble;
  struct {
    int64_t insert, remove, replace;
  } edit;
  struct {
    int64_t match, mismatch, open, extend;
    char *matrix;
  } scores;
  char *alignment; /**< text file with the alignment */
  dp_recur_deck recur;
  bool interpret;
} dp_deck;

/** Words of `alphabet`. */
typedef enum dp_alphabet { DP_BYTES, DP_DNA, DP_RNA, DP_PROTEIN } dp_alphabet;

extern const tsl_key dp_keys[];

/** Refuse given keys that the problem or mode does not use; fill in the defaults of the others. */
tsl_err dp_deck_settle(const tsl_deck *deck, dp_deck *s);

/**
 * Letters of a source as codes, see dp_letters.c.
 * @param[in]  key  "dp.a", for messages
 * @param[in]  of   the letters that `mutate` copies, or NULL
 * @param[out] codes  [*n] from tsl_alloc; NULL for n = 0
 */
tsl_err dp_read_letters(const tsl_deck *deck, const char *key, const dp_source *source,
                        int32_t alphabet, const uint8_t *of, int64_t n_of, uint8_t **codes,
                        int64_t *n);

/** The character of a code. */
char dp_letter(int32_t alphabet, uint8_t code);

/** Number of different codes of an alphabet. */
int32_t dp_alphabet_size(int32_t alphabet);

/**
 * Text of a FASTA file's record (from 1), or of a plain text without line ends; see dp_fasta.c.
 * @param[out] text  [*n] not zero-ended, from tsl_alloc
 * @param[out] name  [64] the record's name, "" for plain text
 * @return TSL_ERR_INPUT when the file has fewer records
 */
tsl_err dp_read_fasta(const char *path, int64_t record, char **text, int64_t *n, char name[64]);

/** The same for a text in memory; path for messages. Global for tests. */
tsl_err dp_parse_fasta(const char *path, const char *bytes, int64_t n_bytes, int64_t record,
                       char **text, int64_t *n, char name[64]);

/** A score matrix in the format of NCBI's BLOSUM files, over the protein or DNA letters. */
tsl_err dp_read_scores(const char *path, int32_t alphabet, dp_scores *scores);

/**
 * Numbers of a source as rows of a table.
 * @param[in]  columns  numbers of a row; 0: whatever there is (values: one column)
 * @param[out] values   [*rows][columns] from tsl_alloc
 */
tsl_err dp_read_numbers(const tsl_deck *deck, const char *key, const dp_source *source,
                        int64_t *columns, double **values, int64_t *rows);

/** A file named in the deck, relative to the deck's folder; free with tsl_free. */
tsl_err dp_find_path(const tsl_deck *deck, const char *file, char **path);

/** Append an IN field. @param[in] data  [n] of type, from tsl_alloc; taken over, even on error */
tsl_err dp_add_input(tsl_problem *problem, const char *name, const char *doc, tsl_type type,
                     int64_t n, void *data);

/** Append an OUT field: type, combine, rank, shape, stream and hidden as in ask. */
tsl_err dp_add_output(tsl_problem *problem, const tsl_field *ask, const char *name,
                      const char *doc);

/** Fill params and the IN fields from the section. */
tsl_err dp_load(const tsl_deck *deck, dp_deck *s, tsl_problem *problem);

/** What the root keeps beside params and fields; problem->own. */
typedef struct dp_own {
  int64_t *lane_end; /**< [n_lanes] one past the last column of each lane; set by dp_units */
  int64_t n_lanes;
  int64_t (*steps)[2]; /**< [n_steps] as the walk gave them: from the end of the solution */
  int64_t n_steps, room;
  int64_t begin[2]; /**< i, j of the solution's first letters or cell, set by dp_finish */
  int64_t end[2];   /**< i, j where the walk began */
  int32_t alphabet;
  char *alignment;    /**< file to write, owned by the deck; NULL none */
  char mismatch[160]; /**< why the recovered solution does not attain the goal; empty: it does */
  dp_recur *recur;    /**< RECURRENCE */
  char facts[1024];   /**< RECURRENCE: what the dependency checker found */
} dp_own;

static inline dp_own *dp_own_of(const tsl_problem *problem) {
  return (dp_own *)problem->own;
}

tsl_err dp_own_create(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem);

/** `problem: recurrence` from the section: params, all fields and what the root keeps; the
 *  dependency checker has agreed. */
tsl_err dp_recur_create(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem);

/** Best row of the field "best": of largest score, or of least cost, the first of equals. */
const int64_t *dp_best_of(const tsl_problem *problem);

/** Score of the recovered solution again from the input, compared with the goal; sets mismatch. */
void dp_rescore(const tsl_problem *problem);

/** Recover an interval problem's solution from the table, score it, give it to store. */
tsl_err dp_recover_interval(tsl_problem *problem, const tsl_store *store);

/** Write the alignment file. */
tsl_err dp_write_alignment(const tsl_problem *problem);

/** Deterministic numbers: the k-th 64 random bits of a seed (Steele 2014, splitmix64). */
uint64_t dp_random(uint64_t seed, uint64_t k);

tsl_err dp_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);
void dp_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction, tsl_unit *out);
void dp_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
               int64_t hi[3]);
int64_t dp_predecessors(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                        int64_t id, int64_t *list, int64_t room);
int64_t dp_edge_bytes(const tsl_problem *problem, const tsl_unit *unit);
tsl_err dp_recur_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);
void dp_recur_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                     tsl_unit *out);
void dp_recur_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                     int64_t hi[3]);
int64_t dp_recur_predecessors(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                              int64_t id, int64_t *list, int64_t room);
int64_t dp_recur_edge_bytes(const tsl_problem *problem, const tsl_unit *unit);
/** The goal from what the workers gave, and the path. */
tsl_err dp_recur_finish(tsl_problem *problem, const tsl_store *store);
tsl_err dp_walk_begin(tsl_problem *problem, tsl_cursor *cursor);
tsl_err dp_walk_steps(tsl_problem *problem, const int64_t (*steps)[2], int64_t n);
tsl_err dp_finish(tsl_problem *problem, const tsl_store *store);
tsl_err dp_summary(const tsl_problem *problem, tsl_summary *summary);
void dp_destroy(tsl_problem *problem);

#endif
