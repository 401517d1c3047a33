/* Alignments of the pairs that a group of units keeps, on a card: the largest tables first, as many
 * side by side as the card holds, and the lists that the runtime takes. */
#include "tri_extension_trace.cuh"

#include <algorithm>
#include <stdlib.h>
#include <string.h>
#include <vector>

enum {
  WARPS = TRI_LETTERS_THREADS / 32,
  MEGABYTES = 4096,          /* of tables side by side, where lengths are ordinary */
  LETTERS_OF_BATCH = 1 << 28 /* of both sequences of all pairs, which bound their operations */
};

/* A pair of a batch, and its table. */
typedef struct trace_item {
  int64_t number;           /* in the batch */
  int64_t n, m, directions; /* letters, and bytes */
} trace_item;

/* Memory of a launch, on the card. */
typedef struct trace_room {
  tsl_gpu_buffer pairs, spans, counters, directions, edges, walked, operations;
} trace_room;

/* The pairs of a group, and what has come of them. */
typedef struct trace_group {
  tri_gpu *w;
  const tsl_part *part;
  int64_t lo, n;
  int64_t letters;            /* of a batch, about */
  int64_t (*spans)[TRI_SPAN]; /* [n] from malloc */
  uint32_t *operations;       /* [n_operations] from malloc */
  int64_t n_operations;
  trace_room room;
} trace_group;

static void room_release(trace_group *g) {
  trace_room *const r = &g->room;
  tsl_gpu_buffer *const all[] = {&r->pairs, &r->spans,  &r->counters,  &r->directions,
                                 &r->edges, &r->walked, &r->operations};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&g->w->memory, buffer);
}

/* ---- a launch: tables of like sizes */

/* Items [k, end) whose tables have at least a quarter of the first one's size. */
static size_t end_of_launch(const std::vector<trace_item> &items, size_t k) {
  size_t end = k + 1;
  while (end < items.size() && items[end].directions >= items[k].directions / 4) end++;
  return end;
}

typedef void (*trace_kernel)(tri_letters_args, tri_trace_list);

static trace_kernel trace_kernel_of(const tri_params *p) {
  return p->function == TRI_EDIT        ? tri_trace_kernel<TRI_EDIT>
         : p->function == TRI_EXTENSION ? tri_extension_trace_kernel
         : p->function == TRI_LOCAL     ? tri_trace_kernel<TRI_LOCAL>
                                        : tri_trace_kernel<TRI_GLOBAL>;
}

/* Bytes of a pair's directions; of EXTENSION, of all that a warp keeps. */
static int64_t directions_of(const tri_params *p, int64_t n, int64_t m) {
  return p->function == TRI_EXTENSION ? tri_extension_room_of(n, m).end : tri_warp_directions(n, m);
}

/* A launch of warps that the card and the memory hold at once, for n pairs of so many bytes. */
static tsl_err shape_of(const tri_gpu *w, int64_t bytes, int64_t n, int64_t *blocks, int *warps) {
  tsl_err err = TSL_OK;
  const int64_t limit = w->memory.limit, ordinary = (int64_t)MEGABYTES << 20;
  const int64_t share = limit > 0 ? std::min(ordinary, (limit - w->memory.used) / 2) : ordinary;
  const int64_t room = std::max<int64_t>(share / bytes, 1);
  int resident = 0;
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, trace_kernel_of(&w->p),
                                                             TRI_LETTERS_THREADS, 0));
  *warps = (int)std::min<int64_t>(room, WARPS);
  *blocks = std::min(std::min(tsl_ceil_div(n, *warps), room / *warps),
                     (int64_t)w->processors * std::max(resident, 1));
done:
  return err;
}

