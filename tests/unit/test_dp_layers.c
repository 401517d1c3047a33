/* unit.dp.layers: emitted CUDA of recurrences with inner indices, against the interpreter.
 *
 * No thread of these kernels waits for another of its launch, so that their text is also C, with a
 * few words defined: a launch is a loop over its threads, here in any order. */
#include "dp_emit.h"
#include "dp_random.h"
#include "lang_compile.h"

enum { BLOCK = 128 };

static const char words[] =
    "#define __global__\n#define __device__\n#define __forceinline__ inline\n"
    "#define __noinline__ __attribute__((noinline))\n#define __launch_bounds__(n)\n"
    "#define __longlong_as_double(x) __builtin_inf()\n#define fabsf __builtin_fabsf\n"
    "#define fabs __builtin_fabs\n#define atomicOr(place, x) (*(place) |= (x))\n"
    "#define __mul64hi(a, b) ((i64)((__int128)(a) * (b) >> 64))\n"
    "typedef struct dp_args dp_args;\ntypedef struct dp_step_launch dp_step_launch;\n"
    "typedef struct dp_edge_launch dp_edge_launch;\n"
    "static struct { unsigned x; } blockIdx, threadIdx, blockDim;\n";

/** A launch of n threads in blocks, the last first with `back`. */
static const char launches[] =
    "#define LAUNCH(name, kernel, type) \\\n"
    "  void name(const dp_args *args, const type *a, i64 n, unsigned block, int back) { \\\n"
    "    const i64 all = (n + block - 1) / block * block; \\\n"
    "    blockDim.x = block; \\\n"
    "    for (i64 l = 0; l < all; l++) { \\\n"
    "      const i64 thread = back ? all - 1 - l : l; \\\n"
    "      blockIdx.x = (unsigned)(thread / block), threadIdx.x = (unsigned)(thread % block); \\\n"
    "      kernel(*args, *a); \\\n"
    "    } \\\n"
    "  }\n"
    "LAUNCH(launch_step, tsl_dp_step, dp_step_launch)\n";
static const char launch_edge[] = "LAUNCH(launch_edge, tsl_dp_edge, dp_edge_launch)\n";

typedef void step_fn(const dp_args *args, const dp_step_launch *a, int64_t n, unsigned block,
                     int back);
typedef void edge_fn(const dp_args *args, const dp_edge_launch *a, int64_t n, unsigned block,
                     int back);

/** The emitted text as C; from malloc. */
static char *as_c(const char *text, bool wave) {
  static const char mark[] = "extern \"C\" ";
  char *all = calloc(strlen(text) + sizeof words + sizeof launches + sizeof launch_edge, 1);
  size_t used = strlen(strcpy(all, words));
  for (const char *at = text, *next; *at != '\0'; at = next) {
    const char *found = strstr(at, mark);
    next = found == NULL ? at + strlen(at) : found + strlen(mark);
    const size_t n = (size_t)((found == NULL ? next : found) - at);
    memcpy(all + used, at, n);
    used += n;
  }
  (void)strcpy(all + used, launches);
  if (wave) (void)strcat(all, launch_edge);
  return all;
}

/** A recurrence and its table, as on a card. */
typedef struct layers {
  dp_recurrence *r;
  dp_code code;
  dp_args args;
  lang_object *object;
  size_t bytes; /**< of a cell */
  char *table;  /**< [P][Q] */
  int bad;
  bool back;
} layers;

static void layers_open(const draft *d, dp_pattern pattern, layers *c) {
  char *text = NULL;
  *c = (layers){0};
  MUST(draft_finish(d, &c->r));
  MUST(dp_code_plan(c->r, pattern, &c->code));
  MUST(dp_emit(c->r, DP_TARGET_CUDA, &c->code, &text));
  char *const program = as_c(text, c->code.engine == DP_WAVEFRONT);
  MUST(lang_object_open(program, 0, &dp_purpose, &c->object));
  dp_code_args(c->r, &c->args);
  c->bytes = (size_t)dp_code_bytes(&c->code);
  c->table = calloc((size_t)(c->code.P * c->code.Q) + 1, c->bytes);
  tsl_free(text);
  free(program);
}

static void layers_close(layers *c) {
  dp_recurrence_destroy(&c->r);
  lang_object_close(&c->object);
  free(c->table);
}

static void *function(const layers *c, const char *name) {
  void *address = NULL;
  if (lang_object_find(c->object, name, &address) != TSL_OK) fail_msg("%s", tsl_err_message());
  return address;
}

