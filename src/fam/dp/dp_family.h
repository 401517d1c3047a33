/**
 * @file dp_family.h
 * What the files of the family share among themselves: the deck section and the steps of create.
 */
#pragma once

#include "dp.h"
#include "dp_anchors.h"
#include "dp_diagonals.h"
#include "dp_letters.h"
#include "dp_others.h"
#include "dp_recur_deck.h"
#include "dp_recur_problem.h"
#include "scratch_file.h"

/** Most letters of an RNA whose structure the summary shows. */
enum { DP_SHOWN_LETTERS = 100 };

/** Section `dp:`; the keys and their meaning are in dp_deck.c. */
typedef struct dp_deck {
  int32_t problem, mode, recover, alphabet, distance, band, free_ends;
  int32_t type; /**< the key's word; tsl_type when settled */
  dp_source a, b, weights, values, dimensions, keys, gaps, returns, costs, start;
  int64_t capacity, n, k, modulus, span, memory, best;
  bool wobble;
  struct {
    int64_t insert, remove, replace;
  } edit;
  letters_scores_deck scores;
  struct {
    char *folder;
    int64_t size;
  } special_rows;
  char *alignment;    /**< text file with the alignment */
  char *parameters;   /**< FOLD: file of energies */
  char *structure;    /**< FOLD, PARTITION: text file with dots and brackets */
  char *dot_plot;     /**< PARTITION: PostScript file with the pairs */
  double temperature; /**< FOLD, PARTITION: degrees Celsius */
  int64_t dangles;    /**< FOLD, PARTITION: 0 or 2 */
  double threshold;   /**< PARTITION: least probability of a pair that is listed */
  double gamma;       /**< PARTITION: weight of pairs (rna_mea.h) */
  dp_recur_deck recur;
  bool interpret;
} dp_deck;

extern const tsl_key dp_keys[];

/** Refuse given keys that the problem or mode does not use; fill in the defaults of the others. */
tsl_err dp_deck_settle(const tsl_deck *deck, dp_deck *s);

/** Append an IN field. @param[in] data  [n] of type, from tsl_alloc; taken over unless it fails */
tsl_err dp_add_input(tsl_problem *problem, const char *name, const char *doc, tsl_type type,
                     int64_t n, void *data);

/** Append an OUT field: type, combine, rank, shape, stream, hidden and quantity as in ask. */
tsl_err dp_add_output(tsl_problem *problem, const tsl_field *ask, const char *name,
                      const char *doc);

/** Loaders and scores of the ready problems: dp_ready.load, dp_ready.rescore. */
typedef tsl_err dp_loader(const tsl_deck *deck, dp_deck *s, tsl_problem *problem);
typedef void dp_scorer(const tsl_problem *problem);
dp_loader dp_load_binomial, dp_load_sack, dp_load_allotment, dp_load_stagecoach, dp_load_texts,
    dp_load_dtw, dp_load_chain, dp_load_tree, dp_load_nussinov, dp_load_fold, dp_load_partition;
dp_scorer dp_rescore_lcs, dp_rescore_alignment, dp_rescore_sack, dp_rescore_allotment,
    dp_rescore_stagecoach, dp_rescore_dtw;

/** For the loaders: is there exactly one place where letters or numbers come from? */
tsl_err dp_check_source(const tsl_deck *deck, const char *key, bool letters);

/** For the loaders: codes of a sequence as the next IN field, the rest kept.
 *  @param[out] n  letters */
tsl_err dp_load_sequence(const tsl_deck *deck, const dp_sequence_ask *ask, tsl_problem *problem,
                         dp_sequence *kept, int64_t *n);

/** For the loaders: empty IN fields for those of DP_A to DP_C that are not there yet. */
tsl_err dp_add_unused(tsl_problem *problem);

/** What the root keeps beside params and fields; problem->own. */
typedef struct dp_own {
  int64_t *lane_end; /**< [n_lanes] one past the last column of each lane; set by dp_units */
  int64_t n_lanes;
  int64_t (*steps)[2]; /**< [n_steps] as the walk gave them: from the end of the solution */
  int64_t n_steps, room;
  int64_t begin[2]; /**< i, j of the solution's first letters or cell, set by dp_finish */
  int64_t end[2];   /**< i, j of its last ones, where the walk began; free ends: in all modes */
  int64_t wanted;   /**< LOCAL: alignments asked for; else 1 */
  letters_alignment *list; /**< [n_list] alignments after dp_finish; the first one's steps are
                                those above, others' its own */
  int64_t n_list;
  int32_t alphabet;
  dp_sequence a, b; /**< what they are called, and with an alignment their letters; no codes */
  char *alignment;  /**< file to write, owned by the deck; NULL none */
  char *structure;  /**< the same of a folding */
  char *dot_plot;   /**< the same of its pairs */
  struct rna_energy *energy; /**< PARTITION: rounded, for the energy of the centroid */
  int32_t *sizes;            /**< PARTITION: the same of hairpins, [n + 1] */
  int64_t centroid; /**< PARTITION: its energy, 0.01 kcal/mol; RNA_HIGH and above: it has none */
  double distance;  /**< PARTITION: expected pairs in which a structure differs from it */
  double gamma;     /**< PARTITION: of the deck */
  double accuracy;  /**< PARTITION: the maximum expected accuracy */
  char shown[2 * DP_SHOWN_LETTERS + 2]; /**< letters and structure, a line each; empty: too long */
  char accurate[DP_SHOWN_LETTERS + 64]; /**< PARTITION: the structure of that, its energy and it */
  char mismatch[DP_REASON]; /**< why the solution does not attain the goal; empty: it does */
  dp_attempts attempts;     /**< at bands of diagonals */
  double *again;            /**< [units] how often the way back computes the cells of each again, as
                             expected; set by dp_units; NULL: not at all */
  double all_again;         /**< the same of all cells */
  dp_needed *needed;        /**< LOCAL: the part to be computed, about; NULL: all */
  double pruned;            /**< LOCAL: cells left out, after the tiles; 0: none, or not known */
  dp_recur *recur;          /**< RECURRENCE */
  char input[2048];         /**< lines: how each sequence and array of numbers was read */
  char facts[1024];         /**< RECURRENCE: what the dependency checker found */
} dp_own;

