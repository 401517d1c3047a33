/* Tables of all ready problems of dp, cell by cell as dp.h defines them. */
#include "dp_backend_drive.h"
#include "rna_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct truth {
  const tsl_problem *problem;
  const dp_params *p;
  double *t;
  int64_t rows, columns;
} truth;

static double number(const truth *x, int field, int64_t k) {
  const tsl_field *f = &x->problem->fields[field];
  switch ((tsl_type)f->type) {
  case TSL_U8:
    return ((const uint8_t *)f->data)[k];
  case TSL_I32:
    return ((const int32_t *)f->data)[k];
  case TSL_I64:
    return (double)((const int64_t *)f->data)[k];
  case TSL_F32:
    return ((const float *)f->data)[k];
  default:
    return ((const double *)f->data)[k];
  }
}

/** As the table's type rounds it. */
static double rounded(const truth *x, double value) {
  return x->p->type == TSL_F32 ? (float)value : value;
}

static double *at(const truth *x, int64_t i, int64_t j) {
  return &x->t[i * x->columns + j];
}

/* ---- sequences */

/** Does an alignment begin at cell (i, j)? */
static bool begins(const dp_params *p, int64_t i, int64_t j) {
  return p->problem == DP_LOCAL || i + j == 0 || (j == 0 && p->free_ends & DP_A_BEGIN) ||
         (i == 0 && p->free_ends & DP_B_BEGIN);
}

static void fill_sequences(const truth *x) {
  const dp_params *p = x->p;
  for (int64_t i = 0; i <= p->n; i++)
    for (int64_t j = 0; j <= p->m; j++) {
      const bool edit = p->problem == DP_EDIT;
      if (i == 0 || j == 0) {
        *at(x, i, j) = edit && !begins(p, i, j) ? (double)(i * p->remove + j * p->insert) : 0;
        continue;
      }
      const bool same = number(x, DP_A, i - 1) == number(x, DP_B, j - 1);
      const double up = *at(x, i - 1, j), left = *at(x, i, j - 1), corner = *at(x, i - 1, j - 1);
      if (edit)
        *at(x, i, j) = fmin(corner + (same ? 0 : (double)p->replace),
                            fmin(up + (double)p->remove, left + (double)p->insert));
      else
        *at(x, i, j) = same ? corner + 1 : fmax(up, left);
    }
}

/** Large tables: gaps go on in E and F. */
static void fill_gotoh(const truth *x, double *f) {
  const dp_params *p = x->p;
  const letters_scores *s = &p->scores;
  for (int64_t j = 0; j <= p->m; j++) f[j] = -INFINITY;
  for (int64_t i = 0; i <= p->n; i++) {
    double e = -INFINITY;
    for (int64_t j = 0; j <= p->m; j++) {
      double value = begins(p, i, j) ? 0 : -INFINITY;
      if (j > 0) e = fmax(e, *at(x, i, j - 1) - s->open) - s->extend;
      if (i > 0) f[j] = fmax(f[j], *at(x, i - 1, j) - s->open) - s->extend;
      if (i > 0 && j > 0)
        value = fmax(value, *at(x, i - 1, j - 1) +
                                s->s[(int)number(x, DP_A, i - 1)][(int)number(x, DP_B, j - 1)]);
      *at(x, i, j) = fmax(value, fmax(e, f[j]));
    }
  }
}

/** All lengths of gaps at each cell: no E and F. */
static void fill_affine(const truth *x) {
  const dp_params *p = x->p;
  const letters_scores *s = &p->scores;
  if (p->n + p->m > 600) {
    double *f = calloc((size_t)p->m + 1, sizeof *f);
    fill_gotoh(x, f);
    free(f);
    return;
  }
  for (int64_t i = 0; i <= p->n; i++)
    for (int64_t j = 0; j <= p->m; j++) {
      double value = begins(p, i, j) ? 0 : -INFINITY;
      if (i > 0 && j > 0)
        value = fmax(value, *at(x, i - 1, j - 1) +
                                s->s[(int)number(x, DP_A, i - 1)][(int)number(x, DP_B, j - 1)]);
      for (int64_t g = 1; g <= i; g++)
        value = fmax(value, *at(x, i - g, j) - s->open - (double)(g * s->extend));
      for (int64_t g = 1; g <= j; g++)
        value = fmax(value, *at(x, i, j - g) - s->open - (double)(g * s->extend));
      *at(x, i, j) = value;
    }
}