static tsl_err launch(trace_group *g, const std::vector<trace_item> &items, size_t k, size_t end) {
  tsl_err err = TSL_OK;
  tri_gpu *const w = g->w;
  trace_room *const r = &g->room;
  tri_trace_list list = {};
  int64_t blocks = 0, rows = 1, letters = 1, warps = 0;
  int each = 0;
  for (size_t q = k; q < end; q++)
    rows = std::max(rows, items[q].n), letters = std::max(letters, items[q].n + items[q].m);
  list.directions_ld = std::max<int64_t>(items[k].directions / 4, 1);
  list.edges_ld = rows, list.walked_ld = letters;
  TSL_TRY(shape_of(w, 4 * list.directions_ld + 8 * rows + 4 * letters, (int64_t)(end - k), &blocks,
                   &each));
  warps = blocks * each;
  TSL_TRY(tsl_gpu_reserve(&w->memory, &r->directions, 4 * warps * list.directions_ld,
                          "directions of alignments"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &r->edges, 8 * warps * rows, "columns of alignments"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &r->walked, 4 * warps * letters, "operations of a warp"));
  list.pairs = (const tri_trace_pair *)r->pairs.data + k;
  list.spans = (tri_trace_span *)r->spans.data + k;
  list.n = (int)(end - k);
  list.counter = (unsigned *)((char *)r->counters.data + 8);
  list.directions = (uint32_t *)r->directions.data;
  list.edges = (int2 *)r->edges.data;
  list.walked = (uint32_t *)r->walked.data;
  list.operations = (uint32_t *)r->operations.data;
  list.n_operations = (unsigned long long *)r->counters.data;
  TSL_CUDA_TRY(cudaMemsetAsync(list.counter, 0, sizeof *list.counter, w->stream));
  TSL_LAUNCH(trace_kernel_of(&w->p), dim3((unsigned)blocks), (unsigned)(32 * each), 0, w->stream,
             tri_letters_args_of(w), list);
done:
  return err;
}

/* ---- a batch: as many pairs as the card has room for operations of */

/* Pairs [from, end) of the group, and their letters. */
static int64_t list_items(const trace_group *g, int64_t from, std::vector<trace_item> &items,
                          std::vector<tri_trace_pair> &pairs) {
  const tri_sequences s = tri_letters_sequences(g->w);
  int64_t letters = 0;
  for (int64_t k = from; k < g->n && letters < g->letters; k++) {
    int64_t place[2];
    tri_kept_pair(&g->w->p, g->lo, g->part, k, place);
    const int64_t n = tri_sequence_length(&s, place[0]), m = tri_sequence_length(&s, place[1]);
    items.push_back({k - from, n, m, directions_of(&g->w->p, n, m)});
    pairs.push_back({(int)place[0], (int)place[1]});
    letters += n + m;
  }
  return letters;
}

/* The largest first, so that none is begun late. */
static std::vector<tri_trace_pair> order(std::vector<trace_item> &items,
                                         const std::vector<tri_trace_pair> &pairs) {
  std::vector<tri_trace_pair> sorted;
  std::stable_sort(items.begin(), items.end(), [](const trace_item &x, const trace_item &y) {
    return x.directions > y.directions;
  });
  for (const trace_item &item : items) sorted.push_back(pairs[(size_t)item.number]);
  return sorted;
}

