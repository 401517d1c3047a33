/* The worker: a recurrence on a card, whatever its engine. */
#include "dp_recur_own.cuh"

#include "dp_eval.h"
#include "integers.h"

/* Values up to which the interpreter looks for the one that failed. */
static const int64_t FEW_VALUES = 1 << 18;

tsl_err dp_recur_copy(dp_recur_card *w, void *to, const void *from, int64_t n) {
  tsl_err err = TSL_OK;
  if (n > 0)
    TSL_CUDA_TRY(cudaMemcpyAsync(to, from, (size_t)(n * w->bytes), cudaMemcpyDeviceToDevice,
                                 w->card->stream));
done:
  return err;
}

tsl_err dp_recur_reserve_rows(dp_recur_card *w, tsl_gpu_buffer *buffer, int64_t row, int64_t least,
                              int64_t most, const char *what, int64_t *rows) {
  tsl_err err = TSL_OK;
  *rows = most;
  while ((err = tsl_gpu_reserve(&w->card->memory, buffer, *rows * row + 1, what)) ==
             TSL_ERR_DEVICE_MEMORY &&
         *rows > least)
    *rows = tsl_max((*rows + 1) / 2, least);
  return err;
}

static const char *const names[DP_N_KERNELS] = {"tsl_dp_wave", "tsl_dp_wave_few", "tsl_dp_edge",
                                                "tsl_dp_row",  "tsl_dp_tile",     "tsl_dp_step"};

tsl_err dp_recur_start(dp_recur_card *w, dp_recur_kernel kernel, int64_t blocks, int threads,
                       cudaStream_t stream, void **params) {
  tsl_err err = TSL_OK;
  if (blocks <= 0) return TSL_OK;
  if (blocks > INT32_MAX)
    TSL_FAIL(TSL_ERR_INPUT, "%s: %lld blocks are too many for a card", names[kernel],
             (long long)blocks);
  TSL_TRY(lang_module_launch(w->kernels, kernel, dim3((unsigned)blocks), threads, stream, params));
done:
  return err;
}

tsl_err dp_recur_run(dp_recur_card *w, dp_recur_kernel kernel, int64_t blocks, int threads,
                     cudaStream_t stream, void *launch) {
  void *params[] = {&w->args, launch};
  return dp_recur_start(w, kernel, blocks, threads, stream, params);
}

/* --------------------------------------------------------------------------- open and close */

/* Host memory to a new buffer; 16 bytes at least, so that there is an address. */
static tsl_err dp_recur_card_upload(dp_recur_card *w, tsl_gpu_buffer *buffer, const void *host,
                                    int64_t bytes, const char *what) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->card->memory, buffer, bytes + 16, what));
  TSL_CUDA_TRY(cudaMemsetAsync(buffer->data, 0, (size_t)buffer->bytes, w->card->stream));
  if (bytes > 0 && host != NULL)
    TSL_CUDA_TRY(cudaMemcpyAsync(buffer->data, host, (size_t)bytes, cudaMemcpyHostToDevice,
                                 w->card->stream));
  TSL_TRY(dp_card_wait(w->card));
done:
  return err;
}

static tsl_err upload_data(dp_recur_card *w) {
  tsl_err err = TSL_OK;
  const lang_names *names = &w->recur->recurrence->equation.names;
  for (int a = 0; a < LANG_ARRAYS_MAX; a++) {
    const bool used = a < names->n_arrays;
    const int64_t n = used ? dp_array_count(&names->arrays[a]) : 0;
    const int64_t size = used ? (int64_t)tsl_type_bytes((tsl_type)names->arrays[a].type) : 0;
    TSL_TRY(dp_recur_card_upload(w, &w->data[a], w->recur->args.data[a], n * size,
                                 "data of the recurrence"));
    w->args.data[a] = w->data[a].data;
  }
done:
  return err;
}

static tsl_err upload_wanted(dp_recur_card *w) {
  tsl_err err = TSL_OK;
  const int64_t n = w->recur->n_wanted;
  int64_t(*at)[3] = NULL;
  if (n == 0) return TSL_OK;
  TSL_TRY(tsl_alloc(n, sizeof *at, "goal", (void **)&at));
  for (int64_t k = 0; k < n; k++) {
    dp_code_fold(&w->code, w->recur->wanted[k][0], w->recur->wanted[k][1], &at[k][0], &at[k][1]);
    at[k][2] = w->recur->wanted[k][2];
  }
  TSL_TRY(dp_recur_card_upload(w, &w->wanted_at, at, n * (int64_t)sizeof *at, "goal"));
  TSL_TRY(dp_recur_card_upload(w, &w->wanted, NULL, n * w->step, "goal"));
done:
  tsl_free(at);
  return err;
}