static void fill_dtw(const truth *x) {
  const dp_params *p = x->p;
  for (int64_t i = 0; i < p->n; i++)
    for (int64_t j = 0; j < p->m; j++) {
      const double d = rounded(x, number(x, DP_A, i) - number(x, DP_B, j));
      const double cost = p->square ? rounded(x, d * d) : fabs(d);
      double least = i + j == 0 ? 0 : INFINITY;
      if (j > 0) least = fmin(least, *at(x, i, j - 1));
      if (i > 0) least = fmin(least, *at(x, i - 1, j));
      if (i > 0 && j > 0) least = fmin(least, *at(x, i - 1, j - 1));
      *at(x, i, j) = rounded(x, cost + least);
    }
}

/* ---- sweeps */

static void fill_sack(const truth *x) {
  const bool again = x->p->problem == DP_KNAPSACK_UNBOUNDED;
  for (int64_t i = 0; i <= x->p->n; i++)
    for (int64_t c = 0; c <= x->p->m; c++) {
      if (i == 0) {
        *at(x, i, c) = 0;
        continue;
      }
      const int64_t w = (int64_t)number(x, DP_A, i - 1);
      const double v = number(x, DP_B, i - 1);
      *at(x, i, c) = *at(x, i - 1, c);
      if (w <= c && (w > 0 || !again))
        *at(x, i, c) = fmax(*at(x, i, c), *at(x, again ? i : i - 1, c - w) + v);
    }
}

static void fill_binomial(const truth *x) {
  const double modulus = (double)x->p->modulus;
  for (int64_t i = 0; i <= x->p->n; i++)
    for (int64_t j = 0; j <= x->p->m; j++) {
      double value = j == 0 ? 1 : i == 0 ? 0 : *at(x, i - 1, j) + *at(x, i - 1, j - 1);
      if (modulus > 0) value = fmod(value, modulus);
      *at(x, i, j) = value;
    }
}

static void fill_allotment(const truth *x) {
  for (int64_t i = 0; i <= x->p->n; i++)
    for (int64_t j = 0; j <= x->p->m; j++) {
      double best = i == 0 ? 0 : -INFINITY;
      for (int64_t k = 0; i > 0 && k <= j; k++)
        best = fmax(
            best, rounded(x, *at(x, i - 1, j - k) + number(x, DP_A, (i - 1) * (x->p->m + 1) + k)));
      *at(x, i, j) = best;
    }
}

static void fill_stages(const truth *x) {
  const int64_t m = x->p->m;
  for (int64_t t = 0; t < x->p->n; t++)
    for (int64_t s = 0; s < m; s++) {
      double best = t == 0 ? number(x, DP_B, s) : INFINITY;
      for (int64_t k = 0; t > 0 && k < m; k++)
        best =
            fmin(best, rounded(x, *at(x, t - 1, k) + number(x, DP_A, ((t - 1) * m + k) * m + s)));
      *at(x, t, s) = best;
    }
}

/* ---- intervals */

static bool letters_pair(const dp_params *p, int x, int y) {
  return x + y == 3 || (p->wobble && ((x == 2 && y == 3) || (x == 3 && y == 2)));
}

/** Weight of keys a+1..b-1 and gaps a..b-1, by sums from the left as dp_tree_sums has them. */
static double weight(const truth *x, int64_t a, int64_t b) {
  double sum = 0, low = 0;
  for (int64_t post = 1; post <= b; post++) {
    if (post == a + 1) low = sum;
    sum += number(x, DP_B, post - 1);
    if (post < b) sum += number(x, DP_A, post - 1);
  }
  return sum - low;
}

