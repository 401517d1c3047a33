/* Sequences on a card: upload, the order of columns, and which kernels a strip takes. */
#include "tri_letters.cuh"

#include "tri_extension.h"

#include <algorithm>
#include <iterator>
#include <vector>

static int64_t length_of(const tri_sequences &s, int64_t place) {
  return tri_sequence_length(&s, place);
}

/* Columns of each window by length, then by place. */
static void order_columns(const tri_sequences &s, int64_t columns, std::vector<int> &order) {
  for (int64_t c = 0; c < columns; c++) order[(size_t)c] = (int)c;
  for (int64_t c = 0; c < columns; c += TRI_LETTERS_WINDOW) {
    const int64_t end = std::min(columns, c + (int64_t)TRI_LETTERS_WINDOW);
    std::stable_sort(order.begin() + c, order.begin() + end,
                     [&s](int a, int b) { return length_of(s, a) < length_of(s, b); });
  }
}

/* Where the texts of each group begin; the last: where they all end. */
static std::vector<int64_t> place_groups(const tri_sequences &s, const std::vector<int> &order) {
  std::vector<int64_t> first(order.size() / TRI_LETTERS_GROUP + 1);
  for (size_t g = 0; g + 1 < first.size(); g++) {
    int64_t longest = 0;
    for (size_t l = 0; l < TRI_LETTERS_GROUP; l++) {
      const int column = order[g * TRI_LETTERS_GROUP + l];
      if (column >= 0) longest = std::max(longest, length_of(s, column));
    }
    first[g + 1] = first[g] + (longest + TRI_LETTERS_PACKED - 1) / TRI_LETTERS_PACKED;
  }
  return first;
}

/* A block has a group, a warp a word of each lane at a time; ends are filled with no letter. */
static __global__ void pack_texts(tri_letters_args s, uint32_t *texts) {
  const int group = (int)blockIdx.x, lane = (int)threadIdx.x % 32;
  const int column = s.order[group * TRI_LETTERS_GROUP + lane];
  const int64_t n = column < 0 ? 0 : s.starts[column + 1] - s.starts[column];
  const int64_t words = s.first[group + 1] - s.first[group];
  for (int64_t w = (int)threadIdx.x / 32; w < words; w += (int)blockDim.x / 32) {
    uint32_t four = 0;
    for (int k = 0; k < TRI_LETTERS_PACKED; k++) {
      const int64_t at = w * TRI_LETTERS_PACKED + k;
      const int letter = at < n ? (int)s.codes[s.starts[column] + at] : s.n_codes & 255;
      four |= (uint32_t)letter << 8 * k;
    }
    texts[(s.first[group] + w) * 32 + lane] = four;
  }
}

tri_letters_args tri_letters_args_of(const tri_gpu *w) {
  const tri_letters_state *l = w->letters;
  tri_letters_args args = {};
  args.codes = (const uint8_t *)l->sets[l->set].codes.data;
  args.starts = (const int64_t *)l->sets[l->set].starts.data;
  args.order = (const int *)l->order.data;
  args.first = (const int64_t *)l->first.data;
  args.texts = (const uint32_t *)l->texts.data;
  args.below = (uint32_t *)l->sets[l->set].below.data;
  args.below_ld =
      tri_is_dropping(&w->p) ? tri_extension_cells(w->p.longest) : (w->p.longest + 31) / 32 * 2;
  args.n_codes = w->p.codes;
  args.scores = (const int *)l->scores.data;
  args.rows = (const int *)l->sets[l->set].rows.data;
  args.p = w->p;
  return args;
}

int tri_letters_at_once(const tri_gpu *w, int64_t bytes, int blocks) {
  const int64_t most = 1 << 30, limit = w->memory.limit / 16;
  const int64_t room = limit > 0 ? std::min(limit, most) : most;
  const int64_t all = (int64_t)w->processors * std::max(blocks, 1);
  return (int)std::max<int64_t>(1, std::min(all, room / bytes));
}

/* All places by length, which strips take theirs from. */
static tsl_err order_places(tri_gpu *w) {
  tsl_err err = TSL_OK;
  const tri_sequences s = tri_sequences_of(w->problem);
  const int64_t n = w->p.n_pad;
  TSL_TRY(tsl_alloc(n, sizeof(int), "order of sequences", (void **)&w->letters->by_length));
  for (int64_t k = 0; k < n; k++) w->letters->by_length[k] = (int)k;
  std::stable_sort(w->letters->by_length, w->letters->by_length + n,
                   [&s](int x, int y) { return length_of(s, x) > length_of(s, y); });
done:
  return err;
}

tsl_err tri_letters_order(tri_gpu *w, int64_t a, int64_t b, tsl_gpu_buffer *to, int64_t length,
                          int *n_long) {
  tsl_err err = TSL_OK;
  const tri_sequences s = tri_sequences_of(w->problem);
  const int *const all = w->letters->by_length;
  std::vector<int> places;
  places.reserve((size_t)(b - a));
  std::copy_if(all, all + w->p.n_pad, std::back_inserter(places),
               [=](int place) { return place >= a && place < b; });
  if (n_long != NULL)
    *n_long = (int)(std::partition_point(places.begin(), places.end(),
                                         [&](int x) { return length_of(s, x) > length; }) -
                    places.begin());
  TSL_TRY(tsl_gpu_upload(w, to, places.data(), (b - a) * (int64_t)sizeof(int), "order of rows"));
done:
  return err;
}