tsl_err dp_recur_card_make(dp_card *card, const dp_recur_source *source, dp_recur_card **out) {
  tsl_err err = TSL_OK;
  dp_recur_card *w = NULL;
  *out = NULL;
  TSL_TRY(tsl_alloc(1, sizeof *w, "recurrence", (void **)&w));
  w->card = card;
  w->recur = source->recur;
  w->code = source->recur->code;
  w->args = source->recur->args;
  w->table = source->table;
  w->best = source->best;
  w->kept = source->kept;
  w->type = (tsl_type)w->code.type;
  w->bytes = dp_code_bytes(&w->code);
  w->step = w->bytes / w->code.values;
  w->goal = dp_recur_goal_box(w->recur);
  TSL_TRY(upload_data(w));
  TSL_TRY(upload_wanted(w));
  TSL_TRY(dp_recur_card_upload(w, &w->bad, NULL, (int64_t)sizeof(int), "flags"));
  if (w->code.P > 0 && w->code.Q > 0) /* an empty table has no tiles and was not compiled */
    TSL_TRY(lang_module_load(source->image, source->image_bytes, names, DP_N_KERNELS, &w->kernels));
  if (w->code.engine == DP_WAVEFRONT)
    TSL_TRY(dp_recur_wave_open(w));
  else
    TSL_TRY(dp_recur_rows_open(w));
  TSL_TRY(dp_recur_card_begin(w));
  *out = w;
done:
  if (err != TSL_OK) dp_recur_card_close(&w);
  return err;
}

void dp_recur_card_close(dp_recur_card **worker) {
  if (worker == NULL || *worker == NULL) return;
  dp_recur_card *w = *worker;
  tsl_gpu_buffer *all[] = {&w->bad,   &w->wanted_at, &w->wanted, &w->bests, &w->turned,
                           &w->line,  &w->below,     &w->left,   &w->right, &w->side,
                           &w->cells, &w->finished,  &w->window, &w->skewed};
  (void)cudaStreamSynchronize(w->card->stream);
  if (w->code.engine == DP_WAVEFRONT)
    dp_recur_wave_close(w);
  else
    dp_recur_rows_close(w);
  lang_module_unload(&w->kernels);
  for (tsl_gpu_buffer &buffer : w->data) tsl_gpu_release(&w->card->memory, &buffer);
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->card->memory, buffer);
  dp_recur_close(&w->own);
  tsl_free(w);
  *worker = NULL;
}

tsl_err dp_recur_card_begin(dp_recur_card *w) {
  tsl_err err = TSL_OK;
  w->front = dp_recur_front_begin();
  TSL_CUDA_TRY(cudaMemsetAsync(w->bad.data, 0, sizeof(int), w->card->stream));
  TSL_TRY(dp_recur_forget(w));
  if (w->code.engine == DP_WAVEFRONT)
    TSL_TRY(dp_recur_wave_begin(w));
  else
    TSL_TRY(dp_recur_rows_begin(w));
done:
  return err;
}

/* ------------------------------------------------------------------------------ what failed */

static const char *reason_of(int bad) {
  if (bad & DP_BAD_OVERFLOW) return "an integer does not fit";
  if (bad & DP_BAD_DIVISION) return "a division or remainder by zero";
  if (bad & DP_BAD_TABLE) return "a read of a cell that is not there or comes later";
  if (bad & DP_BAD_DATA) return "an index outside of a data array";
  if (bad & DP_BAD_RANGE) return "an empty range without `else`, or one that is too long";
  if (bad & DP_BAD_REAL)
    return "reals without a result (division by zero, overflow, underflow or not a number)";
  return "a cell that neither a boundary rule nor `cell` gives";
}

/* The interpreter's own words where the table is small. */
static tsl_err ask_interpreter(const dp_recur *recur, int bad) {
  tsl_err err = TSL_OK;
  dp_oracle oracle = {};
  if (recur->code.P * recur->code.Q > FEW_VALUES / recur->code.values) return TSL_OK;
  TSL_TRY(dp_oracle_create(recur->recurrence, &oracle));
  TSL_TRY(dp_oracle_fill(&oracle));
  TSL_FAIL(TSL_ERR_INTERNAL, "card %s found %s, the interpreter did not", tsl_gpu_card(),
           reason_of(bad));
done:
  dp_oracle_clear(&oracle);
  return err;
}

static tsl_err fail_cells(const dp_recur_card *w, int bad, const tsl_unit *first,
                          const tsl_unit *last) {
  int64_t i, j, i2, j2;
  dp_code_unfold(&w->code, first->lo[0], first->lo[1], &i, &j);
  dp_code_unfold(&w->code, last->hi[0] - 1, last->hi[1] - 1, &i2, &j2);
  const int64_t *const origin = w->recur->recurrence->equation.names.origin;
  return lang_expr_fail(TSL_ERR_NUMERIC, &w->recur->recurrence->cells[0], __FILE__, __LINE__,
                        "%s, between i = %lld, j = %lld and i = %lld, j = %lld", reason_of(bad),
                        (long long)(i + origin[0]), (long long)(j + origin[1]),
                        (long long)(i2 + origin[0]), (long long)(j2 + origin[1]));
}

