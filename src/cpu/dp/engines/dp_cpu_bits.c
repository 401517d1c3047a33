/** @file dp_cpu_bits.c  Bands of the longest common subsequence and of the unit edit distance. */
#include "dp_cpu_bits.h"

#include "dp_pipe.h"

#include <string.h>

enum {
  ROOM_LD = DP_BITS_BLOCK + 2 * DP_PAD,
  ROOM_LISTS = DP_PLANES + 4, /* planes of the rows' codes, both edges in and out */
  ROOM_WORDS = ROOM_LISTS * ROOM_LD
};

/* ------------------------------------------------------------------ letters */

/** Codes of the letters of the columns; a letter of the rows alone gets one that no column has. */
static int assign_codes(dp_cpu_bits *b) {
  bool occurs[256] = {false};
  int letters = 0, planes = 1;
  for (int64_t j = 0; j < b->m; j++) occurs[b->columns[j]] = true;
  for (int x = 0; x < 256; x++)
    if (occurs[x]) b->code[x] = (uint8_t)letters++;
  for (int x = 0; x < 256; x++)
    if (!occurs[x]) b->code[x] = (uint8_t)letters;
  bool strange = false;
  for (int64_t i = 0; i < b->n && !strange; i++) strange = !occurs[b->rows[i]];
  const int codes = letters + strange;
  while (1 << planes < codes) planes++;
  return planes <= 2 ? 2 : planes <= 5 ? 5 : DP_PLANES;
}

/** Bits of the columns' codes, by lane. */
static void lay_planes(dp_cpu_bits *b) {
  for (int64_t w = 0; 64 * w < b->m; w++) {
    const bits_strip *s = bits_strip_of(b, w);
    const int64_t size = bits_words_of(s) * b->vector, left = b->m - 64 * w;
    uint64_t *words = b->b + s->at * b->planes + bits_place(b, s, w);
    uint64_t codes[64] = {0};
    for (int64_t j = 0; j < 64 && j < left; j++) codes[j] = b->code[b->columns[64 * w + j]];
    for (int q = 0; q < b->planes; q++)
      for (int j = 0; j < 64; j++) words[q * size] |= (codes[j] >> q & 1) << j;
  }
}

/* ------------------------------------------------------------------ open and close */

/** Cut the words into strips: wide ones, then what fills no more than half of one word by word. */
static tsl_err cut_strips(dp_cpu_bits *b) {
  tsl_err err = TSL_OK;
  const int64_t words = (b->m + 63) / 64, full = DP_WORDS * b->vector;
  const bool wide = b->cpu.threads == 1 || words >= 2 * full * b->cpu.threads;
  const int64_t most = words / b->vector + DP_WORDS + 2;
  TSL_TRY(tsl_alloc(most, sizeof *b->strips, "strips of bits", (void **)&b->strips));
  for (int64_t w = 0; w < words;) {
    bits_strip *s = &b->strips[b->n_strips++];
    const int64_t left = words - w;
    s->wide = wide && 2 * left > full;
    const int64_t groups = left / bits_words_of(s);
    s->lanes = (int32_t)(groups < b->vector ? groups : b->vector);
    s->word = w;
    s->at = b->entries;
    w += (int64_t)s->lanes * bits_words_of(s);
    b->entries += bits_words_of(s) * b->vector;
  }
done:
  return err;
}