static double interval(const truth *x, int64_t a, int64_t b) {
  const dp_params *p = x->p;
  const bool most = p->problem == DP_NUSSINOV;
  double best = most ? -INFINITY : INFINITY;
  if (b == a + 1) return p->problem == DP_SEARCH_TREE ? number(x, DP_B, a) : 0;
  for (int64_t k = a + 1; k < b; k++) {
    double value = *at(x, a, k) + *at(x, k, b);
    if (p->problem == DP_MATRIX_CHAIN)
      value += number(x, DP_A, a) * number(x, DP_A, k) * number(x, DP_A, b);
    best = most ? fmax(best, value) : fmin(best, value);
  }
  if (p->problem == DP_SEARCH_TREE) best += weight(x, a, b);
  if (most && b - 1 - a > p->span &&
      letters_pair(p, (int)number(x, DP_A, a), (int)number(x, DP_A, b - 1)))
    best = fmax(best, *at(x, a + 1, b - 1) + 1);
  return best;
}

static void fill_triangle(const truth *x) {
  for (int64_t d = 1; d < x->rows; d++)
    for (int64_t a = 0; a + d < x->rows; a++) *at(x, a, a + d) = interval(x, a, a + d);
}

/* ---- foldings */

typedef struct folding {
  const truth *x;
  const rna_energy *e;
  uint8_t *letters; /* readable from -1 on and behind the last one */
  double *m;        /* [rows][columns] of multiloops, as the table */
} folding;

static double stems(const folding *f, int64_t a, int64_t b) {
  return f->m[a * f->x->columns + b];
}

static double best_split(const folding *f, int64_t a, int64_t b) {
  double best = INFINITY;
  for (int64_t k = a + 1; k < b; k++) best = fmin(best, stems(f, a, k) + stems(f, k, b));
  return best;
}

/** Letters a..b-1, of which the first and the last pair. */
static double closed(const folding *f, int64_t a, int64_t b) {
  const uint8_t *s = f->letters;
  const int pair = rna_pair(s[a], s[b - 1]), turned = rna_pair(s[b - 1], s[a]);
  const int32_t *sizes = f->x->problem->fields[DP_C].data;
  if (pair == 0 || b - a < RNA_HAIRPIN + 2) return RNA_NONE;
  double best = rna_hairpin(f->e, sizes, s + a, b - a - 2);
  for (int64_t p = a + 1; p < b && p - a - 1 <= RNA_LOOP; p++)
    for (int64_t q = b - 2; q > p && p - a - 1 + b - 2 - q <= RNA_LOOP; q--)
      if (*at(f->x, p, q + 1) < RNA_HIGH)
        best = fmin(best, *at(f->x, p, q + 1) +
                              rna_interior(f->e, s + a, (int)(p - a - 1), s + q, (int)(b - 2 - q)));
  best = fmin(best, best_split(f, a + 1, b - 1) + f->e->multi_closing +
                        rna_multi_stem(f->e, turned, s[b - 2], s[a + 1]));
  return best < RNA_HIGH ? best : RNA_NONE;
}

static void fold_cell(const folding *f, int64_t a, int64_t b) {
  const uint8_t *s = f->letters;
  const int pair = rna_pair(s[a], s[b - 1]);
  const double v = *at(f->x, a, b) = closed(f, a, b);
  double best = best_split(f, a, b);
  if (v < RNA_HIGH) best = fmin(best, v + rna_multi_stem(f->e, pair, s[a - 1], s[b]));
  if (b > a + 1) best = fmin(best, fmin(stems(f, a + 1, b), stems(f, a, b - 1)) + f->e->multi_base);
  f->m[a * f->x->columns + b] = best;
}

static uint8_t *letters_of(const tsl_problem *problem) {
  const int64_t n = dp_params_of(problem)->n;
  const uint8_t *codes = problem->fields[DP_A].data;
  uint8_t *letters = calloc((size_t)n + 2, 1);
  for (int64_t k = 0; k < n; k++) letters[k + 1] = codes[k] < 4 ? (uint8_t)(codes[k] + 1) : 0;
  return letters;
}

static void fill_fold(const truth *x) {
  uint8_t *around = letters_of(x->problem);
  double *m = malloc((size_t)(x->rows * x->columns) * sizeof *m);
  const folding f = {x, x->problem->fields[DP_B].data, around + 1, m};
  for (int64_t k = 0; k < x->rows * x->columns; k++) m[k] = INFINITY;
  for (int64_t d = 1; d < x->rows; d++)
    for (int64_t a = 0; a + d < x->rows; a++) fold_cell(&f, a, a + d);
  free(m);
  free(around);
}

