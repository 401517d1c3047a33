#include "dp_recur_cases.h"

#include "dp_eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** One recurrence; names: w[i32 x 7], g[f64 x 3] (real tables), n = 5. */
typedef struct recipe {
  bool any_size;
  dp_pattern pattern;
  tsl_type type;
  lang_cells cells;
  int64_t rows, cols;
  const char *where, *value, *cell, *goal;
  int64_t inner[LANG_INNER_MAX]; /* 0: no such index */
} recipe;

#define FRAME "i == 0 || j == 0"
#define INNER(...) \
  { __VA_ARGS__ }
#define CORNER "M[rows(M)-1][cols(M)-1]"

static const recipe recipes[] = {
    {true, DP_NOSE, TSL_I32, LANG_CELLS_ALL, 524, 1033, FRAME, "0",
     "w[i % 7] == w[j % 7] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])", "max over all",
     INNER(0)},
    {true, DP_NOSE, TSL_I32, LANG_CELLS_ALL, 2, 3, FRAME, "i + j", "M[i-1][j] + M[i][j-1] * 2",
     CORNER, INNER(0)},
    {true, DP_NOSE, TSL_I16, LANG_CELLS_ALL, 301, 257, FRAME, "0",
     "max(0, M[i-1][j-1] + (w[i % 7] == w[j % 7] ? 3 : -2), M[i-1][j] - 1, M[i][j-1] - 1)",
     "max over all", INNER(0)},
    {true, DP_SENO, TSL_I64, LANG_CELLS_ALL, 211, 307, "i == rows(M)-1 || j == cols(M)-1", "i - j",
     "(M[i+1][j] * 3 + M[i][j+1] + i * j) % 1000003", "min over all", INNER(0)},
    {true, DP_SONE, TSL_F32, LANG_CELLS_ALL, 129, 70, "i == rows(M)-1 || j == 0", "i * 0.5 + j",
     "min(M[i+1][j-1], M[i+1][j], M[i][j-1]) + abs(g[i % 3] - j) / 3", CORNER, INNER(0)},
    {true, DP_NESO, TSL_F64, LANG_CELLS_ALL, 97, 131, "i == 0 || j == cols(M)-1", "1",
     "M[i-1][j] * 0.5 + M[i][j+1] * 0.25 + g[(i + j) % 3]", "max over all", INNER(0)},
    {false, DP_NOSE, TSL_I64, LANG_CELLS_ALL, 90, 90, FRAME, "1", "M[i-1][j] + M[i][j-1]", CORNER,
     INNER(0)},
    {false, DP_NOSE, TSL_I32, LANG_CELLS_ALL, 40, 40, FRAME, "1", "M[i-1][j] + 7 / (j - n)", CORNER,
     INNER(0)},
    {true, DP_RUD, TSL_I32, LANG_CELLS_ALL, 77, 1001, "i == 0", "0",
     "j < w[i % 7] ? M[i-1][j] : max(M[i-1][j], M[i-1][j-w[i % 7]] + i)", CORNER, INNER(0)},
    {false, DP_RDU, TSL_I64, LANG_CELLS_ALL, 40, 300, "i >= rows(M) - 3", "j",
     "M[i+3][j] + M[i+1][min(j + 1, cols(M) - 1)] % 17", CORNER, INNER(0)},
    /* how far above a row is read is known only then: never on its own row */
    {false, DP_RUD, TSL_I32, LANG_CELLS_ALL, 256, 8, "(i >> j & 1) == 0 || i == 1 << j", "i % 97",
     "min(k = 0 .. 7 : k != j && (i >> k & 1) == 1 ? M[i ^ 1 << j][k] + w[(j + 3 * k) % 7] : 999)",
     "min over last row", INNER(0)},
    {true, DP_CLR, TSL_F64, LANG_CELLS_ALL, 65, 50, "j == 0", "i",
     "max(k = 0 .. rows(M) - 1 : M[k][j-1] - (k - i) * (k - i) * 0.125)", CORNER, INNER(0)},
    {true, DP_CRL, TSL_I32, LANG_CELLS_ALL, 3, 60, "j == cols(M) - 1", "i",
     "min(k = j + 1 .. cols(M) - 1 : M[i][k] + w[(k - j) % 7]) + 1", CORNER, INNER(0)},
    {true, DP_NOSE, TSL_I32, LANG_CELLS_ALL, 30, 400, "i == 0", "0",
     "j < w[i % 7] ? M[i-1][j] : max(M[i-1][j], M[i][j-w[i % 7]] + i)", CORNER, INNER(0)},
    {false, DP_SONE, TSL_I64, LANG_CELLS_UPPER, 97, 97, "i == j", "0",
     "min(k = i .. j-1 : M[i][k] + M[k+1][j] + w[i % 7] * w[k % 7] * w[j % 7])", CORNER, INNER(0)},
    {false, DP_NESO, TSL_I32, LANG_CELLS_UPPER, 53, 53, "i == 0 && j == cols(M) - 1", "5",
     "max(i > 0 ? M[i-1][j] - 1 : -9, j + 1 < cols(M) ? M[i][j+1] - w[j % 7] : -9)", "M[9][9]",
     INNER(0)},
    /* goals away from the last cell, and over rows and columns */
    {false, DP_NOSE, TSL_I32, LANG_CELLS_ALL, 120, 310, FRAME, "i * j % 5",
     "max(M[i-1][j-1] + w[(i + j) % 7], M[i-1][j] - 1, M[i][j-1] - 2)",
     "M[9][9] + M[9][200] * 2 - M[77][0] + M[0][5] + M[118][309]", INNER(0)},
    {true, DP_NOSE, TSL_I64, LANG_CELLS_ALL, 130, 211, FRAME, "i + j",
     "min(M[i-1][j-1], M[i-1][j] + 1, M[i][j-1] + w[j % 7]) + (i * j) % 3",
     "sum(k = 0 .. rows(M) - 1 : M[k][cols(M)-1] - M[k][cols(M) / 2])", INNER(0)},
    {true, DP_NOSE, TSL_F64, LANG_CELLS_ALL, 150, 97, FRAME, "g[(i + j) % 3]",
     "max(M[i-1][j-1] + g[(i * j) % 3], M[i-1][j] * 0.5, M[i][j-1] - 0.25)", "max over last row",
     INNER(0)},
    {true, DP_SENO, TSL_I32, LANG_CELLS_ALL, 111, 203, "i == rows(M)-1 || j == cols(M)-1",
     "(i * 7 + j * 3) % 11", "(M[i+1][j] + M[i][j+1] + i) % 1009", "min over last row", INNER(0)},
    {true, DP_SENO, TSL_I16, LANG_CELLS_ALL, 140, 90, "i == rows(M)-1 || j == cols(M)-1",
     "(i + j) % 13", "(M[i+1][j] + M[i+1][j+1]) % 97", "max over last column", INNER(0)},
    {true, DP_NESO, TSL_F32, LANG_CELLS_ALL, 71, 133, "i == 0", "(i + j) % 5",
     "M[i-1][j] * 0.75 + g[(i + 2 * j) % 3]", "max over last column", INNER(0)},
    {true, DP_NESO, TSL_I32, LANG_CELLS_ALL, 133, 71, "j == cols(M) - 1", "(i * i) % 17",
     "(M[i][j+1] * 5 + i) % 101", "min over all", INNER(0)},
    {true, DP_RUD, TSL_I32, LANG_CELLS_ALL, 83, 140, "i < 2", "(i * 3 + j) % 7",
     "(M[i-2][cols(M) - 1 - j] + M[i-1][j / 2] + j) % 103", "max over all", INNER(0)},
    {true, DP_CRL, TSL_I64, LANG_CELLS_ALL, 61, 50, "j == cols(M) - 1", "(i * 5) % 9",
     "(M[rows(M) - 1 - i][j+1] * 3 + i + j) % 1009", "min over last row", INNER(0)},
    {true, DP_CLR, TSL_F32, LANG_CELLS_ALL, 90, 40, "j == 0", "i * 0.25",
     "M[(i * 7) % rows(M)][j-1] * 0.5 + g[(i + j) % 3]", "max over last column", INNER(0)},
    {false, DP_SONE, TSL_I32, LANG_CELLS_UPPER, 150, 150, "i == j", "w[i % 7]",
     "max(M[i+1][j], M[i][j-1]) + (w[i % 7] == w[j % 7] ? 1 : 0)", "max over all", INNER(0)},
    /* an inner index: layers each alone, in turn by chunks, and of whole cells, in every engine */
    {true, DP_NOSE, TSL_I16, LANG_CELLS_ALL, 61, 93, FRAME " || k == 0", "0",
     "w[i % 7] == w[j % 7] && w[j % 7] == w[k % 7] ? M[i-1][j-1][k-1] + 1"
     " : max(M[i-1][j][k], M[i][j-1][k], M[i][j][k-1])",
     "max over all", INNER(40)},
    {true, DP_NOSE, TSL_I32, LANG_CELLS_ALL, 83, 45, FRAME " || k == 0", "i + j * k",
     "min(M[i-1][j-1][k-1] + w[k % 7], M[i-1][j][k], M[i][j-1][k], M[i][j][k-1]) + 1",
     "M[0][0][3] + M[rows(M)-1][cols(M)-1][49] * 2 - M[rows(M)-1][0][17]", INNER(50)},
    {true, DP_SENO, TSL_I64, LANG_CELLS_ALL, 41, 62, "i == rows(M) - 1 || j == cols(M) - 1",
     "i - j + k", "(M[i+1][j][k] * 3 + M[i][j+1][(k * 7) % 33] + i * j - k) % 1000003",
     "min over last row", INNER(33)},
    {true, DP_NESO, TSL_F64, LANG_CELLS_ALL, 39, 48, "i == 0 || j == cols(M) - 1", "k * 0.5",
     "M[i-1][j][min(k + 1, 20)] * 0.5 + (k > 0 ? M[i][j][k-1] : 1) * 0.25 + g[k % 3]",
     "max over last column", INNER(21)},
    {false, DP_NOSE, TSL_I32, LANG_CELLS_ALL, 22, 19, FRAME, "k",
     "k > 0 ? M[i-1][j][k] + M[i][j][k-1] : 1", "M[21][18][39]", INNER(40)},
    {true, DP_RUD, TSL_I32, LANG_CELLS_ALL, 61, 190, "i == 0 || k == 0", "0",
     "j < w[i % 7] ? M[i-1][j][k] : max(M[i-1][j][k], M[i-1][j - w[i % 7]][k-1] + i)",
     "max over all", INNER(19)},
    {false, DP_RDU, TSL_F32, LANG_CELLS_ALL, 47, 30, "i >= rows(M) - 3", "j * 0.25 + k",
     "M[i+3][j][k] * 0.5 + (k > 1 ? M[i][j][k-2] : M[i+1][(j + 1) % 30][k]) * 0.25",
     "min over last row", INNER(35)},
    {true, DP_CLR, TSL_I64, LANG_CELLS_ALL, 33, 41, "j == 0", "i - k",
     "(M[(i * 7) % rows(M)][j-1][17 - k] + (k > 0 ? M[i][j][k-1] : 3)) % 1009",
     "max over last column", INNER(18)},
    {false, DP_NOSE, TSL_I32, LANG_CELLS_ALL, 35, 87, "i == 0", "k % 3",
     "max(j < 3 ? M[i-1][j][k] : M[i][j-3][k] + i, k < 2 ? 0 : M[i][j][k-2] + 1)",
     "M[34][86][25] - M[3][4][5]", INNER(26)},
    {false, DP_SONE, TSL_I64, LANG_CELLS_UPPER, 61, 61, "i == j", "w[(i + k) % 7]",
     "max(s = i .. j - 1 : M[i][s][(k + 1) % 6] + M[s+1][j][(k * 5 + 2) % 6]) % 10007",
     "max over all", INNER(6)},
    {false, DP_SONE, TSL_I32, LANG_CELLS_UPPER, 90, 90, "i == j", "w[(i + k) % 7]",
     "max(M[i+1][j][k], M[i][j-1][k], k > 0 ? M[i][j][k-1] + (w[i % 7] == w[j % 7]) : 0)",
     "M[0][89][22] + M[3][9][0]", INNER(23)},
    /* several inner indices */
    {true, DP_NOSE, TSL_I16, LANG_CELLS_ALL, 53, 71, FRAME " || k == 0 || l == 0", "0",
     "w[i % 7] == w[j % 7] && w[k % 7] == w[l % 7] ? M[i-1][j-1][k-1][l-1] + 1"
     " : max(M[i-1][j][k][l], M[i][j-1][k][l], M[i][j][k-1][l], M[i][j][k][l-1])",
     "max over all", INNER(9, 7)},
    {true, DP_NESO, TSL_I32, LANG_CELLS_ALL, 39, 46, "i == 0 || j == cols(M) - 1 || l < 1",
     "i + j * k - m",
     "min(M[i-1][j][k][l-1][m] + w[m % 7], M[i][j+1][k][l][m],"
     " k > 1 ? M[i][j][k-2][1][2 - m] : M[i-1][j][4 - k][l][(m + 1) % 3]) + 1",
     "min over last row", INNER(5, 2, 3)},
    {true, DP_RUD, TSL_I64, LANG_CELLS_ALL, 31, 150, "i == 0 || k >= 3 && l == 0", "j - k * l",
     "(M[i-1][j][k][l] + max(r = 0 .. min(l, 3) : M[i-1][max(j - r, 0)][3 - k][l - r])) % 9973",
     "max over last column", INNER(4, 6)},
    {false, DP_SONE, TSL_I32, LANG_CELLS_UPPER, 40, 40, "i == j", "w[(i + k + m) % 7] - l",
     "max(s = i .. j - 1 : M[i][s][k][l][m] + M[s+1][j][2 - k][(l + s) % 4][m]) % 1009"
     " + (k > 0 && m < 4 ? M[i][j][k-1][3 - l][m+1] % 7 : 0)",
     "M[0][39][2][3][4] - M[3][9][0][0][0]", INNER(3, 4, 5)},
};

