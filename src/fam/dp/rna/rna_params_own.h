/**
 * @file rna_params_own.h
 * What the files of rna_params share: sections, and a file under way.
 */
#pragma once

#include "rna_params.h"
#include "table_read.h"

#include <stdbool.h>
#include <stddef.h>

enum { N_TABLES = 15 };

/* A section of numbers. Sizes from the first index to the last; a skipped index begins at 1. */
typedef struct section {
  const char *name;
  size_t at;   /* in rna_exact; NOWHERE: read_odd knows */
  int dims[6]; /* as in the file */
  int room[6]; /* as in rna_exact */
  int skip[6]; /* first index */
  bool lowers; /* ends of stems: lowered() */
} section;

#define NOWHERE ((size_t)-1)
extern const section rna_sections[N_TABLES];

/* A file under way. */
typedef struct reader {
  table_lines lines;
  const char *at;          /* in the line */
  const char *word, *stop; /* the last word read */
  bool comment;            /* inside of one that began on an earlier line */
  char name[48];           /* of the section; empty before the first */
  bool more;               /* there is a line */
  bool ended;              /* of the section: the line is the next one's, or there is none */
  rna_exact *energy;
  const rna_ask *ask;
  bool smooth; /* see lowered() */
  double hairpin[RNA_LOOP + 1];
  double logarithm; /* of sizes above RNA_LOOP */
  /* [2] energies, enthalpies of a table, and which sections were read: a bit for each */
  int32_t *numbers[2][N_TABLES];
  uint32_t seen[2], seen_odd;
} reader;

/** The temperature by that of the file. */
double rna_params_factor(const reader *r);
/** An energy at the temperature. */
double rna_params_at(const reader *r, int32_t energy, int32_t enthalpy);
/** Numbers of a section in the file. */
int rna_params_count(const section *s);
/** What hairpins of more than RNA_LOOP letters cost more. */
double rna_params_beyond(const reader *r, int64_t size);
/** From the numbers that were read to energies. */
tsl_err rna_params_settle(reader *r);
