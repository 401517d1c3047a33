/* unit.tri.functions: the columns of the list of pair functions say what the formulas do. */
#include "tri_pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/** The formulas of a function for double. */
typedef struct formulas {
  const char *name;
  double (*step)(double acc, double a, double b, double box);
  double (*finish)(double acc, double ei, double ej, double scale);
} formulas;

#define X(NAME, name, ...)                                                      \
  static double step_##name(double acc, double a, double b, double box) {       \
    return tri_step_##name##_f64(acc, a, b, box);                               \
  }                                                                             \
  static double finish_##name(double acc, double ei, double ej, double scale) { \
    return tri_finish_##name##_f64(acc, ei, ej, scale);                         \
  }
TRI_STEP_LIST(X)
#undef X

/* Of truths: one more is 1 in both. */
#define X(NAME, name, ...)                                                       \
  static double step_##name(double acc, double a, double b, double unused) {     \
    (void)unused;                                                                \
    return acc + (a != 0 && b != 0);                                             \
  }                                                                              \
  static double finish_##name(double both, double ei, double ej, double scale) { \
    return tri_finish_##name##_f64(both, ei, ej, scale);                         \
  }
TRI_TRUTH_LIST(X)
#undef X

static const formulas all[TRI_N_PAIRS] = {
#define X(NAME, name, ...) [TRI_##NAME] = {#name, step_##name, finish_##name},
    TRI_PAIR_LIST(X)
#undef X
};

/* Within the box, exact sums and differences. */
static const double numbers[] = {0, 0.0625, 0.25, 1, 1.5, 2.75, 3.9375};
enum { N_NUMBERS = sizeof numbers / sizeof numbers[0] };
static const double box = 4;

static bool same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

static void words_follow_the_list(void **state) {
  (void)state;
  for (int f = 0; f < TRI_N_PAIRS; f++) assert_string_equal(tri_function_words[f], all[f].name);
  assert_string_equal(tri_function_words[TRI_GRAVITY], "gravity");
  assert_null(tri_function_words[TRI_N_FUNCTIONS]);
  for (int f = 0; f < TRI_EUCLIDEAN_PERIODIC; f++)
    assert_string_equal(tri_choice_words[f], all[f].name);
  assert_string_equal(tri_choice_words[TRI_WORD_GRAVITY], "gravity");
  assert_string_equal(tri_choice_words[TRI_WORD_EQUATION], "equation");
  int word = TRI_WORD_LETTERS;
#define X(NAME, name, ...)                                    \
  assert_string_equal(tri_function_words[TRI_##NAME], #name); \
  assert_string_equal(tri_choice_words[word++], #name);
  TRI_LETTER_LIST(X)
#undef X
  assert_null(tri_choice_words[word]);
}

/* fp32 counts raw points from their middle; kernels fill padding with equal points. */
static void raw_points_may_move(void **state) {
  (void)state;
  for (int f = 0; f < TRI_N_PAIRS; f++)
    for (int a = 0; a < N_NUMBERS && tri_abouts[f].prepare == TRI_RAW; a++)
      for (int b = 0; b < N_NUMBERS; b++)
        for (double by = -64; by <= 64; by += 32) {
          const double moved = all[f].step(2, numbers[a] + by, numbers[b] + by, box);
          if (!same_bits(moved, all[f].step(2, numbers[a], numbers[b], box)))
            fail_msg("%s of (%g, %g) changes when both move by %g", all[f].name, numbers[a],
                     numbers[b], by);
        }
}

static void squares_may_start_at_minus_zero(void **state) {
  (void)state;
  for (int f = 0; f < TRI_N_PAIRS; f++)
    for (int a = 0;
         a < N_NUMBERS && tri_abouts[f].sum != TRI_LENGTHS && tri_abouts[f].sum < TRI_TERMS; a++)
      for (int b = 0; b < N_NUMBERS; b++)
        if (!same_bits(all[f].step(-0.0, numbers[a], numbers[b], box),
                       all[f].step(0.0, numbers[a], numbers[b], box)))
          fail_msg("%s of (%g, %g) from -0 has other bits", all[f].name, numbers[a], numbers[b]);
}

static void functions_are_symmetric(void **state) {
  (void)state;
  for (int f = 0; f < TRI_N_PAIRS; f++)
    for (int a = 0; a < N_NUMBERS; a++)
      for (int b = 0; b < N_NUMBERS; b++) {
        const double one = all[f].step(0, numbers[a], numbers[b], box);
        const double other = all[f].step(0, numbers[b], numbers[a], box);
        if (!same_bits(one, other) ||
            !same_bits(all[f].finish(one, 0.5, 0.25, 2), all[f].finish(other, 0.25, 0.5, 2)))
          fail_msg("%s of (%g, %g) depends on the order", all[f].name, numbers[a], numbers[b]);
      }
}

/* Of unit vectors at an angle, from their differences and from their inner product. */
static void products_are_cosine_distances(void **state) {
  (void)state;
  for (int f = 0; f < TRI_N_PAIRS; f++)
    for (double t = 0; t < 3 && tri_abouts[f].sum == TRI_PRODUCT; t += 0.125) {
      const double acc = all[f].step(all[f].step(0, 1, cos(t), 0), 0, sin(t), 0);
      const double value = all[f].finish(acc, 0, 0, 0);
      if (fabs(value - tri_product_cosine_f64(cos(t))) > 1e-15)
        fail_msg("%s at the angle %g is %.17g", all[f].name, t, value);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_follow_the_list),           cmocka_unit_test(raw_points_may_move),
      cmocka_unit_test(squares_may_start_at_minus_zero), cmocka_unit_test(functions_are_symmetric),
      cmocka_unit_test(products_are_cosine_distances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