/* Spans and operations of the batch, in the order of its pairs, behind those of batches before. */
static tsl_err take(trace_group *g, int64_t from, const std::vector<trace_item> &items) {
  tsl_err err = TSL_OK;
  tri_gpu *const w = g->w;
  std::vector<tri_trace_span> spans(items.size());
  std::vector<uint32_t> operations;
  std::vector<size_t> place(items.size());
  unsigned long long count = 0;
  TSL_CUDA_TRY(cudaMemcpyAsync(&count, g->room.counters.data, sizeof count, cudaMemcpyDeviceToHost,
                               w->stream));
  TSL_TRY(tsl_gpu_copy(w, spans.data(), g->room.spans.data, spans.size() * sizeof spans[0]));
  operations.resize((size_t)count + 1);
  TSL_TRY(tsl_gpu_copy(w, operations.data(), g->room.operations.data, (size_t)count * 4));
  {
    void *const all = realloc(g->operations, (size_t)(g->n_operations + (int64_t)count + 1) * 4);
    if (all == NULL)
      TSL_FAIL(TSL_ERR_MEMORY, "no host memory for alignments of %lld pairs", (long long)g->n);
    g->operations = (uint32_t *)all;
  }
  for (size_t q = 0; q < items.size(); q++) place[(size_t)items[q].number] = q;
  for (size_t k = 0; k < items.size(); k++) {
    const tri_trace_span &span = spans[place[k]];
    for (int c = 0; c < TRI_SPAN; c++) g->spans[from + (int64_t)k][c] = span.span[c];
    memcpy(g->operations + g->n_operations, operations.data() + span.first,
           (size_t)span.span[4] * 4);
    g->n_operations += span.span[4];
  }
done:
  return err;
}

/* Letters whose operations take a sixteenth of what the card has left. */
static int64_t letters_of_batch(const tri_gpu *w) {
  const int64_t most = LETTERS_OF_BATCH, limit = w->memory.limit;
  return limit > 0 ? std::min(most, (limit - w->memory.used) / 64) : most;
}

/* @param[in,out] from  the first pair, then that of the next batch */
static tsl_err run_batch(trace_group *g, int64_t *from) {
  tsl_err err = TSL_OK;
  tri_gpu *const w = g->w;
  trace_room *const r = &g->room;
  std::vector<trace_item> items;
  std::vector<tri_trace_pair> pairs;
  const int64_t letters = list_items(g, *from, items, pairs);
  const std::vector<tri_trace_pair> sorted = order(items, pairs);
  const int64_t n = (int64_t)items.size(), bytes = n * (int64_t)sizeof(tri_trace_pair);
  TSL_TRY(tsl_gpu_upload(w, &r->pairs, sorted.data(), bytes, "pairs to align"));
  TSL_TRY(
      tsl_gpu_reserve(&w->memory, &r->spans, n * (int64_t)sizeof(tri_trace_span), "alignments"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &r->counters, 16, "counters"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &r->operations, 4 * letters + 4, "operations"));
  TSL_CUDA_TRY(cudaMemsetAsync(r->counters.data, 0, 16, w->stream));
  for (size_t k = 0; k < items.size();) {
    const size_t end = end_of_launch(items, k);
    TSL_TRY(launch(g, items, k, end));
    k = end;
  }
  TSL_TRY(take(g, *from, items));
  *from += n;
done:
  return err;
}

tsl_err tri_traceback_rows_run(tri_gpu *w, int64_t lo, int64_t hi, tsl_part *part) {
  tsl_err err = TSL_OK;
  trace_group g = {};
  const int field = tri_spans_of(&w->p);
  g.w = w, g.part = part, g.lo = lo, g.letters = std::max<int64_t>(letters_of_batch(w), 1);
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream)); /* the pairs are on the host */
  g.n = tri_kept_pairs(&w->p, lo, hi, part);
  part->list[field] = part->list[field + 1] = tsl_list{NULL, 0};
  if (g.n == 0) return TSL_OK;
  g.spans = (int64_t(*)[TRI_SPAN])malloc((size_t)g.n * sizeof *g.spans);
  if (g.spans == NULL)
    TSL_FAIL(TSL_ERR_MEMORY, "no host memory for alignments of %lld pairs", (long long)g.n);
  for (int64_t from = 0; from < g.n;) TSL_TRY(run_batch(&g, &from));
  part->list[field] = tsl_list{g.spans, g.n};
  part->list[field + 1] = tsl_list{g.operations, g.n_operations};
  g.spans = NULL, g.operations = NULL;
done:
  room_release(&g);
  free(g.spans);
  free(g.operations);
  return err;
}
