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
  int32_t sides;
  input in;
  tsl_maps probes;
} tri;

static const char *const functions[] = {"euclidean", "manhattan", "cosine", "gravity", NULL};
static const char *const outputs[] = {"condensed", "square", "on", NULL};

static const char *const sides[] = {"top", "left", "right", NULL};

static const tsl_key input_keys[] = {
    {"file", TSL_KEY_TEXT, offsetof(input, file), NULL, 0, 0, NULL, NULL, 0, "data file"},
    {"columns", TSL_KEY_TEXT, offsetof(input, columns), "x: [1]", 0, 0, NULL, NULL, 0, "columns"},
    {"skip", TSL_KEY_INT, offsetof(input, skip), "0", 0, 100, NULL, NULL, 0, "rows to skip"},
    {0}};

static const tsl_key probe_keys[] = {
    {"name", TSL_KEY_TEXT, offsetof(probe, name), "", 0, 0, NULL, NULL, 0, "name"},
    {"at", TSL_KEY_REAL, offsetof(probe, at), NULL, 0, 0, NULL, NULL, 0, "place, m"},
    {"bins", TSL_KEY_INTS, offsetof(probe, bins), "[1, 2]", 0, 9, NULL, NULL, 0, "bins"},
    {0}};

static const tsl_key tri_keys[] = {
    {"function", TSL_KEY_CHOICE, offsetof(tri, function), NULL, 0, 0, functions, NULL, 0, "pairs"},
    {"output", TSL_KEY_CHOICE, offsetof(tri, output), "condensed", 0, 0, outputs, NULL, 0, "form"},
    {"k", TSL_KEY_INT, offsetof(tri, k), "8", 1, 1024, NULL, NULL, 0, "neighbours"},
    {"cap", TSL_KEY_BYTES, offsetof(tri, cap), "2 GiB", 0, 0, NULL, NULL, 0, "memory"},
    {"seed", TSL_KEY_INT, offsetof(tri, seed), "", 0, 0, NULL, NULL, 0, "seed"},
    {"periodic", TSL_KEY_BOOL, offsetof(tri, periodic), "no", 0, 0, NULL, NULL, 0, "periodic"},
    {"check", TSL_KEY_BOOL, offsetof(tri, check), "true", 0, 0, NULL, NULL, 0, "check"},
    {"cutoff", TSL_KEY_REAL, offsetof(tri, cutoff), "0.1", 0, 1e9, NULL, NULL, 0, "radius, m"},
    {"note", TSL_KEY_TEXT, offsetof(tri, note), "", 0, 0, NULL, NULL, 0, "note"},
    {"box", TSL_KEY_REALS, offsetof(tri, box), "", 0, 1e6, NULL, NULL, 0, "box edges, m"},
    {"rows", TSL_KEY_INTS, offsetof(tri, rows), "7", 0, 0, NULL, NULL, 0, "rows"},
    {"sides", TSL_KEY_WORDS, offsetof(tri, sides), "left", 0, 0, sides, NULL, 0, "sides"},
    {"input", TSL_KEY_MAP, offsetof(tri, in), "", 0, 0, NULL, input_keys, sizeof(input), "input"},
    {"probes", TSL_KEY_MAPS, offsetof(tri, probes), "", 0, 0, NULL, probe_keys, sizeof(probe), "p"},
    {0}};

static const char *const families[] = {"tri", "dp", NULL};