/** Energy of all letters. */
static double fold_goal(const tsl_problem *problem, const double *table) {
  const int64_t n = dp_params_of(problem)->n;
  const rna_energy *e = problem->fields[DP_B].data;
  uint8_t *around = letters_of(problem), *s = around + 1;
  double *best = calloc((size_t)n + 1, sizeof *best);
  for (int64_t b = 1; b <= n; b++) {
    best[b] = best[b - 1];
    for (int64_t a = 0; a < b; a++) {
      const double v = table[a * (n + 1) + b];
      if (v < RNA_HIGH)
        best[b] = fmin(best[b], best[a] + v +
                                    rna_exterior_stem(e, rna_pair(s[a], s[b - 1]),
                                                      a > 0 ? s[a - 1] : -1, b < n ? s[b] : -1));
    }
  }
  const double goal = best[n];
  free(best);
  free(around);
  return goal;
}

/* ---- sums over structures, and derivatives of the whole by each sum, from outside in */

typedef struct sums {
  const rna_exact *e;
  const double *sizes;
  double kt;
  int64_t n;        /* letters */
  uint8_t *letters; /* readable from -1 on and behind the last one */
  /* [posts][posts]: ends pair; one stem that begins at a; one or more; and their derivatives */
  long double *closed, *stem, *stems, *by_closed, *by_stem, *by_stems;
  long double *left, *by_left; /* [posts] letters 0..b-1 */
} sums;

static int64_t cell(const sums *f, int64_t a, int64_t b) {
  return a * (f->n + 1) + b;
}

static long double boltzmann(const sums *f, double energy) {
  return energy < RNA_HIGH ? expl(-(long double)energy / f->kt) : 0;
}

static long double of_stem(const sums *f, int64_t a, int64_t b) {
  const uint8_t *s = f->letters;
  const int pair = rna_pair(s[a], s[b - 1]);
  return pair == 0 ? 0 : boltzmann(f, rna_exact_multi_stem(f->e, pair, s[a - 1], s[b]));
}

static long double of_multiloop(const sums *f, int64_t a, int64_t b) {
  const uint8_t *s = f->letters;
  const int turned = rna_pair(s[b - 1], s[a]);
  return turned == 0 ? 0
                     : boltzmann(f, f->e->multi_closing +
                                        rna_exact_multi_stem(f->e, turned, s[b - 2], s[a + 1]));
}

static long double of_exterior(const sums *f, int64_t a, int64_t b) {
  const uint8_t *s = f->letters;
  const int pair = rna_pair(s[a], s[b - 1]);
  return pair == 0 ? 0
                   : boltzmann(f, rna_exact_exterior_stem(f->e, pair, a > 0 ? s[a - 1] : -1,
                                                          b < f->n ? s[b] : -1));
}

/** All loops between a pair and one inside: sums of them, or back: derivatives. */
static long double of_loops(const sums *f, int64_t a, int64_t b, long double back) {
  const uint8_t *s = f->letters;
  long double sum = 0;
  for (int64_t p = a + 1; p < b && p - a - 1 <= RNA_LOOP; p++)
    for (int64_t q = b - 2; q > p && p - a - 1 + b - 2 - q <= RNA_LOOP; q--) {
      if (f->closed[cell(f, p, q + 1)] == 0) continue;
      const long double w =
          boltzmann(f, rna_exact_interior(f->e, s + a, (int)(p - a - 1), s + q, (int)(b - 2 - q)));
      sum += w * f->closed[cell(f, p, q + 1)];
      f->by_closed[cell(f, p, q + 1)] += w * back;
    }
  return sum;
}