int recur_n_cases(void) {
  return (int)(sizeof recipes / sizeof *recipes);
}

static const int32_t w_data[] = {3, 1, 4, 2, 5, 9, 2};
static const double g_data[] = {0.5, -2.25, 3};

/** Numbers of an f32 table are f32. */
static const void *g_of(tsl_type type) {
  static const float single[] = {0.5f, -2.25f, 3};
  return type == TSL_F32 ? (const void *)single : (const void *)g_data;
}

static tsl_err write_equation(const recipe *p, dp_equation *e, const void *data[]) {
  tsl_err err = TSL_OK;
  lang_names *n = &e->names;
  n->tables[0] = (lang_table){
      .name = "M", .type = p->type, .cells = p->cells, .rows = p->rows, .cols = p->cols};
  for (int d = 0; d < LANG_INNER_MAX && p->inner[d] > 0; d++)
    n->tables[0].inner[d] = p->inner[d], n->tables[0].n_inner = d + 1;
  n->n_tables = 1;
  n->arrays[0] = (lang_array){.name = "w", .type = TSL_I32, .rank = 1, .shape = {7, 1}};
  dp_array_limits(&n->arrays[0], w_data);
  data[0] = w_data;
  n->n_arrays = 1;
  if (lang_kind_of(p->type) == LANG_REAL) {
    n->arrays[1] = (lang_array){.name = "g", .type = p->type, .rank = 1, .shape = {3, 1}};
    data[n->n_arrays++] = g_of(p->type);
  }
  n->scalars[n->n_scalars++] = (lang_scalar){.name = "n", .kind = LANG_WHOLE, .whole = 5};
  TSL_TRY(dp_equation_rule(e, 0, p->where, p->value));
  TSL_TRY(dp_equation_add(e, p->cell, &e->cell_at[0]));
  TSL_TRY(dp_equation_goal(e, p->goal));
done:
  return err;
}

