/* The deck section `dp:`: words, keys, and which key goes with which problem. */
#include "dp_family.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const dp_mode_words[] = {"value", "table", "recover", NULL};

static const char *const type_words[] = {"auto", "i32", "i64", "f32", "f64", NULL};
static const char *const recover_words[] = {"device", "host", NULL};
/* In the order of dp_free_end. */
static const char *const free_end_words[] = {"a_begin", "a_end", "b_begin", "b_end", NULL};
static const char *const band_words[] = {"off", "auto", NULL};
static const char *const distance_words[] = {"absolute", "square", NULL};

#define AT(member) offsetof(dp_deck, member)
#define SOURCE(member) offsetof(dp_source, member)
#define EDIT(member) (offsetof(dp_deck, edit.member) - offsetof(dp_deck, edit))
#define BIG 0x1p53
#define LARGEST_SCORE 10000

/* Those of letters come first: what takes numbers only begins after them. */
enum { LETTER_KEYS = 4 };
static const tsl_key source_keys[] = {
    TSL_TEXT_KEY("text", SOURCE(text), "", "The letters themselves."),
    TSL_INT_KEY("record", SOURCE(record), "1", 1, 1e9,
                "FASTA, FASTQ: which record, counted from 1."),
    TSL_CHOICE_KEY("format", SOURCE(format), "auto", letters_format_words,
                   "Letters of a file: fasta, fastq; text: all of it, of bytes with line ends and "
                   "blanks; auto: by how the name ends (.fa .fasta .fna .faa ..., .fq .fastq, .gz "
                   "behind it), else text."),
    TSL_REAL_KEY(
        "mutate", SOURCE(mutate), "-1", -1, 1,
        "b only: a copy of a in which this part of the letters is changed, left out or inserted."),
    TSL_REALS_KEY("values", SOURCE(values), 0, 0, "The numbers themselves."),
    TSL_TEXT_KEY("dataset", SOURCE(dataset), "",
                 "HDF5: path of the dataset in the file, 1-D or 2-D."),
    TSL_INTS_KEY("columns", SOURCE(columns), 0, 1 << 20,
                 "Numbers: columns of the file to read, counted from 0; default all."),
    TSL_REAL_KEY("lo", SOURCE(lo), "1", -BIG, BIG,
                 "Made-up numbers: smallest; whole numbers when lo and hi are whole."),
    TSL_REAL_KEY("hi", SOURCE(hi), "100", -BIG, BIG, "Made-up numbers: largest."),
    TSL_TEXT_KEY(
        "file", SOURCE(file), "",
        "Letters: FASTA or plain text; numbers: CSV, NPY or HDF5; relative to the deck's folder."),
    TSL_INT_KEY("random", SOURCE(random), "0", 0, 0x1p40, "Make up this many letters or numbers."),
    TSL_INT_KEY("seed", SOURCE(seed), "1", 0, BIG, "Seed of what is made up."),
    {0}};

static const tsl_key edit_keys[] = {TSL_INT_KEY("insert", EDIT(insert), "1", 0, LARGEST_SCORE,
                                                "Cost of a letter of b that a lacks."),
                                    TSL_INT_KEY("delete", EDIT(remove), "1", 0, LARGEST_SCORE,
                                                "Cost of a letter of a that b lacks."),
                                    TSL_INT_KEY("substitute", EDIT(replace), "1", 0, LARGEST_SCORE,
                                                "Cost of a letter changed into another."),
                                    {0}};

#define ROWS(member) offsetof(dp_deck, special_rows.member) - offsetof(dp_deck, special_rows)
static const tsl_key special_keys[] = {
    TSL_TEXT_KEY("folder", ROWS(folder), "",
                 "Folder of each rank's host for a file that has no name; relative to the working "
                 "folder; default: rows are kept in memory."),
    TSL_BYTES_KEY("size", ROWS(size), "", 1 << 16, 0x1p60,
                  "What a rank may write there; default: half of what is free, shared by the "
                  "ranks."),
    {0}};

#define SOURCE_KEY(name, member, doc) \
  TSL_MAP_KEY(name, AT(member), source_keys, sizeof(dp_source), doc)
#define NUMBERS_KEY(name, member, doc) \
  TSL_MAP_KEY(name, AT(member), source_keys + LETTER_KEYS, sizeof(dp_source), doc)