static void run_steps(layers *c, dp_step_launch a) {
  step_fn *const launch = (step_fn *)function(c, "launch_step");
  for (; a.step < dp_code_steps(&c->code, &a); a.step++) {
    const int64_t threads = dp_code_step_threads(&c->code, &a);
    launch(&c->args, &a, threads, BLOCK, c->back);
  }
}

/** Cells of rows p0 - 1 .. p1 - 1, columns q0 - 1 .. q1 - 1 to the skewed place or from there. */
static void move_cells(layers *c, const dp_step_launch *a, bool out) {
  const size_t step = c->bytes / (size_t)c->code.values;
  for (int64_t p = a->p0 > 0 ? a->p0 - 1 : 0; p < a->p1; p++)
    for (int64_t q = a->q0 > 0 ? a->q0 - 1 : 0; q < a->q1; q++)
      for (int64_t n = 0; n < c->code.values; n++) {
        const int64_t r = p - a->p0 + 1, diagonal = r + q - a->q0 + 1;
        char *const skewed =
            (char *)a->table + (size_t)((diagonal * c->code.values + n) * a->stride + r) * step;
        char *const plain = c->table + (size_t)(p * c->code.Q + q) * c->bytes + (size_t)n * step;
        memcpy(out ? plain : skewed, out ? skewed : plain, step);
      }
}

static void run_box(layers *c, int64_t p0, int64_t p1, int64_t q0, int64_t q1) {
  dp_step_launch a = {c->table, c->code.Q, p0, p1, q0, q1, &c->bad, 0, 0, 0};
  if (p0 >= p1 || q0 >= q1) return;
  if (c->code.engine == DP_WAVEFRONT) {
    a.stride = p1 - p0 + 1;
    a.table = calloc((size_t)(a.stride * (p1 - p0 + q1 - q0 + 1)), c->bytes);
    move_cells(c, &a, false);
  }
  run_steps(c, a);
  if (c->code.engine != DP_WAVEFRONT) return;
  move_cells(c, &a, true);
  free(a.table);
}

static void run_edge(layers *c, int64_t p0, int64_t p1, int64_t q0, int64_t q1) {
  edge_fn *const launch = (edge_fn *)function(c, "launch_edge");
  char *out = calloc((size_t)((p1 - p0) * (q1 - q0)) + 1, c->bytes);
  const dp_edge_launch a = {p0, p1, q0, q1, out, &c->bad};
  launch(&c->args, &a, (p1 - p0) * (q1 - q0), BLOCK, c->back);
  for (int64_t p = p0; p < p1; p++)
    memcpy(c->table + (size_t)(p * c->code.Q + q0) * c->bytes,
           out + (size_t)((p - p0) * (q1 - q0)) * c->bytes, (size_t)(q1 - q0) * c->bytes);
  free(out);
}

/** Boxes of some rows and columns, as tiles and pieces are. */
static void run(layers *c, uint64_t *seed) {
  const int64_t P = c->code.P, Q = c->code.Q;
  const bool wave = c->code.engine == DP_WAVEFRONT;
  const bool sweep = c->code.engine == DP_ROWS && c->code.same_row == 0;
  const int64_t mp = wave && c->code.margin_p < P ? c->code.margin_p : 0;
  const int64_t mq = wave && c->code.margin_q < Q ? c->code.margin_q : 0;
  if (wave) run_edge(c, 0, c->code.margin_p < P ? mp : P, 0, Q);
  if (wave) run_edge(c, mp, P, 0, c->code.margin_q < Q ? mq : Q);
  for (int64_t p = mp, p1; p < P && c->code.margin_p < P; p = p1) {
    p1 = p + 1 + random_below(seed, 40);
    if (p1 > P) p1 = P;
    for (int64_t q = mq, q1; q < Q && (!wave || c->code.margin_q < Q); q = q1) {
      q1 = sweep ? Q : q + 1 + random_below(seed, 40);
      if (q1 > Q) q1 = Q;
      run_box(c, p, p1, q, q1);
    }
  }
}

static dp_value value_at(const layers *c, int64_t i, int64_t j, int32_t n) {
  int64_t p, q;
  dp_value v = {0};
  dp_code_fold(&c->code, i, j, &p, &q);
  const char *cell = c->table + (size_t)(p * c->code.Q + q) * c->bytes;
  switch (c->code.type) {
  case TSL_I16:
    v.whole = ((const int16_t *)cell)[n];
    break;
  case TSL_I32:
    v.whole = ((const int32_t *)cell)[n];
    break;
  case TSL_I64:
    v.whole = ((const int64_t *)cell)[n];
    break;
  case TSL_F32:
    v.real = ((const float *)cell)[n];
    break;
  default:
    v.real = ((const double *)cell)[n];
    break;
  }
  return v;
}