tsl_err dp_cpu_bits_open(const dp_cpu *cpu, dp_problem problem, const uint8_t *rows, int64_t n,
                         const uint8_t *columns, int64_t m, dp_cpu_bits **out) {
  tsl_err err = TSL_OK;
  dp_cpu_bits *b = NULL;
  *out = NULL;
  if (problem != DP_LCS && problem != DP_EDIT)
    TSL_FAIL(TSL_ERR_INTERNAL, "bits of dp problem %d", (int)problem);
  TSL_TRY(tsl_alloc(1, sizeof *b, "band of bits", (void **)&b));
  b->cpu = *cpu;
  b->problem = problem;
  b->parts = problem == DP_EDIT ? 2 : 1;
  b->rows = rows, b->n = n;
  b->columns = columns, b->m = m;
  b->vector = cpu->kernels->bytes / (int64_t)sizeof(uint64_t);
  b->planes = assign_codes(b);
  TSL_TRY(cut_strips(b));
  TSL_TRY(tsl_alloc(b->entries, sizeof *b->p, "row of bits", (void **)&b->p));
  if (b->parts == 2) TSL_TRY(tsl_alloc(b->entries, sizeof *b->q, "row of bits", (void **)&b->q));
  TSL_TRY(tsl_alloc(b->entries * b->planes, sizeof *b->b, "bits of letters", (void **)&b->b));
  TSL_TRY(tsl_alloc((int64_t)cpu->threads * ROOM_WORDS, sizeof *b->room, "blocks of bits",
                    (void **)&b->room));
  lay_planes(b);
  dp_cpu_bits_begin(b);
  *out = b;
done:
  if (err != TSL_OK) dp_cpu_bits_close(&b);
  return err;
}

void dp_cpu_bits_close(dp_cpu_bits **band) {
  dp_cpu_bits *b = *band;
  if (b == NULL) return;
  TSL_FREE_ALL(b->strips, b->p, b->q, b->b, b->room, b->edge, b->keep, b->top, b);
  *band = NULL;
}

void dp_cpu_bits_begin(dp_cpu_bits *b) {
  memset(b->p, 0xff, (size_t)b->entries * sizeof *b->p); /* LCS: no difference; EDIT: M[0][j] = j */
  if (b->q != NULL) memset(b->q, 0, (size_t)b->entries * sizeof *b->q);
}

/* ------------------------------------------------------------------ tiles */

/** A tile under way. */
typedef struct tile {
  dp_cpu_bits *band;
  int64_t lo, rows, groups; /**< groups: words of 32 rows of the edge */
  bool keep;
} tile;

static void dp_cpu_bits_run_block(void *context, int64_t strip, int64_t block, int thread) {
  const tile *t = context;
  dp_cpu_bits *b = t->band;
  const dp_kernels *k = b->cpu.kernels;
  const bits_strip *s = &b->strips[strip];
  uint64_t *room = b->room + thread * (int64_t)ROOM_WORDS + DP_PAD;
  const int64_t first = block * DP_BITS_BLOCK;
  const int64_t rows = t->rows - first < DP_BITS_BLOCK ? t->rows - first : DP_BITS_BLOCK;
  uint32_t *edge_p = t->band->edge + first / 32, *edge_n = edge_p + t->groups;
  uint64_t *lists[4];
  uint8_t codes[DP_BITS_BLOCK];
  for (int e = 0; e < 4; e++) lists[e] = room + (DP_PLANES + e) * (int64_t)ROOM_LD;
  for (int64_t i = 0; i < rows; i++) codes[i] = b->code[b->rows[t->lo + first + i]];
  k->bits_spread(codes, rows, b->planes, room, ROOM_LD);
  k->bits_expand(edge_p, rows, lists[0]);
  if (b->parts == 2) k->bits_expand(edge_n, rows, lists[1]);
  const int64_t step = bits_step_words(b, s);
  const dp_bit_strip args = {
      .planes = b->planes,
      .lanes = s->lanes,
      .wide = s->wide,
      .last = strip == b->n_strips - 1 ? (int)((b->m - 1) % 64) : 63,
      .rows = rows,
      .a = room,
      .a_ld = ROOM_LD,
      .b = b->b + s->at * b->planes,
      .p = b->p + s->at,
      .n = b->q != NULL ? b->q + s->at : NULL,
      .left_p = lists[0],
      .left_n = lists[1],
      .right_p = lists[2],
      .right_n = lists[3],
      .keep = t->keep ? b->keep + s->keep_at + block * (DP_BITS_BLOCK + s->lanes - 1) * step : NULL,
  };
  k->bits(b->problem, &args);
  k->bits_compress(lists[2], rows, edge_p);
  if (b->parts == 2) k->bits_compress(lists[3], rows, edge_n);
}