static void sum_inside(const sums *f, int64_t a, int64_t b) {
  const uint8_t *s = f->letters;
  const long double free_one = boltzmann(f, f->e->multi_base);
  long double alone = 1, more = 0;
  if (b - a >= RNA_HAIRPIN + 2 && rna_pair(s[a], s[b - 1]) != 0) {
    for (int64_t k = a + 2; k < b - 1; k++)
      more += f->stems[cell(f, a + 1, k)] * f->stem[cell(f, k, b - 1)];
    f->closed[cell(f, a, b)] = boltzmann(f, rna_exact_hairpin(f->e, f->sizes, s + a, b - a - 2)) +
                               of_loops(f, a, b, 0) + of_multiloop(f, a, b) * more;
  }
  f->stem[cell(f, a, b)] =
      f->closed[cell(f, a, b)] * of_stem(f, a, b) + free_one * f->stem[cell(f, a, b - 1)];
  for (int64_t k = a; k < b; k++, alone *= free_one)
    f->stems[cell(f, a, b)] += (alone + f->stems[cell(f, a, k)]) * f->stem[cell(f, k, b)];
}

static void sum_outside(const sums *f, int64_t a, int64_t b) {
  const uint8_t *s = f->letters;
  const long double free_one = boltzmann(f, f->e->multi_base), by = f->by_stems[cell(f, a, b)];
  long double alone = 1;
  for (int64_t k = a; k < b; k++, alone *= free_one) {
    f->by_stem[cell(f, k, b)] += by * (alone + f->stems[cell(f, a, k)]);
    f->by_stems[cell(f, a, k)] += by * f->stem[cell(f, k, b)];
  }
  f->by_closed[cell(f, a, b)] += f->by_stem[cell(f, a, b)] * of_stem(f, a, b);
  f->by_stem[cell(f, a, b - 1)] += f->by_stem[cell(f, a, b)] * free_one;
  if (f->closed[cell(f, a, b)] == 0 || rna_pair(s[a], s[b - 1]) == 0) return;
  const long double back = f->by_closed[cell(f, a, b)], loop = back * of_multiloop(f, a, b);
  (void)of_loops(f, a, b, back);
  for (int64_t k = a + 2; k < b - 1; k++) {
    f->by_stems[cell(f, a + 1, k)] += loop * f->stem[cell(f, k, b - 1)];
    f->by_stem[cell(f, k, b - 1)] += loop * f->stems[cell(f, a + 1, k)];
  }
}

static void sum_exterior(const sums *f) {
  f->left[0] = 1;
  for (int64_t b = 1; b <= f->n; b++) {
    f->left[b] = f->left[b - 1];
    for (int64_t a = 0; a < b; a++)
      f->left[b] += f->left[a] * f->closed[cell(f, a, b)] * of_exterior(f, a, b);
  }
  f->by_left[f->n] = 1 / f->left[f->n]; /* of the logarithm */
  for (int64_t b = f->n; b > 0; b--) {
    f->by_left[b - 1] += f->by_left[b];
    for (int64_t a = 0; a < b; a++) {
      f->by_left[a] += f->by_left[b] * f->closed[cell(f, a, b)] * of_exterior(f, a, b);
      f->by_closed[cell(f, a, b)] += f->by_left[b] * f->left[a] * of_exterior(f, a, b);
    }
  }
}

/** @param[out] table  [n][n] probabilities. @return the energy of the ensemble */
static double sum_all(const tsl_problem *problem, double *table) {
  const int64_t n = dp_params_of(problem)->n, cells = (n + 1) * (n + 1);
  uint8_t *around = letters_of(problem);
  long double *all = calloc((size_t)(6 * cells + 2 * (n + 1)), sizeof *all);
  const sums f = {problem->fields[DP_B].data,
                  problem->fields[DP_C].data,
                  100 * dp_params_of(problem)->kt,
                  n,
                  around + 1,
                  all,
                  all + cells,
                  all + 2 * cells,
                  all + 3 * cells,
                  all + 4 * cells,
                  all + 5 * cells,
                  all + 6 * cells,
                  all + 6 * cells + n + 1};
  for (int64_t d = 1; d <= n; d++)
    for (int64_t a = 0; a + d <= n; a++) sum_inside(&f, a, a + d);
  memset(f.by_closed, 0, (size_t)cells * sizeof *all);
  sum_exterior(&f);
  for (int64_t d = n; d > 0; d--)
    for (int64_t a = 0; a + d <= n; a++) {
      sum_outside(&f, a, a + d);
      table[a * n + a + d - 1] =
          (double)(f.closed[cell(&f, a, a + d)] * f.by_closed[cell(&f, a, a + d)]);
    }
  const double energy = n > 0 ? (double)(-f.kt / 100 * logl(f.left[n])) : 0;
  free(all);
  free(around);
  return energy;
}