static inline dp_own *dp_own_of(const tsl_problem *problem) {
  return (dp_own *)problem->own;
}

/** After the tiles of LOCAL: the share of the table that was computed, no line end; empty: all. */
void dp_pruned_text(const tsl_problem *problem, char *text, size_t size);

struct rna_file; /* rna_params.h */
/** The file of energies, of which the lines of the input tell; free path and text with tsl_free. */
tsl_err dp_energies_load(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem,
                         struct rna_file *file);

/** Add "NAME: ABOUT" to the lines of the input; what does not fit is cut. */
void dp_note_input(dp_own *own, const char *name, const char *about);

/**
 * Numbers of a source as rows of a table.
 * @param[in,out] columns  numbers of a row, as those of a file must have; 0: whatever there is
 *                         (values: one column)
 * @param[out]    values   [*rows][columns] from tsl_alloc
 * @param[in,out] own      notes how they were read; NULL: nowhere
 */
tsl_err dp_read_numbers(const tsl_deck *deck, const char *key, const dp_source *source,
                        int64_t *columns, double **values, int64_t *rows, dp_own *own);

tsl_err dp_own_create(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem);

/** `problem: recurrence` from the section: params, all fields and what the root keeps; the
 *  dependency checker has agreed. */
tsl_err dp_recur_create(const tsl_deck *deck, const dp_deck *s, tsl_problem *problem);

/** Best row of the field "best": of largest score, or of least cost, the first of equals. */
const int64_t *dp_best_of(const tsl_problem *problem);

/** Free ends: value, row and column of the alignment's end, from the field "best". */
void dp_end_of(const tsl_problem *problem, int64_t end[3]);

/** Recover an interval problem's solution from the table, score it, give it to store. */
tsl_err dp_recover_interval(tsl_problem *problem, const tsl_field_rows *store);

/** PARTITION: fields of mode recover. */
tsl_err dp_add_partition_outputs(tsl_problem *problem);

/** PARTITION: from the table of probabilities all that mode recover gives; write the files. */
tsl_err dp_recover_partition(tsl_problem *problem, const tsl_field_rows *store);

/** Store pairs as path and structure, write the structure's file, keep it for the summary.
 *  @param[in] partner  [n] whom a letter pairs with, -1: nobody  @param[in] energy  kcal/mol
 *  @param[in] more     a line for the file below it, or NULL */
tsl_err dp_store_structure(const tsl_problem *problem, const int64_t *partner, double energy,
                           const char *more, const tsl_field_rows *store);

/** Recover, score and store the structure of a folding; write its file. */
tsl_err dp_recover_fold(tsl_problem *problem, const tsl_field_rows *store);

/** The alignment in `steps`; borrows them and the letters. */
letters_alignment dp_alignment_of(const tsl_problem *problem);

/** Write the file of the alignments in `list`. */
tsl_err dp_write_alignment(const tsl_problem *problem);

/** Deterministic numbers: the k-th 64 random bits of a seed (Steele 2014, splitmix64). */
uint64_t dp_random(uint64_t seed, uint64_t k);

tsl_err dp_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);
double dp_traceback_part(const tsl_problem *problem, const tsl_unit *unit);
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
/** Cost features of a tile; like: of a tile whose items are as many, NULL: they are counted. */
void dp_recur_set_features(const dp_recur *recur, tsl_unit *unit, const tsl_unit *like);
/** Compute the value of the cell of eval again; notes one that is not the kept one. */
tsl_err dp_recur_rescore(dp_eval *eval, dp_value kept, char mismatch[DP_REASON]);
/** The goal from what the workers gave, and the path. */
tsl_err dp_recur_finish(tsl_problem *problem, const tsl_field_rows *store);
tsl_err dp_traceback_begin(tsl_problem *problem, tsl_cursor *cursor);
tsl_err dp_traceback_steps(tsl_problem *problem, const int64_t (*steps)[2], int64_t n);
void dp_traceback_so_far(const tsl_problem *problem, const int64_t (**steps)[2], int64_t *n);
tsl_err dp_traceback_resume(tsl_problem *problem, const tsl_cursor *cursor,
                            const int64_t (*steps)[2], int64_t n);
tsl_err dp_finish(tsl_problem *problem, const tsl_field_rows *store);
tsl_err dp_summary(const tsl_problem *problem, tsl_summary *summary);
void dp_destroy(tsl_problem *problem);
