/* A section with keys of every type, for tests of decks. */
#pragma once

#include "deck.h"

typedef struct input {
  char *file, *columns;
  int64_t skip;
} input;

typedef struct probe {
  char *name;
  double at;
  tsl_ints bins;
} probe;

typedef struct tri {
  int32_t function, output;
  int64_t k, cap, seed;
  bool periodic, check;
  double cutoff;
  char *note;
  tsl_reals box;
  tsl_ints rows;
  tsl_texts marks;
  int32_t sides;
  input in;
  tsl_maps probes;
} tri;

static const char *const functions[] = {"euclidean", "manhattan", "cosine", "gravity", NULL};
static const char *const outputs[] = {"condensed", "square", "on", NULL};

static const char *const sides[] = {"top", "left", "right", NULL};

static const tsl_key input_keys[] = {
    TSL_TEXT_KEY("file", offsetof(input, file), NULL, "data file"),
    TSL_TEXT_KEY("columns", offsetof(input, columns), "x: [1]", "columns"),
    TSL_INT_KEY("skip", offsetof(input, skip), "0", 0, 100, "rows to skip"),
    {0}};

static const tsl_key probe_keys[] = {
    TSL_TEXT_KEY("name", offsetof(probe, name), "", "name"),
    TSL_REAL_KEY("at", offsetof(probe, at), NULL, 0, 0, "place, m"),
    {"bins", TSL_KEY_INTS, offsetof(probe, bins), "[1, 2]", 0, 9, NULL, NULL, 0, "bins"},
    {0}};

static const tsl_key tri_keys[] = {
    TSL_CHOICE_KEY("function", offsetof(tri, function), NULL, functions, "pairs"),
    TSL_CHOICE_KEY("output", offsetof(tri, output), "condensed", outputs, "form"),
    TSL_INT_KEY("k", offsetof(tri, k), "8", 1, 1024, "neighbours"),
    TSL_BYTES_KEY("cap", offsetof(tri, cap), "2 GiB", 0, 0, "memory"),
    TSL_INT_KEY("seed", offsetof(tri, seed), "", 0, 0, "seed"),
    TSL_BOOL_KEY("periodic", offsetof(tri, periodic), "no", "periodic"),
    TSL_BOOL_KEY("check", offsetof(tri, check), "true", "check"),
    TSL_REAL_KEY("cutoff", offsetof(tri, cutoff), "0.1", 0, 1e9, "radius, m"),
    TSL_TEXT_KEY("note", offsetof(tri, note), "", "note"),
    TSL_REALS_KEY("box", offsetof(tri, box), 0, 1e6, "box edges, m"),
    {"rows", TSL_KEY_INTS, offsetof(tri, rows), "7", 0, 0, NULL, NULL, 0, "rows"},
    TSL_WORDS_KEY("sides", offsetof(tri, sides), "left", sides, "sides"),
    TSL_TEXTS_KEY("marks", offsetof(tri, marks), "marks"),
    TSL_MAP_KEY("input", offsetof(tri, in), input_keys, sizeof(input), "input"),
    TSL_MAPS_KEY("probes", offsetof(tri, probes), probe_keys, sizeof(probe), "p"),
    {0}};

static const char *const families[] = {"tri", "dp", NULL};