static void put_value(const dp_code *c, dp_value v, char *at) {
  const int16_t i16 = (int16_t)v.whole;
  const int32_t i32 = (int32_t)v.whole;
  const float f32 = (float)v.real;
  if (c->type == TSL_I16) memcpy(at, &i16, sizeof i16);
  if (c->type == TSL_I32) memcpy(at, &i32, sizeof i32);
  if (c->type == TSL_I64) memcpy(at, &v.whole, sizeof v.whole);
  if (c->type == TSL_F32) memcpy(at, &f32, sizeof f32);
  if (c->type == TSL_F64) memcpy(at, &v.real, sizeof v.real);
}

static bool is_better(const recur_case *c, dp_value a, dp_value b) {
  const bool maximum = c->r->equation.maximum != 0;
  if (lang_kind_of(c->code.type) == LANG_REAL) return maximum ? b.real > a.real : b.real < a.real;
  return maximum ? b.whole > a.whole : b.whole < a.whole;
}

/** The interpreter's values, folded, and the best cell in the user's order. */
static tsl_err fill(recur_case *c) {
  tsl_err err = TSL_OK;
  const lang_table *t = &c->r->equation.names.tables[0];
  const size_t bytes = tsl_type_bytes((tsl_type)c->code.type);
  const int64_t in_cell = c->code.values;
  dp_oracle oracle = {0};
  dp_value best = {0};
  c->best_p = c->best_q = c->goal_i = c->goal_j = -1;
  TSL_TRY(dp_oracle_create(c->r, &oracle));
  c->fails = dp_oracle_fill(&oracle) != TSL_OK;
  if (!c->fails) TSL_TRY(dp_oracle_goal(&oracle, &best, &c->goal_i, &c->goal_j, &c->goal_layer));
  c->values = calloc((size_t)(c->code.P * c->code.Q * in_cell) + 1, bytes);
  if (c->values == NULL) TSL_FAIL(TSL_ERR_MEMORY, "no memory");
  for (int64_t n = 0; n < oracle.rows * oracle.cols * in_cell; n++) {
    int64_t p, q;
    const int64_t i = n / in_cell / oracle.cols, j = n / in_cell % oracle.cols;
    if (!lang_has_cell(t, i, j)) continue;
    dp_code_fold(&c->code, i, j, &p, &q);
    put_value(&c->code, oracle.values[n],
              c->values + (size_t)((p * c->code.Q + q) * in_cell + n % in_cell) * bytes);
    if (c->code.best == 0 || in_cell > 1 || p < c->code.margin_p || q < c->code.margin_q) continue;
    if (c->best_p >= 0 && !is_better(c, best, oracle.values[n])) continue;
    best = oracle.values[n];
    c->best_p = p;
    c->best_q = q;
  }
done:
  dp_oracle_clear(&oracle);
  return err;
}

