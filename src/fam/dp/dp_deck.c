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
    {"text", TSL_KEY_TEXT, SOURCE(text), "", 0, 0, NULL, NULL, 0, "The letters themselves."},
    {"record", TSL_KEY_INT, SOURCE(record), "1", 1, 1e9, NULL, NULL, 0,
     "FASTA, FASTQ: which record, counted from 1."},
    {"format", TSL_KEY_CHOICE, SOURCE(format), "auto", 0, 0, letters_format_words, NULL, 0,
     "Letters of a file: fasta, fastq; text: all of it, of bytes with line ends and blanks; "
     "auto: by how the name ends (.fa .fasta .fna .faa ..., .fq .fastq, .gz behind it), else "
     "text."},
    {"mutate", TSL_KEY_REAL, SOURCE(mutate), "-1", -1, 1, NULL, NULL, 0,
     "b only: a copy of a in which this part of the letters is changed, left out or inserted."},
    {"values", TSL_KEY_REALS, SOURCE(values), "", 0, 0, NULL, NULL, 0, "The numbers themselves."},
    {"dataset", TSL_KEY_TEXT, SOURCE(dataset), "", 0, 0, NULL, NULL, 0,
     "HDF5: path of the dataset in the file, 1-D or 2-D."},
    {"columns", TSL_KEY_INTS, SOURCE(columns), "", 0, 1 << 20, NULL, NULL, 0,
     "Numbers: columns of the file to read, counted from 0; default all."},
    {"lo", TSL_KEY_REAL, SOURCE(lo), "1", -BIG, BIG, NULL, NULL, 0,
     "Made-up numbers: smallest; whole numbers when lo and hi are whole."},
    {"hi", TSL_KEY_REAL, SOURCE(hi), "100", -BIG, BIG, NULL, NULL, 0, "Made-up numbers: largest."},
    {"file", TSL_KEY_TEXT, SOURCE(file), "", 0, 0, NULL, NULL, 0,
     "Letters: FASTA or plain text; numbers: CSV, NPY or HDF5; relative to the deck's folder."},
    {"random", TSL_KEY_INT, SOURCE(random), "0", 0, 0x1p40, NULL, NULL, 0,
     "Make up this many letters or numbers."},
    {"seed", TSL_KEY_INT, SOURCE(seed), "1", 0, BIG, NULL, NULL, 0, "Seed of what is made up."},
    {0}};

static const tsl_key edit_keys[] = {{"insert", TSL_KEY_INT, EDIT(insert), "1", 0, LARGEST_SCORE,
                                     NULL, NULL, 0, "Cost of a letter of b that a lacks."},
                                    {"delete", TSL_KEY_INT, EDIT(remove), "1", 0, LARGEST_SCORE,
                                     NULL, NULL, 0, "Cost of a letter of a that b lacks."},
                                    {"substitute", TSL_KEY_INT, EDIT(replace), "1", 0,
                                     LARGEST_SCORE, NULL, NULL, 0,
                                     "Cost of a letter changed into another."},
                                    {0}};

#define SOURCE_KEY(name, member, doc) \
  { name, TSL_KEY_MAP, AT(member), "", 0, 0, NULL, source_keys, sizeof(dp_source), doc }
#define NUMBERS_KEY(name, member, doc)                                                           \
  {                                                                                              \
    name, TSL_KEY_MAP, AT(member), "", 0, 0, NULL, source_keys + LETTER_KEYS, sizeof(dp_source), \
        doc                                                                                      \
  }