static int64_t blocks_of(int64_t rows) {
  return (rows + DP_BITS_BLOCK - 1) / DP_BITS_BLOCK;
}

/** Room for the bits of all cells of rows [lo, hi), and the row above them. */
static tsl_err keep_room(dp_cpu_bits *b, int64_t lo, int64_t hi) {
  tsl_err err = TSL_OK;
  int64_t words = 0;
  b->keep_lo = b->keep_hi = 0;
  for (int64_t k = 0; k < b->n_strips; k++) {
    bits_strip *s = &b->strips[k];
    const int64_t steps = hi - lo + blocks_of(hi - lo) * (s->lanes - 1);
    int64_t mine = 0;
    s->keep_at = words;
    if (!tsl_mul_i64(steps, bits_step_words(b, s), &mine) || !tsl_add_i64(words, mine, &words))
      TSL_FAIL(TSL_ERR_MEMORY, "history of %lld x %lld cells does not fit", (long long)(hi - lo),
               (long long)b->m);
  }
  if (words > b->keep_words) {
    tsl_free(b->keep);
    b->keep = NULL, b->keep_words = 0;
    TSL_TRY(tsl_alloc(words, sizeof *b->keep, "history of a tile", (void **)&b->keep));
    b->keep_words = words;
  }
  if (b->top == NULL)
    TSL_TRY(tsl_alloc(b->entries, sizeof *b->top, "row of bits", (void **)&b->top));
  memcpy(b->top, b->p, (size_t)b->entries * sizeof *b->top);
  b->keep_lo = lo, b->keep_hi = hi;
done:
  return err;
}

/** The left edge, or the boundary column of the table: M[i][0] = i for EDIT. */
static tsl_err dp_cpu_bits_enter(dp_cpu_bits *b, int64_t rows, int64_t groups,
                                 const uint32_t *left) {
  tsl_err err = TSL_OK;
  const int64_t words = b->parts * groups;
  if (words > b->edge_words || b->edge == NULL) {
    tsl_free(b->edge);
    b->edge = NULL, b->edge_words = 0;
    TSL_TRY(tsl_alloc(words, sizeof *b->edge, "edge of a tile", (void **)&b->edge));
    b->edge_words = words;
  }
  if (left != NULL) {
    memcpy(b->edge, left, (size_t)words * sizeof *left);
    goto done;
  }
  memset(b->edge, 0, (size_t)words * sizeof *b->edge);
  if (b->problem == DP_EDIT)
    for (int64_t i = 0; i < rows; i++) b->edge[i / 32] |= 1u << i % 32;
done:
  return err;
}

tsl_err dp_cpu_bits_tile(dp_cpu_bits *b, int64_t lo, int64_t hi, const uint32_t *left,
                         uint32_t *right, bool keep) {
  tsl_err err = TSL_OK;
  tile t = {.band = b, .lo = lo, .rows = hi - lo, .groups = (hi - lo + 31) / 32, .keep = keep};
  if (lo < 0 || hi < lo || hi > b->n)
    TSL_FAIL(TSL_ERR_INTERNAL, "rows %lld to %lld of %lld", (long long)lo, (long long)hi,
             (long long)b->n);
  TSL_TRY(dp_cpu_bits_enter(b, t.rows, t.groups, left));
  if (keep) TSL_TRY(keep_room(b, lo, hi));
  TSL_TRY(dp_pipe_run(b->cpu.threads, b->n_strips, blocks_of(t.rows), dp_cpu_bits_run_block, &t));
  if (right != NULL && t.rows > 0)
    memcpy(right, b->edge, (size_t)(b->parts * t.groups) * sizeof *right);
done:
  return err;
}