/** Parse, plan and write the text. */
static tsl_err finish(recur_case *c, const dp_equation *e, const void *const *data,
                      dp_pattern pattern) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_recurrence_create(e, data, &c->r));
  TSL_TRY(dp_code_plan(c->r, pattern, &c->code));
  TSL_TRY(dp_emit(c->r, DP_TARGET_CUDA, &c->code, &c->text));
  dp_code_args(c->r, &c->args);
done:
  return err;
}

static tsl_err make(const recipe *p, bool filled, recur_case *c) {
  tsl_err err = TSL_OK;
  dp_equation *e = NULL;
  void *memory = NULL;
  const void *data[LANG_ARRAYS_MAX] = {NULL};
  memset(c, 0, sizeof *c);
  c->what = p->cell;
  c->pattern = p->pattern;
  TSL_TRY(tsl_alloc(1, sizeof *e, "equation", &memory));
  e = memory;
  TSL_TRY(write_equation(p, e, data));
  TSL_TRY(finish(c, e, data, p->pattern));
  if (filled) TSL_TRY(fill(c));
done:
  tsl_free(e);
  return err;
}

tsl_err recur_case_make(int n, recur_case *c) {
  return make(&recipes[n], true, c);
}

bool recur_case_any_size(int n) {
  return recipes[n].any_size;
}

