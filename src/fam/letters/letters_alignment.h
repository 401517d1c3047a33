/**
 * @file letters_alignment.h
 * Alignments of two sequences in files: SAM (SAM format specification 1.6), PAF (minimap2's manual)
 * and tables with tabs. The query is a, the reference is b, on its forward strand.
 *
 * Operations of CIGAR: = same letters, X other ones, I letters of the query alone, D of the
 * reference alone, S letters of the query that a local alignment leaves out. Places count from 0
 * here and in PAF and tables, from 1 in SAM; ends are not included.
 */
#pragma once

#include "letters_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Operations, and their letters. */
enum { LETTERS_SAME, LETTERS_OTHER, LETTERS_OF_REFERENCE, LETTERS_OF_QUERY };
enum { LETTERS_LONGEST_RUN = (1 << 28) - 1 /**< of one operation: BAM has 28 bits for it */ };

/** Flags of SAM. */
enum { LETTERS_UNMAPPED = 4, LETTERS_SECONDARY = 256 };

/** A sequence of an alignment; borrowed. */
typedef struct letters_named {
  const char *name;
  const char *standard; /**< for one without a name */
  const char *letters;  /**< [n], or NULL: not known */
  int64_t n;
} letters_named;

/** An alignment; borrowed. Without steps nothing is aligned. */
typedef struct letters_alignment {
  letters_named query, reference;
  const int64_t (*steps)[2]; /**< [n_steps] (operation, length), from the end to the begin */
  int64_t n_steps;
  int64_t begin[2], end[2]; /**< of the query, of the reference */
  int64_t value;
  bool distance; /**< value is one (tag XD); else a score (AS) */
  bool other;    /**< one of several of its query, and not the best: secondary */
} letters_alignment;

/** What a file of alignments holds, by the ending of its name: .sam, .paf, .tsv. */
typedef enum letters_format_of_alignments {
  LETTERS_AS_SAM,
  LETTERS_AS_PAF,
  LETTERS_AS_TABLE,
  LETTERS_AS_NONE /**< any other ending */
} letters_format_of_alignments;
letters_format_of_alignments letters_alignments_as(const char *name);

/** The runs, without S; "*" when there are none. */
void letters_write_cigar(const letters_alignment *a, FILE *file);

/** The first line of a SAM file; of each reference one; the program's. */
void letters_sam_begin(FILE *file);
void letters_sam_reference(const letters_named *reference, FILE *file);
void letters_sam_program(FILE *file);

/** Do two of the first n records of a set have the same name as references of SAM, what it does not
 *  allow being '_'? One without a name has its number, from 0.
 *  @param[out] same  the first such two; same[0] is -1 where there are none
 *  @return TSL_ERR_MEMORY */
tsl_err letters_sam_same(letters_set *set, int64_t n, int64_t same[2]);

/** The same record by record: put [first, end), which are in the set from `at` on, behind those
 *  before them. @param[in] equal  by letters_sam_equal */
tsl_err letters_sam_put(letters_names *names, const letters_set *set, int64_t at, int64_t first,
                        int64_t end, const letters_names_equal *equal, int64_t same[2]);
tsl_err letters_sam_equal(const char *const name[2], const int64_t number[2], bool *equal);

/** A number, negative or not. Files have millions of them: printf, and locks, are slow. */
void letters_write_number(int64_t number, FILE *file);

/** A record, what SAM does not allow in names as '_'. Letters are written where all are such as SAM
 *  has and the record is not secondary. */
void letters_sam_record(const letters_alignment *a, FILE *file);

/** A line of PAF, with tags tp, NM, AS or XD, and cg; of an alignment that has steps. */
void letters_paf_record(const letters_alignment *a, FILE *file);

/** The head of a table with tabs, and a line of it. */
void letters_table_head(bool distance, FILE *file);
void letters_table_record(const letters_alignment *a, FILE *file);
