/**
 * @file checkpoint_fixture.h
 * A small checkpoint for tests and the fuzz program: 3 units of which 2 are finished, a sum, a
 * streamed field, a list, and what two tiles keep.
 */
#pragma once

#include "checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIX_UNITS = 3, FIX_ROWS = 2, FIX_FIELDS = 3, FIX_RECORDS = 5, FIX_STATES = 19 };

static const char fix_deck[] =
    "family: \"tri\"\nrun:\n  threads: 0\ntri:\n  n: 7\n  box:\n    - 1\n";
static const double fix_sum[2] = {1.5, -2};
static const int64_t fix_counts[FIX_UNITS] = {2, 0, 3};
static const int64_t fix_records[FIX_RECORDS][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}};
static const int64_t fix_tiles[FIX_UNITS] = {8, 0, 11};
static const char fix_states[FIX_STATES] = "first uppsecond one";

static const tsl_checkpoint_field fix_fields[FIX_FIELDS] = {
    {"sum", {2, 1, 1}, TSL_F64, TSL_SUM, TSL_OUT, 0, -1},
    {"rows", {6, 4, 1}, TSL_F32, TSL_GATHER, TSL_OUT, 1, 4096},
    {"pairs", {0, 2, 1}, TSL_I64, TSL_LIST, TSL_OUT, 1, -1},
};

static tsl_unit fix_unit(int64_t id) {
  return (tsl_unit){.id = id, .lo = {2 * id, 0, 0}, .hi = {2 * id + 2, 4, 1}, .flops = 8};
}

/** Write it to path; the sequence tells files apart. */
static inline tsl_err fix_write(const char *path, int64_t sequence, int64_t *bytes) {
  tsl_err err = TSL_OK;
  tsl_checkpoint_writer *w = NULL;
  tsl_checkpoint_head head = {.sequence = sequence, .phase = 0, .n_units = FIX_UNITS};
  tsl_unit units[FIX_UNITS];
  tsl_out_unit rows[FIX_ROWS];
  head.n_rows = FIX_ROWS, head.n_fields = FIX_FIELDS, head.inputs = 77;
  memset(rows, 0, sizeof rows);
  for (int u = 0; u < FIX_UNITS; u++) units[u] = fix_unit(u);
  for (int r = 0; r < FIX_ROWS; r++) rows[r].unit = fix_unit(2 * r), rows[r].check = 5;
  TSL_TRY(tsl_checkpoint_create(path, 0, &w));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_HEAD, 0, &head, (int64_t)sizeof head));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_VERSION, 0, "test", 5));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_FAMILY, 0, "tri", 4));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_DECK, 0, fix_deck, (int64_t)sizeof fix_deck));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_UNITS, 0, units, (int64_t)sizeof units));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_ROWS, 0, rows, (int64_t)sizeof rows));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_FIELDS, 0, fix_fields, (int64_t)sizeof fix_fields));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_TILES, 0, fix_tiles, (int64_t)sizeof fix_tiles));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_STATES, 0, fix_states, FIX_STATES));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_DATA, 0, fix_sum, (int64_t)sizeof fix_sum));
  TSL_TRY(tsl_checkpoint_add(w, TSL_BLOCK_COUNTS, 2, fix_counts, (int64_t)sizeof fix_counts));
  TSL_TRY(tsl_checkpoint_block(w, TSL_BLOCK_RECORDS, 2, (int64_t)sizeof fix_records));
  for (int k = 0; k < FIX_RECORDS; k++)
    TSL_TRY(tsl_checkpoint_put(w, fix_records[k], (int64_t)sizeof fix_records[k]));
  err = tsl_checkpoint_commit(&w, bytes);
done:
  tsl_checkpoint_drop(&w);
  return err;
}

/** The bytes of a file, from malloc. */
static inline char *fix_load(const char *path, int64_t *n) {
  enum { MOST = 1 << 24 };
  FILE *file = fopen(path, "rb");
  char *bytes = malloc(MOST);
  *n = file != NULL && bytes != NULL ? (int64_t)fread(bytes, 1, MOST, file) : 0;
  if (file != NULL) (void)fclose(file);
  return bytes;
}

/** Make the checksum right again after the bytes were changed. */
static inline void fix_seal(char *bytes, int64_t n) {
  tsl_checksum sum = {0};
  tsl_checksum_add(&sum, bytes, n - 8);
  const uint64_t right = tsl_checksum_end(&sum);
  memcpy(bytes + n - 8, &right, 8);
}