const tsl_key dp_keys[] = {
    TSL_CHOICE_KEY("problem", AT(problem), NULL, dp_problem_words, "Which problem is solved."),
    TSL_CHOICE_KEY("mode", AT(mode), "value", dp_mode_words,
                   "value: the optimum only; table: the whole table; recover: also a solution that "
                   "attains it."),
    TSL_CHOICE_KEY("type", AT(type), "auto", type_words,
                   "Type of the values where a problem leaves the choice; auto: f64."),
    SOURCE_KEY("a", a, "First sequence (rows of the table)."),
    SOURCE_KEY("b", b, "Second sequence (columns of the table)."),
    NUMBERS_KEY("weights", weights, "Knapsack: whole weights, at least 0 (unbounded: 1)."),
    NUMBERS_KEY("values", values, "Knapsack: whole values, at least 0."),
    NUMBERS_KEY("dimensions", dimensions, "Matrix chain: the n + 1 sizes of n matrices."),
    NUMBERS_KEY("keys", keys, "Search tree: weights of the n keys."),
    NUMBERS_KEY("gaps", gaps, "Search tree: weights of the n + 1 gaps between keys; default 0."),
    NUMBERS_KEY("returns", returns,
                "Allotment: a row for each activity: its return for 0, 1, ... units."),
    NUMBERS_KEY("costs", costs,
                "Stagecoach: for each step a block of rows: cost from state to state."),
    NUMBERS_KEY("start", start, "Stagecoach: cost of beginning in each state."),
    TSL_INT_KEY(
        "capacity", AT(capacity), "", 0, 0x1p40,
        "Knapsack: capacity. Allotment: units to hand out; default: as many as returns has."),
    TSL_INT_KEY("n", AT(n), "", 0, 0x1p31, "Binomial: n of C(n, k)."),
    TSL_INT_KEY("k", AT(k), "", 0, 0x1p31, "Binomial: k of C(n, k)."),
    TSL_INT_KEY(
        "modulus", AT(modulus), "0", 0, 0x1p62,
        "Binomial: remainder modulo this number; 0: exact, an overflow of 64 bits is an error."),
    TSL_MAP_KEY("edit", AT(edit), edit_keys, sizeof((dp_deck *)0)->edit, "Edit distance: costs."),
    TSL_MAP_KEY("scores", AT(scores), letters_scores_keys, sizeof(letters_scores_deck),
                "Alignment: scores and gap costs."),
    TSL_CHOICE_KEY(
        "alphabet", AT(alphabet), "", letters_alphabet_words,
        "Letters of the sequences; default: dna for alignments, rna for nussinov, else bytes."),
    TSL_CHOICE_KEY("distance", AT(distance), "absolute", distance_words,
                   "DTW: |x - y| or (x - y)^2."),
    TSL_CHOICE_KEY("band", AT(band), "auto", band_words,
                   "Sequences that are alike: a band of the table's diagonals where that is "
                   "certain to give the same; off: always the whole table."),
    TSL_WORDS_KEY(
        "free_ends", AT(free_ends), "", free_end_words,
        "Edit, global: ends of a and b where letters that stand alone cost nothing; default none."),
    TSL_INT_KEY("span", AT(span), "0", 0, 1000,
                "Nussinov: fewest letters between the two of a pair."),
    TSL_BOOL_KEY("wobble", AT(wobble), "yes", "Nussinov: G pairs with U as well."),
    TSL_TEXT_KEY("parameters", AT(parameters), "",
                 "Fold, partition: file of energies in ViennaRNA's format 2.0, relative to the "
                 "deck's folder."),
    TSL_REAL_KEY(
        "temperature", AT(temperature), "37", 0, 100,
        "Fold, partition: degrees Celsius; energies are moved there by the file's enthalpies."),
    TSL_INT_KEY("dangles", AT(dangles), "2", 0, 2,
                "Fold, partition: 2: letters next to stems of multiloops and outside count; 0: "
                "they do not."),
    TSL_TEXT_KEY("structure", AT(structure), "",
                 "Fold, partition, mode recover: file for letters, dots and brackets; relative to "
                 "the working folder."),
    TSL_REAL_KEY(
        "threshold", AT(threshold), "1e-5", 0, 1,
        "Partition, mode recover: least probability of a pair that is listed and plotted."),
    TSL_REAL_KEY("gamma", AT(gamma), "1", 0, 1e6,
                 "Partition, mode recover: weight of pairs against unpaired letters in the "
                 "structure of maximum expected accuracy."),
    TSL_TEXT_KEY("dot_plot", AT(dot_plot), "",
                 "Partition, mode recover: PostScript file with the pairs' probabilities and the "
                 "centroid; relative to the working folder."),
    TSL_CHOICE_KEY("recover", AT(recover), "device", recover_words,
                   "Where the solution is recovered: where the table is, or on the host."),
    TSL_BYTES_KEY("memory", AT(memory), "1 GiB", 1 << 16, 0x1p50,
                  "Mode recover: memory a rank may use for it (rows and decisions kept)."),
    TSL_MAP_KEY("special_rows", AT(special_rows), special_keys, sizeof((dp_deck *)0)->special_rows,
                "Mode recover: the rows between which the solution is recovered on disk."),
    TSL_INT_KEY("best", AT(best), "1", 1, 10000,
                "Local, mode recover: so many best alignments, no two of which have a pair of "
                "letters in common."),
    TSL_TEXT_KEY("alignment", AT(alignment), "",
                 "Mode recover: file for the alignment, NAME.paf, NAME.tsv, or under any other "
                 "name SAM with the letters in comments; relative to the working folder."),
    DP_RECUR_KEYS(AT(recur)),
    TSL_BOOL_KEY("interpret", AT(interpret), "no",
                 "Recurrence: no compiled code; some thousand times slower. Switch --interpret "
                 "does the same."),
    {0}};