/** Fill the table twice, threads forwards and backwards; every value is the interpreter's.
 *  @return sum of dp_bad */
static int same_as_interpreter(const draft *d, dp_pattern pattern, uint64_t seed, dp_code *code) {
  int bad = 0;
  for (int back = 0; back < 2; back++) {
    layers c;
    dp_oracle grid = {0};
    layers_open(d, pattern, &c);
    c.back = back != 0;
    if (dp_oracle_create(c.r, &grid) != TSL_OK) fail_msg("%s", tsl_err_message());
    const tsl_err err = dp_oracle_fill_order(&grid, pattern);
    run(&c, &seed);
    if ((err == TSL_OK) != (c.bad == 0))
      fail_msg("%s: bad is %d, and %s", c.r->cells[0].text, c.bad,
               err == TSL_OK ? "no error" : tsl_err_message());
    for (int64_t at = 0; at < grid.rows * grid.cols * c.code.values && err == TSL_OK; at++) {
      const int64_t cell = at / c.code.values, i = cell / grid.cols, j = cell % grid.cols;
      const dp_value v = value_at(&c, i, j, (int32_t)(at % c.code.values)), u = grid.values[at];
      if (memcmp(&v, &u, sizeof v) != 0 && lang_has_cell(&c.r->equation.names.tables[0], i, j))
        fail_msg("%s: value %lld of cell %lld, %lld is %lld (%g), not %lld (%g)",
                 c.r->cells[0].text, (long long)(at % c.code.values), (long long)i, (long long)j,
                 (long long)v.whole, v.real, (long long)u.whole, u.real);
    }
    *code = c.code;
    bad |= c.bad;
    dp_oracle_clear(&grid);
    layers_close(&c);
  }
  return bad;
}

/* --------------------------------------------------------------------- cases */

static const int32_t w_data[] = {3, 1, 4, 2, 5};

#define FRAME "i == 0 || j == 0"
#define FULL LANG_CELLS_ALL
#define INNER(...) \
  { __VA_ARGS__ }