bool recur_case_any_large(int n) {
  return recipes[n].any_size && recipes[n].inner[0] == 0 && strstr(recipes[n].cell, "..") == NULL;
}

tsl_err recur_case_sized(int n, int64_t rows, int64_t cols, recur_case *c) {
  recipe p = recipes[n];
  p.rows = rows;
  p.cols = cols;
  return make(&p, true, c);
}

tsl_err recur_case_long_rows(recur_case *c) {
  int n = 0;
  while (recipes[n].inner[0] == 0) n++;
  recipe p = recipes[n];
  p.rows = 3, p.cols = 30000, p.inner[0] = 40000;
  return make(&p, false, c);
}

const char recur_lcs[] = "a[i-1] == b[j-1] ? M[i-1][j-1] + 1 : max(M[i-1][j], M[i][j-1])";
const char recur_edit[] =
    "min(M[i-1][j-1] + (a[i-1] == b[j-1] ? 0 : 3), M[i-1][j] + 2, M[i][j-1] + 2)";

tsl_err recur_case_letters(const char *cell, const char *frame, int64_t n, const uint8_t *a,
                           const uint8_t *b, recur_case *c) {
  tsl_err err = TSL_OK;
  dp_equation *e = NULL;
  void *memory = NULL;
  const void *data[LANG_ARRAYS_MAX] = {a, b};
  memset(c, 0, sizeof *c);
  TSL_TRY(tsl_alloc(1, sizeof *e, "equation", &memory));
  e = memory;
  e->names.tables[0] = (lang_table){.name = "M", .type = TSL_I32, .rows = n + 1, .cols = n + 1};
  e->names.n_tables = 1;
  for (int k = 0; k < 2; k++) {
    e->names.arrays[k] = (lang_array){.type = TSL_U8, .rank = 1, .shape = {n, 1}};
    (void)snprintf(e->names.arrays[k].name, LANG_NAME_MAX, "%c", 'a' + k);
    dp_array_limits(&e->names.arrays[k], data[k]);
  }
  e->names.n_arrays = 2;
  c->what = cell;
  c->pattern = DP_NOSE;
  TSL_TRY(dp_equation_rule(e, 0, FRAME, frame));
  TSL_TRY(dp_equation_add(e, cell, &e->cell_at[0]));
  TSL_TRY(dp_equation_goal(e, CORNER));
  TSL_TRY(finish(c, e, data, DP_NOSE));
done:
  tsl_free(e);
  return err;
}