/* ---- who uses what */

/** Keys that a row of dp_ready.def must name, in the order in which they are looked at. */
static const char *const used_keys[] = {
    "a",         "b",           "weights",    "values",      "dimensions", "keys",    "gaps",
    "returns",   "costs",       "start",      "capacity",    "n",          "k",       "modulus",
    "edit",      "scores",      "alphabet",   "distance",    "span",       "wobble",  "type",
    "table",     "tables",      "data",       "constants",   "boundary",   "cell",    "goal",
    "pattern",   "interpret",   "parameters", "temperature", "dangles",    "recover", "memory",
    "alignment", "structure",   "band",       "free_ends",   "threshold",  "gamma",   "dot_plot",
    "best",      "special_rows"};

static const char recovery_keys[] =
    "recover memory special_rows alignment structure threshold gamma dot_plot best";

/** Is the word in the list? */
static bool has_word(const char *list, const char *word) {
  const size_t length = strlen(word);
  for (; list != NULL && *list != '\0'; list += strspn(list, " ")) {
    const size_t n = strcspn(list, " ");
    if (n == length && strncmp(list, word, n) == 0) return true;
    list += n;
  }
  return false;
}

static tsl_err check_use(const tsl_deck *deck, const dp_deck *s, const char *key) {
  tsl_err err = TSL_OK;
  const dp_ready *ready = &dp_ready_rows[s->problem];
  const bool needed = has_word(ready->needs, key);
  char path[32];
  (void)snprintf(path, sizeof path, "dp.%s", key);
  const bool given = tsl_deck_given(deck, path);
  if (given && !needed && !has_word(ready->takes, key))
    TSL_DECK_FAIL(deck, path, "not used by problem %s; remove it", dp_problem_words[s->problem]);
  if (given && has_word(recovery_keys, key) && s->mode != DP_RECOVER)
    TSL_DECK_FAIL(deck, path, "not used by mode %s; remove it", dp_mode_words[s->mode]);
  if (!given && needed)
    TSL_DECK_FAIL(deck, "dp", "problem %s needs the key %s", dp_problem_words[s->problem], key);
done:
  return err;
}

tsl_err dp_deck_settle(const tsl_deck *deck, dp_deck *s) {
  static const tsl_type types[] = {TSL_F64, TSL_I32, TSL_I64, TSL_F32, TSL_F64};
  tsl_err err = TSL_OK;
  const dp_ready *ready = &dp_ready_rows[s->problem], *computed = &dp_ready_rows[ready->problem];
  for (size_t k = 0; k < sizeof used_keys / sizeof used_keys[0]; k++)
    TSL_TRY(check_use(deck, s, used_keys[k]));
  s->type = (int32_t)(computed->type != 0 ? computed->type : types[s->type]);
  if (!tsl_deck_given(deck, "dp.alphabet")) s->alphabet = LETTERS_BYTES;
  if (ready->settle != NULL) TSL_TRY(ready->settle(deck, s));
done:
  return err;
}
