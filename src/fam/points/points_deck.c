/* Keys of points in a deck: words, tables, and which key goes with which source. */
#include "points.h"

#include <stdio.h>

const char *const points_kind_words[] = {"none", "uniform", "plummer", "clusters", NULL};
const char *const points_format_words[] = {"auto", "csv", "npy", "hdf5", "xyz", NULL};
const char *const points_delimiter_words[] = {"auto", "comma", "semicolon", "tab", "blank", NULL};
const char *const points_header_words[] = {"auto", "yes", "no", NULL};

#define GEN(member) offsetof(points_generator, member)
#define BIG 1e300
#define TINY 1e-300

const tsl_key points_input_keys[] = {POINTS_INPUT_KEYS(0), {0}};

const tsl_key points_generator_keys[] = {
    TSL_CHOICE_KEY(
        "kind", GEN(kind), "", points_kind_words,
        "uniform: in a cube; plummer: a star cluster (3-D); clusters: Gaussian blobs, in order."),
    TSL_INT_KEY("n", GEN(n), "", 0, (double)TABLE_MAX_ROWS, "Points; default 1000."),
    TSL_INT_KEY("d", GEN(d), "", 1, POINTS_MAX_D, "Dimensions; default 3 (plummer: always 3)."),
    TSL_INT_KEY("seed", GEN(seed), "", 0, 0x1p53, "Seed of the random numbers; default 1."),
    TSL_REAL_KEY("side", GEN(side), "", TINY, BIG,
                 "Edge of the cube of points or cluster centres; default 1, or of uniform points "
                 "with a box that box."),
    TSL_REAL_KEY(
        "scale", GEN(scale), "", TINY, BIG,
        "plummer: scale radius, default 1; clusters: standard deviation, default 0.05 side."),
    TSL_INT_KEY("clusters", GEN(clusters), "", 1, 1e9, "Number of blobs; default 8."),
    {0}};

const char *points_key(const char *section, const char *key, char path[POINTS_PATH]) {
  (void)snprintf(path, POINTS_PATH, "%s.%s", section, key);
  return path;
}

uint32_t points_bit(const points_source *s) {
  return s->generator->kind == POINTS_NONE ? 1u << s->format : 1u << (8 + s->generator->kind);
}

tsl_err points_refuse(const points_source *s, const char *path) {
  return tsl_deck_fail(s->deck, TSL_ERR_INPUT, path, __FILE__, __LINE__,
                       "not used by this %s; remove it",
                       s->generator->kind == POINTS_NONE ? "input format" : "generator");
}

/** A key, and the sources that use it. */
static const struct {
  const char *key;
  uint32_t sources;
} points_uses[] = {{"input.format", POINTS_ANY_FILE},
                   {"input.dataset", POINTS_FILE(HDF5)},
                   {"input.columns", POINTS_ANY_FILE},
                   {"input.delimiter", POINTS_FILE(TEXT)},
                   {"input.header", POINTS_FILE(TEXT)},
                   {"input.comment", POINTS_FILE(TEXT)},
                   {"generator.n", POINTS_ANY_MADE},
                   {"generator.d", POINTS_ANY_MADE},
                   {"generator.seed", POINTS_ANY_MADE},
                   {"generator.side", POINTS_MADE(UNIFORM) | POINTS_MADE(CLUSTERS)},
                   {"generator.scale", POINTS_MADE(PLUMMER) | POINTS_MADE(CLUSTERS)},
                   {"generator.clusters", POINTS_MADE(CLUSTERS)}};

static bool is_given(const points_source *s, const char *key) {
  char path[POINTS_PATH];
  return tsl_deck_given(s->deck, points_key(s->section, key, path));
}

tsl_err points_settle(const points_source *s, points_generator *g) {
  tsl_err err = TSL_OK;
  char path[POINTS_PATH];
  for (size_t u = 0; u < sizeof points_uses / sizeof points_uses[0]; u++)
    if ((points_uses[u].sources & points_bit(s)) == 0 && is_given(s, points_uses[u].key))
      TSL_TRY(points_refuse(s, points_key(s->section, points_uses[u].key, path)));
  if (!is_given(s, "generator.n")) g->n = 1000;
  if (!is_given(s, "generator.d")) g->d = 3;
  if (!is_given(s, "generator.seed")) g->seed = 1;
  if (!is_given(s, "generator.clusters")) g->clusters = 8;
  if (!is_given(s, "generator.side")) g->side = 1;
  if (!is_given(s, "generator.scale")) g->scale = g->kind == POINTS_CLUSTERS ? 0.05 * g->side : 1;
done:
  return err;
}
