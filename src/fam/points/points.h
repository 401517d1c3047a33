/**
 * @file points.h
 * Points of a deck: the maps `input:`, a file with a point per row, and `generator:`, points made
 * up. A family binds both with the tables below, then
 *
 *     points_choose    which of the two it is, and the format of the file
 *     points_settle    refuse keys that it does not use, fill in the defaults of absent ones
 *     points_read      the file's rows, or
 *     points_make      made-up ones
 *
 * Messages name the keys as the deck has them, with its line.
 */
#pragma once

#include "deck.h"
#include "table_read.h"

#include <stddef.h>

/** Words of `generator.kind`, in their order. */
typedef enum points_kind {
  POINTS_NONE,
  POINTS_UNIFORM,
  POINTS_PLUMMER,
  POINTS_CLUSTERS
} points_kind;

enum { POINTS_MAX_D = TABLE_MAX_COLUMNS - 1, POINTS_PATH = 64 };

/** The map `input:`. */
typedef struct points_input {
  char *file, *dataset, *comment;
  int32_t format, delimiter, header; /**< as of table_source */
  tsl_ints columns;                  /**< of the coordinates; empty: not named */
} points_input;

/** The map `generator:`. */
typedef struct points_generator {
  int32_t kind; /**< points_kind */
  int64_t n, d; /**< points, dimensions */
  int64_t seed;
  int64_t clusters;  /**< CLUSTERS: how many; point i is in cluster i clusters / n */
  double side;       /**< UNIFORM, CLUSTERS: edge of the cube [0, side)^d */
  double scale;      /**< PLUMMER: scale radius; CLUSTERS: standard deviation of a cluster */
  const double *box; /**< UNIFORM: [d] edges that replace side; or NULL; not of the deck */
} points_generator;

/** Their tables. Absent keys have no standard: points_settle fills in that of the source. */
extern const tsl_key points_input_keys[];
extern const tsl_key points_generator_keys[];

extern const char *const points_kind_words[];
extern const char *const points_format_words[];
extern const char *const points_delimiter_words[];
extern const char *const points_header_words[];

#define POINTS_INPUT_AT(base, member) ((base) + offsetof(points_input, member))

/** The rows of points_input_keys; base: offset of the points_input in the struct of a larger map.
 */
#define POINTS_INPUT_KEYS(base)                                                                    \
  TSL_TEXT_KEY("file", POINTS_INPUT_AT(base, file), "",                                            \
               "File with one point per row; relative to the deck's folder."),                     \
      TSL_CHOICE_KEY(                                                                              \
          "format", POINTS_INPUT_AT(base, format), "", points_format_words,                        \
          "File format; auto (default) looks at the first bytes and at the ending .xyz."),         \
      TSL_TEXT_KEY("dataset", POINTS_INPUT_AT(base, dataset), "",                                  \
                   "HDF5: path of the dataset in the file, 1-D or 2-D."),                          \
      TSL_INTS_KEY("columns", POINTS_INPUT_AT(base, columns), 0, POINTS_MAX_D * 16,                \
                   "Columns of the coordinates, counted from 0; default: all that nothing else "   \
                   "takes (XYZ: 0, 1, 2)."),                                                       \
      TSL_CHOICE_KEY(                                                                              \
          "delimiter", POINTS_INPUT_AT(base, delimiter), "", points_delimiter_words,               \
          "Text: what separates fields; auto (default) takes semicolon, comma, tab or blanks."),   \
      TSL_CHOICE_KEY("header", POINTS_INPUT_AT(base, header), "", points_header_words,             \
                     "Text: is the first line a header; auto (default): yes when no wanted field " \
                     "is a number."),                                                              \
      TSL_TEXT_KEY("comment", POINTS_INPUT_AT(base, comment), "",                                  \
                   "Text: one character that starts a comment; default '#'.")

/** Where points of a deck come from; all pointers are borrowed. */
typedef struct points_source {
  const tsl_deck *deck;
  const char *section; /**< of the deck, that has the two maps: "triples", "tri.other" */
  const points_input *input;
  const points_generator *generator;
  int32_t format; /**< of the file, table_format, by points_choose; AUTO: there is none */
} points_source;

/** Exactly one of input.file and generator.kind; sets s->format. */
tsl_err points_choose(points_source *s);

/** One bit for each kind of source: 1 << table_format, 1 << (8 + points_kind). */
#define POINTS_FILE(format) (1u << TABLE_FORMAT_##format)
#define POINTS_MADE(kind) (1u << (8 + POINTS_##kind))
enum { POINTS_ANY_FILE = 0xff, POINTS_ANY_MADE = 0xff00 };
uint32_t points_bit(const points_source *s);

/** A key of another table that the source does not use is refused with this. */
tsl_err points_refuse(const points_source *s, const char *path);

/** Refuse given keys that the source does not use; fill in defaults of absent ones of g, which is
 *  s->generator. */
tsl_err points_settle(const points_source *s, points_generator *g);

/** A key below a section, as the deck has it: "input.file" is tri.other.input.file. @return path */
const char *points_key(const char *section, const char *key, char path[POINTS_PATH]);

/**
 * Rows of the file.
 * @param[in] columns  [n_columns], n_columns 0: all but extra
 * @param[in] extra  a column that comes last, or -1
 * @param[out] from  how it was read, for people
 */
tsl_err points_read(const points_source *s, const int64_t *columns, int64_t n_columns,
                    int64_t extra, table_rows *table, char *from, size_t size);

/**
 * Made-up points, [n][d].
 * @param[in] box  edges of a box, which uniform points fill unless generator.side is given; or none
 * @param[in] box_key  of the deck, for messages
 */
tsl_err points_make(const points_source *s, const tsl_reals *box, const char *box_key,
                    table_rows *table, char *from, size_t size);

/** Unit of coordinates where the deck says none: that of the format, "1" when unknown. */
const char *points_unit(const points_source *s);

/** Points of a settled generator. Every number is a function of (seed, point, draw) alone. */
tsl_err points_generate(const points_generator *g, table_rows *table);