static void fill_partition(const truth *x) {
  (void)sum_all(x->problem, x->t);
}

static double partition_goal(const tsl_problem *problem) {
  const int64_t n = dp_params_of(problem)->n;
  double *table = calloc((size_t)(n * n) + 1, sizeof *table);
  const double goal = sum_all(problem, table);
  free(table);
  return goal;
}

double *dp_truth_table(const tsl_problem *problem, int64_t *rows, int64_t *columns) {
  static void (*const fill[DP_N_PROBLEMS])(const truth *) = {
      NULL,           fill_binomial,  fill_sack,   fill_sack,     fill_allotment, fill_stages,
      fill_sequences, fill_sequences, fill_affine, fill_affine,   fill_dtw,       fill_triangle,
      fill_triangle,  fill_triangle,  fill_fold,   fill_partition};
  truth x = {.problem = problem, .p = dp_params_of(problem)};
  const bool edge = dp_has_boundary(x.p);
  x.rows = x.p->engine == DP_INTERVAL ? dp_posts(x.p) : x.p->n + edge;
  x.columns = x.p->engine == DP_INTERVAL ? dp_posts(x.p) : x.p->m + edge;
  if (x.p->problem == DP_PARTITION) x.rows = x.columns = x.p->n;
  x.t = calloc((size_t)(x.rows * x.columns) + 1, sizeof *x.t);
  fill[x.p->problem](&x);
  *rows = x.rows, *columns = x.columns;
  return x.t;
}

/** The best of where an alignment may end. */
static double best_end(const dp_params *p, const double *table, double goal) {
  const double sign = p->problem == DP_EDIT ? -1 : 1;
  for (int64_t i = 0; i <= p->n; i++)
    for (int64_t j = 0; j <= p->m; j++) {
      const bool end =
          (j == p->m && p->free_ends & DP_A_END) || (i == p->n && p->free_ends & DP_B_END);
      if (end) goal = sign * fmax(sign * goal, sign * table[i * (p->m + 1) + j]);
    }
  return goal;
}

/** E' of cell (i, j): the best from which a gap in the next column goes on. */
static double gap_from(const dp_params *p, const double *row, int64_t j) {
  double best = -HUGE_VAL;
  for (int64_t k = 0; k <= j; k++)
    best = fmax(best, row[k] - p->scores.open - (double)(j - k) * p->scores.extend);
  return best;
}

int64_t dp_truth_edge_above(const tsl_problem *problem, const double *table, const tsl_unit *unit,
                            const int32_t *edge) {
  const dp_params *p = dp_params_of(problem);
  const int64_t j = unit->hi[1], rows = unit->hi[0] - unit->lo[0];
  int64_t wrong = edge[1] > dp_truth_goal(problem, table); /* entry 0: a score, not E' */
  for (int64_t r = 0; r <= rows; r++) {
    const double *row = table + (unit->lo[0] + r) * (p->m + 1);
    wrong += edge[2 * r] < 0 || edge[2 * r] > row[j];
    wrong += r > 0 && edge[2 * r + 1] > gap_from(p, row, j);
  }
  return wrong;
}

double dp_truth_goal(const tsl_problem *problem, const double *table) {
  const dp_params *p = dp_params_of(problem);
  const bool edge = dp_has_boundary(p);
  const int64_t rows = p->engine == DP_INTERVAL ? dp_posts(p) : p->n + edge;
  const int64_t columns = p->engine == DP_INTERVAL ? dp_posts(p) : p->m + edge;
  if (p->problem == DP_FOLD) return fold_goal(problem, table);
  if (p->problem == DP_PARTITION) return partition_goal(problem);
  double goal = table[(p->engine == DP_INTERVAL ? 1 : rows) * columns - 1];
  if (p->problem == DP_LOCAL)
    for (int64_t k = 0; k < rows * columns; k++) goal = fmax(goal, table[k]);
  if (p->free_ends != 0) goal = best_end(p, table, goal);
  if (p->problem == DP_STAGECOACH)
    for (int64_t s = 0; s < columns; s++) goal = fmin(goal, table[(rows - 1) * columns + s]);
  return goal;
}
