/**
 * @file options.h
 * Command-line options of the subcommands that take a deck.
 */
#pragma once

#include "error.h"

#include <stdbool.h>

enum { TSL_MAX_SETS = 64 };

/** Parsed options; texts point into argv. */
typedef struct tsl_options {
  const char *deck;    /**< NULL only for subcommands that need none */
  const char *text;    /**< the deck itself, which is no file; deck is its name; NULL: a file */
  const char *output;  /**< -o, or NULL */
  const char *trace;   /**< --trace, or NULL */
  const char *restart; /**< --restart: a checkpoint or the output's name, or NULL */
  double walltime;     /**< --max-walltime, s; 0: not given */
  const char *sets[TSL_MAX_SETS];
  int n_sets;
  const char *ipi;     /**< --ipi: an address, or NULL */
  const char *mdi;     /**< --mdi: likewise */
  const char *cluster; /**< --cluster: a file of machines that are not here, or NULL */
  bool qcschema;       /**< --qcschema */
  bool quiet, overwrite, help;
  bool strict;        /**< --strict: a lost file beside the output is a failure */
  char command[1024]; /**< the whole command line, for the record */
} tsl_options;

/**
 * Parse `SUBCOMMAND [DECK] [options]`.
 * @param[in] allowed  letters of the options this subcommand takes: o = -o, s = --set, t = --trace,
 *                     q = --quiet, w = --overwrite, i = --interpret, which sets dp.interpret,
 *                     r = --restart, m = --max-walltime, x = --strict, p = --ipi,
 *                     d = --mdi, j = --qcschema, c = --cluster
 * @return TSL_ERR_USAGE naming the word; missing DECK only when need_deck and not help
 */
tsl_err tsl_options_parse(int argc, char **argv, const char *allowed, bool need_deck,
                          tsl_options *options);
