/* From the numbers of a parameter file to energies at a temperature. */
#include "memory.h"
#include "rna_params_own.h"

#include <math.h>

enum { FILE_PAIRS = 7 }; /* six and one that is none of them, which we do not use */

static const double zero_celsius = 273.15, measured = 310.15; /* kelvin */

#define AT(member) offsetof(rna_exact, member)
#define MISMATCH                           \
  {FILE_PAIRS, 5, 5}, {RNA_PAIRS, 5, 5}, { \
    1                                      \
  }
#define BY_SIZE                     \
  {RNA_LOOP + 1}, {RNA_LOOP + 1}, { \
    0                               \
  }
const section rna_sections[N_TABLES] = {
    {"stack", AT(stack), {FILE_PAIRS, FILE_PAIRS}, {RNA_PAIRS, RNA_PAIRS}, {1, 1}, false},
    {"mismatch_hairpin", AT(hairpin_end), MISMATCH, false},
    {"mismatch_interior", AT(interior_end), MISMATCH, false},
    {"mismatch_interior_1n", AT(one_end), MISMATCH, false},
    {"mismatch_interior_23", AT(two_three_end), MISMATCH, false},
    {"mismatch_multi", AT(multi_end), MISMATCH, true},
    {"mismatch_exterior", AT(exterior_end), MISMATCH, true},
    {"dangle5", AT(dangle5), {FILE_PAIRS, 5}, {RNA_PAIRS, 5}, {1}, true},
    {"dangle3", AT(dangle3), {FILE_PAIRS, 5}, {RNA_PAIRS, 5}, {1}, true},
    {"int11",
     AT(int11),
     {FILE_PAIRS, FILE_PAIRS, 5, 5},
     {RNA_PAIRS, RNA_PAIRS, 5, 5},
     {1, 1},
     false},
    {"int21",
     AT(int21),
     {FILE_PAIRS, FILE_PAIRS, 5, 5, 5},
     {RNA_PAIRS, RNA_PAIRS, 5, 5, 5},
     {1, 1},
     false},
    {"int22",
     AT(int22),
     {6, 6, 4, 4, 4, 4},
     {RNA_PAIRS, RNA_PAIRS, 5, 5, 5, 5},
     {1, 1, 1, 1, 1, 1},
     false},
    {"hairpin", NOWHERE, BY_SIZE, false},
    {"bulge", AT(bulge), BY_SIZE, false},
    {"interior", AT(interior), BY_SIZE, false},
};

double rna_params_factor(const reader *r) {
  return (r->ask->celsius + zero_celsius) / measured;
}

double rna_params_at(const reader *r, int32_t energy, int32_t enthalpy) {
  if (energy >= RNA_FORBIDDEN || enthalpy >= RNA_FORBIDDEN) return RNA_FORBIDDEN;
  return enthalpy - (enthalpy - energy) * rna_params_factor(r);
}

/* Letters next to a stem outside and in multiloops are no cost, and nothing without dangles. The
 * exact energies go to 0 along a sine, so that sums over structures are smooth in the temperature:
 * ViennaRNA's pf_smooth, whose constants these are. */
static double lowered(const reader *r, double energy) {
  const double tenth = energy / -10;
  if (r->ask->dangles == 0) return 0;
  if (!r->smooth) return energy < 0 ? energy : 0;
  if (tenth < -1.2283697) return 0;
  if (tenth > 0.8660254) return energy;
  const double wave = sin(tenth - 0.34242663) + 1;
  return -10 * 0.38490018 * wave * wave;
}

int rna_params_count(const section *s) {
  int count = 1;
  for (int d = 0; d < 6 && s->dims[d] > 0; d++) count *= s->dims[d];
  return count;
}

/* Place of number k of the file among those kept; -1: not kept. */
static int64_t place_of(const section *s, int k) {
  int64_t at = 0, step = 1;
  int last = 5;
  while (last > 0 && s->dims[last] == 0) last--;
  for (int d = last; d >= 0; d--) {
    const int index = k % s->dims[d] + s->skip[d];
    k /= s->dims[d];
    if (index >= s->room[d]) return -1;
    at += step * index;
    step *= s->room[d];
  }
  return at;
}

static void settle_table(reader *r, int number) {
  const section *s = &rna_sections[number];
  double *to = s->at == NOWHERE ? r->hairpin : (double *)(void *)((char *)r->energy + s->at);
  const int n = rna_params_count(s);
  for (int k = 0; k < n; k++) {
    const int64_t place = place_of(s, k);
    if (place < 0) continue;
    const double value = rna_params_at(r, r->numbers[0][number][k], r->numbers[1][number][k]);
    to[place] = s->lowers ? lowered(r, value) : value;
  }
}

typedef int32_t table22[RNA_PAIRS][RNA_PAIRS][5][5][5][5];
/* Two letters on each side, others than A C G U among them: the worst of what they may be. */
static void complete_int22(table22 table) {
  for (int x = 1; x < RNA_PAIRS; x++)
    for (int y = 1; y < RNA_PAIRS; y++)
      for (int k = 0; k < 625; k++) {
        const int at[4] = {k / 125, k / 25 % 5, k / 5 % 5, k % 5};
        int32_t worst = INT32_MIN;
        for (int m = 0; m < 256; m++) {
          int as[4] = {m / 64 + 1, m / 16 % 4 + 1, m / 4 % 4 + 1, m % 4 + 1};
          for (int d = 0; d < 4; d++)
            if (at[d] != 0) as[d] = at[d];
          const int32_t value = table[x][y][as[0]][as[1]][as[2]][as[3]];
          if (value > worst) worst = value;
        }
        table[x][y][at[0]][at[1]][at[2]][at[3]] = worst;
      }
}

/* Energies and enthalpies are completed before they are combined. */
static tsl_err settle_int22(const reader *r, int number) {
  tsl_err err = TSL_OK;
  int32_t *both[2] = {NULL, NULL};
  const int64_t n = sizeof(table22) / sizeof(int32_t);
  double *to = &r->energy->int22[0][0][0][0][0][0];
  for (int side = 0; side < 2; side++) {
    TSL_TRY(tsl_alloc(n, sizeof(int32_t), "parameters", (void **)&both[side]));
    for (int k = 0; k < rna_params_count(&rna_sections[number]); k++)
      both[side][place_of(&rna_sections[number], k)] = r->numbers[side][number][k];
    complete_int22((int32_t(*)[RNA_PAIRS][5][5][5][5])(void *)both[side]);
  }
  for (int64_t k = 0; k < n; k++) to[k] = rna_params_at(r, both[0][k], both[1][k]);
done:
  TSL_FREE_ALL(both[0], both[1]);
  return err;
}

tsl_err rna_params_settle(reader *r) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < N_TABLES; k++)
    if (rna_sections[k].at == AT(int22))
      TSL_TRY(settle_int22(r, k));
    else
      settle_table(r, k);
done:
  return err;
}

double rna_params_beyond(const reader *r, int64_t size) {
  return size > RNA_LOOP ? r->logarithm * log((double)size / RNA_LOOP) : 0;
}