/* All warps together have LONG_PAIRS times what one has with the longest pair, of rows that are no
 * rarer than one in RARE: with those few batches would be as long as a run. */
int64_t tri_letters_units(const tri_gpu *w, const tsl_unit *unit) {
  enum { OF_A_LIST = 32, LONG_PAIRS = 16, RARE = 100 };
  const tri_letters_state *l = w->letters;
  if (l->by_length == NULL) return OF_A_LIST;
  const double row =
      (double)length_of(tri_sequences_of(w->problem), l->by_length[w->p.n_pad / RARE]);
  const double couple = 2 * tri_letters_work(&w->p, row, (double)w->p.longest, 1, false);
  return 1 + (int64_t)(LONG_PAIRS * l->resident * couple / std::max(unit->count, 1.0));
}

/* Blocks that the card holds at once of the kernel for long patterns, and their memory. */
static tsl_err prepare_many(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_letters_state *l = w->letters;
  const int64_t each = (w->p.longest + 31) / 32 * 2 * (int64_t)sizeof(uint32_t);
  const int shared = TRI_LETTERS_MANY * w->p.codes * (int)sizeof(uint32_t);
  int blocks = 0;
  if (w->p.longest <= TRI_LETTERS_FEW * 32) return TSL_OK;
  TSL_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tri_letters_many<float>,
                                                             TRI_LETTERS_THREADS, (size_t)shared));
  l->resident = w->processors * std::max(blocks, 1);
  TSL_TRY(tri_letters_below(w, l->resident * TRI_LETTERS_THREADS * each,
                            "differences of long sequences"));
done:
  return err;
}

/* The order of columns, and their texts. */
static tsl_err upload_columns(tri_gpu *w) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  const tri_sequences s = tri_sequences_of(w->problem);
  const int64_t columns = tri_columns_of(&w->p);
  l->groups = tsl_ceil_div(columns, TRI_LETTERS_GROUP);
  std::vector<int> order((size_t)(l->groups * TRI_LETTERS_GROUP), -1);
  order_columns(s, columns, order);
  const std::vector<int64_t> first = place_groups(s, order);
  const int64_t lines = std::max<int64_t>(first.back(), 1);
  TSL_TRY(
      tsl_gpu_upload(w, &l->order, order.data(), (int64_t)order.size() * 4, "order of columns"));
  TSL_TRY(tsl_gpu_upload(w, &l->first, first.data(), (int64_t)first.size() * 8, "places of texts"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &l->texts, lines * 32 * (int64_t)sizeof(uint32_t), "texts"));
  TSL_LAUNCH(pack_texts, dim3((unsigned)l->groups), 256, 0, w->stream, tri_letters_args_of(w),
             (uint32_t *)l->texts.data);
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream)); /* the vectors end here */
done:
  return err;
}

tsl_err tri_letters_reserve(tri_gpu *w, int64_t bytes, const char *what, tsl_gpu_buffer *buffer) {
  if (bytes <= buffer->bytes) return TSL_OK;
  return tsl_gpu_reserve(&w->memory, buffer, w->p.streamed ? bytes + bytes / 8 : bytes, what);
}

tsl_err tri_letters_below(tri_gpu *w, int64_t bytes, const char *what) {
  tsl_err err = TSL_OK;
  for (int k = 0; k < (w->p.streamed ? 2 : 1); k++)
    TSL_TRY(tsl_gpu_reserve(&w->memory, &w->letters->sets[k].below, bytes, what));
done:
  return err;
}

/* By pinned memory, where those that are read have come to: of a million pairs letters are most of
 * what a card waits for. */
static tsl_err send(tri_letters_state *l, const void *from, int64_t bytes, void *to) {
  tsl_err err = TSL_OK;
  if (l->sets->records == NULL) return tsl_gpu_send(&l->stage, from, bytes, to, l->moves);
  TSL_CUDA_TRY(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice, l->moves));
done:
  return err;
}

tsl_err tri_letters_upload(tri_gpu *w, const tri_sequences *s, int64_t n_places,
                           tri_letters_set *to) {
  tsl_err err = TSL_OK;
  tri_letters_state *const l = w->letters;
  const int64_t letters = s->starts[n_places], word = sizeof(uint32_t);
  const int64_t starts = (n_places + 1) * (int64_t)sizeof *s->starts;
  TSL_TRY(tri_letters_reserve(w, letters + word, "letters", &to->codes)); /* read by words */
  TSL_TRY(send(l, s->codes, letters, to->codes.data));
  TSL_TRY(tri_letters_reserve(w, starts, "starts of sequences", &to->starts));
  TSL_TRY(send(l, s->starts, starts, to->starts.data));
done:
  return err;
}

