/**
 * @file rna_weights.h
 * Boltzmann weights of the loops that a sequence can form, in lists: what sums over its structures
 * (McCaskill 1990) are made of, on any device.
 */
#pragma once

#include "error.h"
#include "fn.h"
#include "rna_energy.h"
#include "rna_lists.h"

#include <math.h>

TSL_C_BEGIN

enum {
  RNA_WEIGHTS_TILE = 64,   /**< side of the tiles in which columns and rows are */
  RNA_WEIGHTS_HIGH = 200,  /**< exponent of the largest number of a tile */
  RNA_WEIGHTS_HAIRPINS = 3 /**< sizes of hairpins whose letters decide */
};

/** Letters of these hairpins. */
static const int rna_weights_hairpin[RNA_WEIGHTS_HAIRPINS] = {3, 4, 6};

/** Weights of loops by their sizes; one, bulge: by the letters of the longer side. */
typedef struct rna_weights_costs {
  double generic[RNA_LOOP + 1][RNA_LOOP + 1], one[RNA_LOOP + 1], bulge[RNA_LOOP + 1], two_three;
} rna_weights_costs;

/** Lists by column are those of posts, with room for whole tiles and one more. */
typedef struct rna_weights {
  double beta; /**< 1 / kT, per 0.01 kcal/mol */
  int64_t posts, tiles, columns;
  rna_exact *energy;
  rna_weights_costs costs;
  uint8_t *around, *letters; /**< letters[-RNA_AROUND..] are readable */
  double small[7];           /**< energies of hairpins by size */
  double *sizes;             /**< weights of larger ones, [column - row + 2 RNA_WEIGHTS_TILE] */
  double *hairpins;          /**< [RNA_WEIGHTS_HAIRPINS][columns] of small ones, by first letter */
  double *near;              /**< [DP_FOLD_NEAR][RNA_KEYS][RNA_KEYS] */
  int32_t *key;              /**< [columns] */
  double *lists;             /**< [RNA_N_LISTS][RNA_COMBOS][columns] */
  double base;               /**< of an unpaired letter of a multiloop */
} rna_weights;

typedef struct rna_weights_input {
  int64_t posts;          /**< letters + 1 */
  const uint8_t *letters; /**< [posts - 1] A C G U 0..3, others above */
  const rna_exact *energy;
  const double *sizes; /**< [posts] energies of hairpins by size */
  double kt;           /**< of the temperature, in 0.01 kcal/mol */
} rna_weights_input;

/** Copy the input and fill all but the long lists. @param[out] w  zeroed before; clear it also
 *  after an error */
tsl_err rna_weights_open(const rna_weights_input *in, rna_weights *w);
void rna_weights_clear(rna_weights *w);
/** Number of parts of the long lists. */
int rna_weights_parts(void);
/** Fill one. Threads: others may fill others meanwhile. */
void rna_weights_fill(rna_weights *w, int part);

/** 2^e; far from 1 it is 0 or infinite. */
TSL_FN double rna_weights_power(int64_t e) {
  return ldexp(1.0, e > 4000 ? 4000 : e < -4000 ? -4000 : (int)e);
}

/** -kT ln(m 2^e) in kcal/mol. */
double rna_weights_ensemble(const rna_weights *w, double m, int32_t e);

TSL_C_END