void recur_case_clear(recur_case *c) {
  dp_recurrence_destroy(&c->r);
  tsl_free(c->text);
  free(c->values);
  memset(c, 0, sizeof *c);
}

/* ------------------------------------------------------------------ as a problem */

static tsl_err add_field(tsl_problem *problem, const char *name, int32_t role, int32_t type,
                         int64_t n, const void *data) {
  tsl_err err = TSL_OK;
  tsl_field field = {.unit = "1", .role = role, .type = type, .rank = 1, .shape = {n, 1, 1}};
  tsl_field *out = NULL;
  (void)snprintf(field.name, sizeof field.name, "%s", name);
  TSL_TRY(tsl_problem_add(problem, &field, &out));
  TSL_TRY(tsl_alloc(n, tsl_type_bytes((tsl_type)type), name, &out->data));
  if (data != NULL && n > 0) memcpy(out->data, data, (size_t)n * tsl_type_bytes((tsl_type)type));
done:
  return err;
}

static tsl_err add_params(const recur_case *c, bool table, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  const lang_table *t = &c->r->equation.names.tables[0];
  TSL_TRY(tsl_alloc(1, sizeof(dp_params), "params", &problem->params));
  problem->params_bytes = (int64_t)sizeof(dp_params);
  dp_params *p = problem->params;
  p->problem = DP_RECURRENCE;
  p->engine = c->code.engine;
  p->mode = table ? DP_TABLE : DP_VALUE;
  p->type = c->code.type;
  p->pattern = (int32_t)c->pattern;
  p->depth = c->code.depth;
  p->values = c->code.values;
  p->n = t->rows - 1;
  p->m = t->cols - 1;
done:
  return err;
}

tsl_err recur_problem_make(const recur_case *c, bool table, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  static const dp_places nowhere = {0};
  const dp_equation *e = &c->r->equation;
  char name[16];
  *problem = (tsl_problem){.family = NULL};
  TSL_TRY(add_params(c, table, problem));
  TSL_TRY(add_field(problem, "equation", TSL_IN, TSL_U8, (int64_t)sizeof *e, e));
  TSL_TRY(add_field(problem, "code_gpu", TSL_IN, TSL_U8, 0, NULL));
  TSL_TRY(add_field(problem, "places", TSL_IN, TSL_U8, (int64_t)sizeof nowhere, &nowhere));
  for (int a = 0; a < e->names.n_arrays; a++) {
    (void)snprintf(name, sizeof name, "data%d", a);
    TSL_TRY(add_field(problem, name, TSL_IN, e->names.arrays[a].type,
                      dp_array_count(&e->names.arrays[a]), c->r->data[a]));
  }
  if (e->goal != DP_GOAL_EXPR)
    TSL_TRY(add_field(problem, "best", TSL_OUT, TSL_I64, DP_BEST_ROW, NULL));
  if (table) TSL_TRY(add_field(problem, "table", TSL_OUT, c->code.type, 1, NULL));
done:
  return err;
}
