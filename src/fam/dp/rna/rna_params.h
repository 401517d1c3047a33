/**
 * @file rna_params.h
 * Energies from a parameter file of ViennaRNA, format 2.0.
 */
#pragma once

#include "error.h"
#include "rna_energy.h"

/** What is wanted of a file. */
typedef struct rna_ask {
  double celsius; /**< temperature; energies change linearly with it: dH - (dH - dG) T / 310.15 K */
  int32_t dangles; /**< 2: letters next to stems of multiloops and outside count; 0: they do not */
} rna_ask;

/** A file's name, for messages, and its text: [bytes], and one byte more that is readable. */
typedef struct rna_file {
  char *path, *text;
  int64_t bytes;
} rna_file;

/**
 * Read the text of a file. Sections may come in any order, each must be there once.
 * @param[out] energy    rounded towards zero at other temperatures, as ViennaRNA does
 * @param[out] sizes     [n + 1] energies of hairpins of 0..n letters; those above 30 grow with the
 *                       logarithm of their size
 * @return TSL_ERR_INPUT with file, line and section
 */
tsl_err rna_params_parse(const rna_file *file, const rna_ask *ask, rna_energy *energy, int64_t n,
                         int32_t *sizes);

/** The same for sums over structures: not rounded, and with dangles what letters next to stems give
 *  goes smoothly to 0 where it would be a cost, as ViennaRNA's partition function has it. */
tsl_err rna_params_parse_exact(const rna_file *file, const rna_ask *ask, rna_exact *energy,
                               int64_t n, double *sizes);