/* Alignments of all pairs. */
static tsl_err open_scores(tri_gpu *w) {
  tsl_err err = TSL_OK;
  TSL_TRY(order_places(w));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->letters->sets->counter, 2 * sizeof(unsigned),
                          "counters of items"));
  TSL_TRY(tri_is_dropping(&w->p) ? tri_extension_open(w) : tri_align_open(w));
done:
  return err;
}

tsl_err tri_letters_open(tri_gpu *w) {
  tsl_err err = TSL_OK;
  if (!tri_of_letters(&w->p)) return TSL_OK;
  const tri_sequences s = tri_sequences_of(w->problem);
  const tsl_field *scores = &w->problem->fields[TRI_SCORES];
  TSL_TRY(tsl_alloc(1, sizeof *w->letters, "sequences", (void **)&w->letters));
  TSL_CUDA_TRY(cudaStreamCreateWithFlags(&w->letters->moves, cudaStreamNonBlocking));
  TSL_TRY(
      tsl_gpu_upload(w, &w->letters->scores, scores->data, tsl_field_count(scores) * 4, "scores"));
  if (w->p.streamed) {
    TSL_TRY(tri_letters_readers(w));
  } else {
    TSL_TRY(tsl_gpu_stage_create(&w->letters->stage));
    TSL_TRY(tri_letters_upload(w, &s, w->p.n_pad, w->letters->sets));
  }
  if (w->p.output == TRI_PAIRED) return tri_paired_open(w);
  if (tri_is_scored(&w->p)) return open_scores(w);
  TSL_TRY(upload_columns(w));
  TSL_TRY(prepare_many(w));
done:
  return err;
}

tri_sequences tri_letters_sequences(const tri_gpu *w) {
  return w->p.streamed ? w->letters->sequences : tri_sequences_of(w->problem);
}

void tri_letters_close(tri_gpu *w) {
  tri_letters_state *const l = w->letters;
  if (l == NULL) return;
  if (l->moves != NULL) (void)cudaStreamSynchronize(l->moves);
  tsl_gpu_buffer *const buffers[] = {&l->order, &l->first, &l->texts, &l->scores, &l->columns};
  for (tsl_gpu_buffer *buffer : buffers) tsl_gpu_release(&w->memory, buffer);
  if (l->own != NULL) w->stream = l->own;
  for (tri_letters_set &set : l->sets) {
    tsl_gpu_buffer *const its[] = {&set.codes,   &set.starts, &set.rows,
                                   &set.counter, &set.below,  &set.out};
    if (set.stream != NULL) (void)cudaStreamSynchronize(set.stream);
    for (tsl_gpu_buffer *buffer : its) tsl_gpu_release(&w->memory, buffer);
    letters_reader_close(&set.records);
    if (set.stream != NULL) (void)cudaStreamDestroy(set.stream);
    for (cudaEvent_t event : {set.sent, set.seen})
      if (event != NULL) (void)cudaEventDestroy(event);
  }
  tsl_gpu_stage_destroy(&l->stage);
  if (l->moves != NULL) (void)cudaStreamDestroy(l->moves);
  tsl_team_close(&l->team);
  tsl_free(l->by_length);
  tsl_free(l);
  w->letters = NULL;
}

template <class R>
tsl_err tri_letters_rows(tri_gpu *w, int64_t a, int64_t b, int64_t c0, int64_t c1, R *out) {
  tsl_err err = TSL_OK;
  const tri_letters_state *l = w->letters;
  const int warps = TRI_LETTERS_THREADS / 32, window = TRI_LETTERS_WINDOW;
  tri_letters_strip_of<R> strip = {};
  if (tri_is_scored(&w->p) && !tri_is_dropping(&w->p))
    return tri_align_rows<R>(w, a, b, c0, c1, out);
  strip.a = (int)a, strip.b = (int)b, strip.c0 = (int)c0, strip.c1 = (int)c1;
  strip.g0 = (int)(c0 / window * (window / TRI_LETTERS_GROUP));
  strip.g1 = (int)std::min(l->groups, tsl_ceil_div(c1, window) * (window / TRI_LETTERS_GROUP));
  strip.out = out;
  if (tri_is_dropping(&w->p)) return tri_extension_rows_run(w, &strip);
  const size_t word = sizeof(uint32_t) * (size_t)w->p.codes;
  const dim3 grid((unsigned)tsl_ceil_div(strip.g1 - strip.g0, warps), (unsigned)(b - a));
  TSL_LAUNCH(tri_letters_few<R>, grid, TRI_LETTERS_THREADS, TRI_LETTERS_FEW * word, w->stream,
             tri_letters_args_of(w), strip);
  if (l->resident > 0)
    TSL_LAUNCH(tri_letters_many<R>, dim3((unsigned)l->resident), TRI_LETTERS_THREADS,
               TRI_LETTERS_MANY * word, w->stream, tri_letters_args_of(w), strip);
done:
  return err;
}

template tsl_err tri_letters_rows<float>(tri_gpu *, int64_t, int64_t, int64_t, int64_t, float *);
template tsl_err tri_letters_rows<double>(tri_gpu *, int64_t, int64_t, int64_t, int64_t, double *);