const tsl_key dp_keys[] = {
    {"problem", TSL_KEY_CHOICE, AT(problem), NULL, 0, 0, dp_problem_words, NULL, 0,
     "Which problem is solved."},
    {"mode", TSL_KEY_CHOICE, AT(mode), "value", 0, 0, dp_mode_words, NULL, 0,
     "value: the optimum only; table: the whole table; recover: also a solution that attains it."},
    {"type", TSL_KEY_CHOICE, AT(type), "auto", 0, 0, type_words, NULL, 0,
     "Type of the values where a problem leaves the choice; auto: f64."},
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
    {"capacity", TSL_KEY_INT, AT(capacity), "", 0, 0x1p40, NULL, NULL, 0,
     "Knapsack: capacity. Allotment: units to hand out; default: as many as returns has."},
    {"n", TSL_KEY_INT, AT(n), "", 0, 0x1p31, NULL, NULL, 0, "Binomial: n of C(n, k)."},
    {"k", TSL_KEY_INT, AT(k), "", 0, 0x1p31, NULL, NULL, 0, "Binomial: k of C(n, k)."},
    {"modulus", TSL_KEY_INT, AT(modulus), "0", 0, 0x1p62, NULL, NULL, 0,
     "Binomial: remainder modulo this number; 0: exact, an overflow of 64 bits is an error."},
    {"edit", TSL_KEY_MAP, AT(edit), "", 0, 0, NULL, edit_keys, sizeof((dp_deck *)0)->edit,
     "Edit distance: costs."},
    {"scores", TSL_KEY_MAP, AT(scores), "", 0, 0, NULL, letters_scores_keys,
     sizeof(letters_scores_deck), "Alignment: scores and gap costs."},
    {"alphabet", TSL_KEY_CHOICE, AT(alphabet), "", 0, 0, letters_alphabet_words, NULL, 0,
     "Letters of the sequences; default: dna for alignments, rna for nussinov, else bytes."},
    {"distance", TSL_KEY_CHOICE, AT(distance), "absolute", 0, 0, distance_words, NULL, 0,
     "DTW: |x - y| or (x - y)^2."},
    {"band", TSL_KEY_CHOICE, AT(band), "auto", 0, 0, band_words, NULL, 0,
     "Sequences that are alike: a band of the table's diagonals where that is certain to give the "
     "same; off: always the whole table."},
    {"free_ends", TSL_KEY_WORDS, AT(free_ends), "", 0, 0, free_end_words, NULL, 0,
     "Edit, global: ends of a and b where letters that stand alone cost nothing; default none."},
    {"span", TSL_KEY_INT, AT(span), "0", 0, 1000, NULL, NULL, 0,
     "Nussinov: fewest letters between the two of a pair."},
    {"wobble", TSL_KEY_BOOL, AT(wobble), "yes", 0, 0, NULL, NULL, 0,
     "Nussinov: G pairs with U as well."},
    {"parameters", TSL_KEY_TEXT, AT(parameters), "", 0, 0, NULL, NULL, 0,
     "Fold, partition: file of energies in ViennaRNA's format 2.0, relative to the deck's folder."},
    {"temperature", TSL_KEY_REAL, AT(temperature), "37", 0, 100, NULL, NULL, 0,
     "Fold, partition: degrees Celsius; energies are moved there by the file's enthalpies."},
    {"dangles", TSL_KEY_INT, AT(dangles), "2", 0, 2, NULL, NULL, 0,
     "Fold, partition: 2: letters next to stems of multiloops and outside count; 0: they do not."},
    {"structure", TSL_KEY_TEXT, AT(structure), "", 0, 0, NULL, NULL, 0,
     "Fold, partition, mode recover: file for letters, dots and brackets; relative to the working "
     "folder."},
    {"threshold", TSL_KEY_REAL, AT(threshold), "1e-5", 0, 1, NULL, NULL, 0,
     "Partition, mode recover: least probability of a pair that is listed and plotted."},
    {"gamma", TSL_KEY_REAL, AT(gamma), "1", 0, 1e6, NULL, NULL, 0,
     "Partition, mode recover: weight of pairs against unpaired letters in the structure of "
     "maximum "
     "expected accuracy."},
    {"dot_plot", TSL_KEY_TEXT, AT(dot_plot), "", 0, 0, NULL, NULL, 0,
     "Partition, mode recover: PostScript file with the pairs' probabilities and the centroid; "
     "relative to the working folder."},
    {"recover", TSL_KEY_CHOICE, AT(recover), "device", 0, 0, recover_words, NULL, 0,
     "Where the solution is recovered: where the table is, or on the host."},
    {"memory", TSL_KEY_BYTES, AT(memory), "1 GiB", 1 << 16, 0x1p50, NULL, NULL, 0,
     "Mode recover: memory a rank may use for it (rows and decisions kept)."},
    {"best", TSL_KEY_INT, AT(best), "1", 1, 10000, NULL, NULL, 0,
     "Local, mode recover: so many best alignments, no two of which have a pair of letters in "
     "common."},
    {"alignment", TSL_KEY_TEXT, AT(alignment), "", 0, 0, NULL, NULL, 0,
     "Mode recover: file for the alignment, NAME.paf, NAME.tsv, or under any other name SAM with "
     "the letters in comments; relative to the working folder."},
    DP_RECUR_KEYS(AT(recur)),
    {"interpret", TSL_KEY_BOOL, AT(interpret), "no", 0, 0, NULL, NULL, 0,
     "Recurrence: no compiled code; some thousand times slower. Switch --interpret does the same."},
    {0}};

/* ---- who uses what */

/** Keys that a row of dp_ready.def must name, in the order in which they are looked at. */
static const char *const used_keys[] = {
    "a",         "b",         "weights",    "values",      "dimensions", "keys",    "gaps",
    "returns",   "costs",     "start",      "capacity",    "n",          "k",       "modulus",
    "edit",      "scores",    "alphabet",   "distance",    "span",       "wobble",  "type",
    "table",     "tables",    "data",       "constants",   "boundary",   "cell",    "goal",
    "pattern",   "interpret", "parameters", "temperature", "dangles",    "recover", "memory",
    "alignment", "structure", "band",       "free_ends",   "threshold",  "gamma",   "dot_plot",
    "best"};

static bool of_recovery(const char *key) {
  return strcmp(key, "recover") == 0 || strcmp(key, "memory") == 0 ||
         strcmp(key, "alignment") == 0 || strcmp(key, "structure") == 0 ||
         strcmp(key, "threshold") == 0 || strcmp(key, "gamma") == 0 ||
         strcmp(key, "dot_plot") == 0 || strcmp(key, "best") == 0;
}

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
  if (given && of_recovery(key) && s->mode != DP_RECOVER)
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