static tsl_err check_bad(dp_recur_card *w, const tsl_unit *units, int64_t n) {
  tsl_err err = TSL_OK;
  int bad = 0;
  TSL_TRY(tsl_gpu_copy(w->card, &bad, w->bad.data, sizeof bad));
  if (bad == 0 || w->trial) goto done;
  TSL_TRY(ask_interpreter(w->recur, bad));
  TSL_TRY(fail_cells(w, bad, units, &units[n - 1]));
done:
  return err;
}

/* ------------------------------------------------------------------------------------ tiles */

static tsl_err run_tiles(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  if (w->code.engine == DP_INTERVAL) return dp_recur_boxes_tiles(w, units, n, parts);
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_units_end(units, n, k);
    if (w->code.engine == DP_WAVEFRONT)
      TSL_TRY(dp_recur_wave_tiles(w, units + k, end - k, parts + k));
    else
      TSL_TRY(dp_recur_rows_tiles(w, units + k, end - k, parts + k));
  }
done:
  return err;
}

/* Is it the last tile of its lane? */
static bool is_last(const dp_recur_card *w, const tsl_unit *unit) {
  return w->code.engine == DP_INTERVAL || unit->hi[0] == w->code.P;
}

/* The best so far with the first of the lanes that end here; none with the others. */
static tsl_err give_best(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  bool given = false;
  dp_recur_best best = {0, -1, -1, 0};
  if (w->best < 0) return TSL_OK;
  for (int64_t k = 0; k < n; k++) {
    int64_t *const row = (int64_t *)parts[k].slab[w->best];
    if (!is_last(w, &units[k]) || row == NULL) continue;
    if (!given) TSL_TRY(dp_recur_best_of(w, &best));
    row[0] = given ? 0 : best.bits;
    row[1] = given ? -1 : best.i;
    row[2] = given ? -1 : best.j;
    row[3] = given ? 0 : best.layer;
    given = true;
  }
done:
  return err;
}

tsl_err dp_recur_card_tiles(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  if (n <= 0) return TSL_OK;
  TSL_TRY(tsl_gpu_timer_start(&w->card->timer, w->card->stream));
  TSL_TRY(run_tiles(w, units, n, parts));
  TSL_TRY(tsl_gpu_timer_stop(&w->card->timer, w->card->stream, &seconds));
  tsl_seconds_spread(seconds, units, n, parts);
  TSL_TRY(check_bad(w, units, n));
  TSL_TRY(give_best(w, units, n, parts));
  for (int64_t k = 0; k < n; k++) TSL_TRY(dp_recur_card_keep(w, &units[k], &parts[k]));
  for (int64_t k = 0; k < n; k++) dp_recur_front_add(&w->front, &units[k]);
done:
  if (err != TSL_OK) /* what was queued may still write to the slabs */
    (void)cudaStreamSynchronize(w->card->stream);
  return err;
}

tsl_err dp_recur_card_trial(dp_recur_card *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  w->trial = true;
  for (int64_t k = 0, end; k < n; k = end) { /* boxes may need others */
    end = w->code.engine == DP_INTERVAL ? k + 1 : dp_units_end(units, n, k);
    TSL_TRY(dp_recur_card_tiles(w, units + k, end - k, parts + k));
  }
done:
  w->trial = false;
  return err;
}

tsl_err dp_recur_card_edge_out(dp_recur_card *w, const tsl_unit *unit, void *bytes) {
  return w->code.engine == DP_WAVEFRONT ? dp_recur_wave_edge_out(w, unit, bytes)
                                        : dp_recur_rows_edge_out(w, unit, bytes);
}

tsl_err dp_recur_card_edge_in(dp_recur_card *w, const tsl_unit *unit, const void *bytes) {
  return w->code.engine == DP_WAVEFRONT ? dp_recur_wave_edge_in(w, unit, bytes)
                                        : dp_recur_rows_edge_in(w, unit, bytes);
}

tsl_err dp_recur_card_wanted(dp_recur_card *w, char **values) {
  tsl_err err = TSL_OK;
  const int64_t n = w->recur->n_wanted;
  TSL_TRY(tsl_alloc(n, (size_t)w->step, "goal", (void **)values));
  TSL_TRY(tsl_gpu_copy(w->card, *values, w->wanted.data, n * w->step));
done:
  return err;
}

tsl_err dp_recur_card_collect(dp_recur_card *w, int64_t *wanted) {
  tsl_err err = TSL_OK;
  const int64_t n = w->recur->n_wanted;
  char *values = NULL;
  if (n == 0) return TSL_OK;
  TSL_TRY(dp_recur_card_wanted(w, &values));
  for (int64_t k = 0; k < n; k++) wanted[k] = dp_recur_bits(w->type, values + k * w->step);
done:
  tsl_free(values);
  return err;
}
