/**
 * @file bench_xc_molecules.h
 * Problems of `tesela bench xc-cpu`: PBE/def2-SVP on the default grid, or a deck.
 */
#pragma once

#include "xc_problem.h"

typedef struct bench_xc_molecule {
  char name[64];
  tsl_deck *deck;
  tsl_problem problem; /**< with memory for all fields that a worker fills */
  tsl_unit *groups;    /**< [n_groups] units, in the order of the grid */
} bench_xc_molecule;

/**
 * Make a problem with its guess density.
 * @param[in]  what  "water", "benzene", "C60" (built in); a file .xyz; a deck .yaml of the family
 * @param[out] out   free with bench_xc_clear; cleared when it fails
 * @return TSL_ERR_USAGE: what is none of these; errors of the deck and of the family
 */
tsl_err bench_xc_make(const char *what, bench_xc_molecule *out);
/** Free deck, problem and units; a zeroed one is accepted. */
void bench_xc_clear(bench_xc_molecule *molecule);
