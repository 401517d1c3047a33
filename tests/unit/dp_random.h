/* Random recurrences for tests: expressions that parse, and equations that fit a given order. */
#pragma once

#include "dp_fixture.h"
#include "random.h"

/** A text being written. */
typedef struct writer {
  char text[LANG_TEXT_MAX];
  size_t used;
  uint64_t seed;
  int loops; /**< ranges open: variables k0, k1 */
} writer;

static inline void put(writer *w, const char *piece) {
  const size_t n = strlen(piece);
  if (w->used + n + 1 >= sizeof w->text) return;
  memcpy(w->text + w->used, piece, n + 1);
  w->used += n;
}

static inline void put_number(writer *w, int n) {
  char number[16];
  (void)snprintf(number, sizeof number, "%d", n);
  put(w, number);
}

static inline void write_leaf(writer *w) {
  static const char *const leaves[] = {"i", "j", "n", "rows(M)", "len(w)", "k0", "k1"};
  const int pick = random_below(&w->seed, 9);
  if (pick >= 7 || pick - 5 >= w->loops)
    put_number(w, random_below(&w->seed, 6));
  else
    put(w, leaves[pick]);
}

/** An integer expression over i, j, n, w[5] and range variables, without table reads. */
static inline void write_expr(writer *w, int depth) {
  static const char *const operators[] = {" + ",  " - ",  " * ",  " / ",  " % ",  " < ",
                                          " <= ", " >= ", " == ", " && ", " || ", " != "};
  const int pick = depth == 0 ? 0 : random_below(&w->seed, 12);
  if (pick < 2) {
    write_leaf(w);
  } else if (pick < 7) {
    put(w, "(");
    write_expr(w, depth - 1);
    put(w, operators[random_below(&w->seed, random_below(&w->seed, 3) == 0 ? 12 : 3)]);
    write_expr(w, depth - 1);
    put(w, ")");
  } else if (pick == 7) {
    put(w, "(");
    write_expr(w, depth - 1);
    put(w, random_below(&w->seed, 2) == 0 ? " >= " : " < ");
    write_expr(w, depth - 1);
    put(w, " ? ");
    write_expr(w, depth - 1);
    put(w, " : ");
    write_expr(w, depth - 1);
    put(w, ")");
  } else if (pick == 8) {
    put(w, random_below(&w->seed, 2) == 0 ? "min(" : "max(");
    write_expr(w, depth - 1);
    put(w, ", ");
    write_expr(w, depth - 1);
    put(w, ")");
  } else if (pick == 9) {
    put(w, random_below(&w->seed, 2) == 0 ? "abs(" : "(-");
    write_expr(w, depth - 1);
    put(w, ")");
  } else if (pick == 10) {
    put(w, "w[abs(");
    write_expr(w, depth - 1);
    put(w, ") % 5]");
  } else if (w->loops < 2) {
    static const char *const heads[] = {"min(", "max(", "sum("};
    const int head = random_below(&w->seed, 3);
    put(w, heads[head]);
    put(w, w->loops == 0 ? "k0 = " : "k1 = ");
    write_leaf(w);
    put(w, " .. ");
    write_leaf(w);
    put(w, " : ");
    w->loops++;
    write_expr(w, depth - 1);
    w->loops--;
    put(w, head == 2 ? ")" : " else 1)");
  } else {
    write_leaf(w);
  }
}

/** The reference (a rows, b columns away in folded coordinates) as the pattern's table has it. */
static inline void write_reference(writer *w, dp_pattern pattern, int a, int b) {
  const dp_fold fold = dp_pattern_fold(pattern);
  int di = fold.transpose != 0 ? b : a, dj = fold.transpose != 0 ? a : b;
  char text[64];
  if (fold.flip_i != 0) di = -di;
  if (fold.flip_j != 0) dj = -dj;
  (void)snprintf(text, sizeof text, "M[i%+d][j%+d]", di, dj);
  put(w, text);
}