/** Engines; layers alone, in turn by chunks, and of whole cells; folded orders; guarded reads. */
static const struct recipe {
  dp_pattern pattern;
  tsl_type type;
  lang_cells cells;
  int64_t rows, cols, inner[LANG_INNER_MAX]; /* 0: no such index */
  const char *where, *value, *cell;
  int engine, chunk, in_turn, bad;
} recipes[] = {
    {DP_NOSE, TSL_I16, FULL, 43, 71, INNER(50), FRAME " || k == 0", "0",
     "w[i % 5] == w[j % 5] && w[j % 5] == w[k % 5] ? M[i-1][j-1][k-1] + 1"
     " : max(M[i-1][j][k], M[i][j-1][k], M[i][j][k-1])",
     DP_WAVEFRONT, 16, 1, 0},
    {DP_NOSE, TSL_I32, FULL, 60, 33, INNER(7), FRAME " || k == 0", "i + j * k",
     "min(M[i-1][j-1][k-1] + w[k % 5], M[i-1][j][k], M[i][j-1][k], M[i][j][k-1]) + 1", DP_WAVEFRONT,
     7, 1, 0},
    {DP_SENO, TSL_I64, FULL, 31, 52, INNER(33), "i == rows(M) - 1 || j == cols(M) - 1", "i - j + k",
     "(M[i+1][j][k] * 3 + M[i][j+1][(k * 7) % 33] + i * j - k) % 1000003", DP_WAVEFRONT, 1, 0, 0},
    {DP_NESO, TSL_F64, FULL, 29, 38, INNER(21), "i == 0 || j == cols(M) - 1", "k * 0.5",
     "M[i-1][j][min(k + 1, 20)] * 0.5 + (k > 0 ? M[i][j][k-1] : 1) * 0.25 + M[i][j+1][k] * 0.125",
     DP_WAVEFRONT, 21, 1, 0},
    {DP_NOSE, TSL_I32, FULL, 22, 19, INNER(40), FRAME, "k",
     "k > 0 ? M[i-1][j][k] + M[i][j][k-1] : 1", DP_WAVEFRONT, 16, 1, DP_BAD_OVERFLOW},
    {DP_RUD, TSL_I32, FULL, 61, 90, INNER(19), "i == 0 || k == 0", "0",
     "j < w[i % 5] ? M[i-1][j][k] : max(M[i-1][j][k], M[i-1][j - w[i % 5]][k-1] + i)", DP_ROWS, 1,
     0, 0},
    {DP_RDU, TSL_F32, FULL, 47, 30, INNER(35), "i >= rows(M) - 3", "j * 0.25 + k",
     "M[i+3][j][k] * 0.5 + (k > 1 ? M[i][j][k-2] : M[i+1][(j + 1) % 30][k]) * 0.25", DP_ROWS, 16, 1,
     0},
    {DP_CLR, TSL_I64, FULL, 33, 41, INNER(18), "j == 0", "i - k",
     "(M[(i * 7) % 33][j-1][17 - k] + (k > 0 ? M[i][j][k-1] : 3)) % 1009", DP_ROWS, 18, 1, 0},
    {DP_RUD, TSL_I32, FULL, 30, 24, INNER(20), "i == 0", "j * k",
     "min(r = 0 .. i - 1 : M[r][(j + r) % 24][(k + r) % 20]) + (i + j + k) % 7", DP_ROWS, 1, 0, 0},
    {DP_NOSE, TSL_I32, FULL, 35, 67, INNER(26), "i == 0", "k % 3",
     "j < w[i % 5] ? M[i-1][j][k] : max(M[i-1][j][k], M[i][j - w[i % 5]][k] + i - k)", DP_ROWS, 1,
     0, 0},
    {DP_NOSE, TSL_I32, FULL, 35, 47, INNER(26), "i == 0", "k % 3",
     "max(j < 3 ? M[i-1][j][k] : M[i][j-3][k] + i, k < 2 ? 0 : M[i][j][k-2] + 1)", DP_ROWS, 16, 1,
     0},
    {DP_SONE, TSL_I64, LANG_CELLS_UPPER, 37, 37, INNER(6), "i == j", "w[(i + k) % 5]",
     "max(s = i .. j - 1 : M[i][s][(k + 1) % 6] + M[s+1][j][(k * 5 + 2) % 6]) % 10007", DP_INTERVAL,
     1, 0, 0},
    {DP_SONE, TSL_I32, LANG_CELLS_UPPER, 30, 30, INNER(23), "i == j", "w[(i + k) % 5]",
     "max(M[i+1][j][k], M[i][j-1][k], k > 0 ? M[i][j][k-1] + (w[i % 5] == w[j % 5]) : 0)",
     DP_INTERVAL, 16, 1, 0},
    {DP_NOSE, TSL_I64, FULL, 17, 23, INNER(18), FRAME, "i - j + k",
     "max(M[max(i - w[j % 5], 0)][max(j - w[i % 5], 0)][k] + 1, k)", DP_INTERVAL, 1, 0, 0},
    {DP_NOSE, TSL_I64, FULL, 17, 23, INNER(18), FRAME, "i - j + k",
     "k == 0 ? 1 : M[i - (k + j) % 2 * (i > 3)][j - (k + i) % 2][k-1] % 1000 + 1", -1, 16, 1, 0},
    {DP_RUD, TSL_I32, FULL, 9, 8, INNER(5), "i == 0", "1", "M[i-1][j][w[(i + k) % 5]] + 1", DP_ROWS,
     1, 0, DP_BAD_TABLE},
    /* several inner indices: chunks across runs, margins of each, reads of other runs */
    {DP_NOSE, TSL_I16, FULL, 23, 41, INNER(9, 7), FRAME " || k == 0 || l == 0", "0",
     "w[i % 5] == w[j % 5] && w[k % 5] == w[l % 5] ? M[i-1][j-1][k-1][l-1] + 1"
     " : max(M[i-1][j][k][l], M[i][j-1][k][l], M[i][j][k-1][l], M[i][j][k][l-1])",
     DP_WAVEFRONT, 16, 1, 0},
    {DP_NOSE, TSL_I32, FULL, 19, 26, INNER(5, 2, 3, 2), FRAME " || l < 1 || n == 0",
     "i + j * k - m",
     "min(M[i-1][j-1][k][l-1][m][n-1] + w[m % 5], M[i][j-1][k][l][m][n],"
     " k > 1 ? M[i][j][k-2][1][2 - m][n] : M[i-1][j][4 - k][l][(m + 1) % 3][n]) + 1",
     DP_WAVEFRONT, 60, 1, 0},
    {DP_RUD, TSL_I64, FULL, 31, 50, INNER(4, 6), "i == 0 || k >= 3 && l == 0", "j - k * l",
     "(M[i-1][j][k][l] + max(r = 0 .. min(l, 3) : M[i-1][max(j - r, 0)][3 - k][l - r])) % 9973",
     DP_ROWS, 1, 0, 0},
    {DP_SONE, TSL_I32, LANG_CELLS_UPPER, 14, 14, INNER(3, 4, 5), "i == j", "w[(i + k + m) % 5] - l",
     "max(s = i .. j - 1 : M[i][s][k][l][m] + M[s+1][j][2 - k][(l + s) % 4][m]) % 1009"
     " + (k > 0 && m < 4 ? M[i][j][k-1][3 - l][m+1] % 7 : 0)",
     DP_INTERVAL, 60, 1, 0},
    {DP_RUD, TSL_I32, FULL, 9, 8, INNER(2, 5), "i == 0", "1", "M[i-1][j][k][w[(i + l) % 5]] + 1",
     DP_ROWS, 1, 0, DP_BAD_TABLE},
};

