/** @file rna_weights.c  Weights of loops in lists. */
#include "rna_weights.h"

#include "memory.h"

#include <math.h>

static double weight(const rna_weights *w, double energy) {
  return energy >= RNA_HIGH ? 0 : exp(-energy * w->beta);
}

#define RNA(name) rna_exact_##name
#define RNA_NUMBER double
#define LOOPS rna_weights
#define LOOPS_NUMBER double
#define LOOPS_WEIGHT(f, energy) weight(f, energy)
#define LOOPS_NEVER 0
#define LOOPS_TILE RNA_WEIGHTS_TILE
#include "rna_lists_fill.h"

static tsl_err take_lists(rna_weights *w) {
  tsl_err err = TSL_OK;
  static const char what[] = "weights of loops";
  const int64_t n = w->columns;
  TSL_TRY(tsl_alloc(n, sizeof(int32_t), what, (void **)&w->key));
  TSL_TRY(tsl_alloc(n + 2 * RNA_WEIGHTS_TILE, sizeof(double), what, (void **)&w->sizes));
  TSL_TRY(tsl_alloc(n * RNA_WEIGHTS_HAIRPINS, sizeof(double), what, (void **)&w->hairpins));
  TSL_TRY(tsl_alloc(n * RNA_N_LISTS * RNA_COMBOS, sizeof(double), what, (void **)&w->lists));
  TSL_TRY(tsl_alloc((int64_t)DP_FOLD_NEAR * RNA_KEYS * RNA_KEYS, sizeof(double), what,
                    (void **)&w->near));
done:
  return err;
}

static void fill_hairpins(rna_weights *w) {
  for (int k = 0; k < RNA_WEIGHTS_HAIRPINS; k++) {
    const int size = rna_weights_hairpin[k];
    for (int64_t a = 0; a + size + 2 < w->posts; a++)
      w->hairpins[k * w->columns + a] =
          weight(w, rna_exact_hairpin(w->energy, w->small, w->letters + a, size));
  }
}

tsl_err rna_weights_open(const rna_weights_input *in, rna_weights *w) {
  tsl_err err = TSL_OK;
  w->beta = 1 / in->kt;
  w->posts = in->posts;
  w->tiles = (in->posts + RNA_WEIGHTS_TILE - 1) / RNA_WEIGHTS_TILE;
  w->columns = (w->tiles + 1) * RNA_WEIGHTS_TILE;
  TSL_TRY(tsl_alloc(1, sizeof *w->energy, "energies", (void **)&w->energy));
  *w->energy = *in->energy;
  TSL_TRY(take_letters(w, in->letters));
  TSL_TRY(take_lists(w));
  w->base = weight(w, w->energy->multi_base);
  fill_short(w, in->sizes);
  fill_hairpins(w);
done:
  return err;
}

void rna_weights_clear(rna_weights *w) {
  TSL_FREE_ALL(w->energy, w->around, w->sizes, w->hairpins, w->near, w->key, w->lists);
  *w = (rna_weights){0};
}

int rna_weights_parts(void) {
  return LOOPS_PARTS;
}

void rna_weights_fill(rna_weights *w, int part) {
  fill_part(w, part);
}

double rna_weights_ensemble(const rna_weights *w, double m, int32_t e) {
  static const double of_2 = 0.693147180559945309417;
  return 0 - (log(m) + e * of_2) / w->beta / 100; /* not -0 */
}