static void draft_of(const struct recipe *p, draft *d) {
  draft_table(d, p->type, p->rows, p->cols);
  d->equation.names.tables[0].cells = p->cells;
  lang_table *t = &d->equation.names.tables[0];
  for (; t->n_inner < LANG_INNER_MAX && p->inner[t->n_inner] > 0; t->n_inner++)
    t->inner[t->n_inner] = p->inner[t->n_inner];
  draft_array(d, "w", TSL_I32, 5, 0, w_data);
  draft_rule(d, p->where, p->value);
  draft_cell(d, p->cell);
  draft_goal(d, "max over last row");
}

static void cells(void **state) {
  (void)state;
  for (size_t n = 0; n < sizeof recipes / sizeof *recipes; n++) {
    draft d;
    dp_code code;
    draft_of(&recipes[n], &d);
    const int bad = same_as_interpreter(&d, recipes[n].pattern, n + 1, &code);
    if (bad != recipes[n].bad || dp_code_chunk(&code) != recipes[n].chunk ||
        code.in_turn != recipes[n].in_turn ||
        (recipes[n].engine >= 0 && code.engine != recipes[n].engine))
      fail_msg("%s: bad %d, engine %d, in turn %d, chunks of %lld", recipes[n].cell, bad,
               code.engine, code.in_turn, (long long)dp_code_chunk(&code));
  }
}

/** Coupled tables; each reads what is computed before in its cell, of this and other layers. */
static void several_tables(void **state) {
  static const char *const all[][2] = {
      {"max(A[i-1][j][k], B[i][j-1][k]) + w[k % 5]",
       "min(A[i][j][k], B[i-1][j-1][k]) + (k > 0 ? A[i][j][k-1] - B[i][j][k-1] : i) % 7"},
      {"(A[i-1][j][(k + 3) % 20] + B[i-1][j][k]) % 101",
       "A[i][j][k] * 2 - B[i-1][(j + 5) % 31][k]"}};
  (void)state;
  for (int n = 0; n < 2; n++) {
    draft d;
    dp_code code;
    draft_table(&d, TSL_I64, 26, 31);
    lang_table *t = d.equation.names.tables;
    t[0].inner[0] = 20, t[0].n_inner = 1;
    t[1] = t[0];
    (void)strcpy(t[0].name, "A");
    (void)strcpy(t[1].name, "B");
    d.equation.names.n_tables = 2;
    draft_array(&d, "w", TSL_I32, 5, 0, w_data);
    for (int k = 0; k < 2; k++) {
      MUST(dp_equation_rule(&d.equation, k, FRAME, k == 0 ? "i + k" : "j - k"));
      MUST(dp_equation_add(&d.equation, all[n][k], &d.equation.cell_at[k]));
    }
    draft_goal(&d, "A[0][0][0] + B[25][30][19]");
    assert_int_equal(same_as_interpreter(&d, n == 0 ? DP_NOSE : DP_RUD, 9, &code), 0);
    assert_int_equal(code.in_turn, n == 0);
    assert_int_equal(code.values, 40);
  }
}

/** The smallest tables, and such that are nearly all boundary. */
static void sizes(void **state) {
  static const int64_t all[][3] = {{1, 1, 1}, {1, 9, 2}, {2, 2, 1}, {2, 1, 40}, {9, 2, 17}};
  (void)state;
  for (size_t s = 0; s < sizeof all / sizeof *all; s++)
    for (int n = 0; n < 2; n++) {
      struct recipe p = recipes[n];
      draft d;
      dp_code code;
      p.rows = all[s][0], p.cols = all[s][1], p.inner[0] = all[s][2];
      draft_of(&p, &d);
      assert_int_equal(same_as_interpreter(&d, p.pattern, s, &code), 0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cells), cmocka_unit_test(several_tables),
                                     cmocka_unit_test(sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
