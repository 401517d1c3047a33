/* Sweeps on a card: their numbers, whole tables, tiles with their seconds, trials. */
#include "dp_backend_gpu.cuh"
#include "dp_knapsack.cuh"

/* ---- open */

/* Do the values of a knapsack fit int32, with what a pass may add to them? */
static tsl_err choose_width(dp_worker *w, bool *narrow) {
  tsl_err err = TSL_OK;
  const dp_params *p = w->dp.c.p;
  const int64_t *weights = (const int64_t *)dp_input(&w->dp.c, DP_A);
  const int64_t *values = (const int64_t *)dp_input(&w->dp.c, DP_B);
  *narrow = false;
  if (!dp_is_sack(p)) return TSL_OK;
  const int64_t most =
      dp_knap_most(p->problem == DP_KNAPSACK_UNBOUNDED, p->n, weights, values, p->m);
  for (int64_t i = 0; i < p->n; i++)
    if (weights[i] < 0 || values[i] < 0)
      TSL_FAIL(TSL_ERR_INPUT, "dp: item %lld has weight %lld and value %lld; allowed >= 0",
               (long long)i, (long long)weights[i], (long long)values[i]);
  *narrow = most >= 0 && most <= INT32_MAX;
done:
  return err;
}

/* Weights, returns or costs. */
static tsl_err dp_backend_gpu_rows_upload(dp_worker *w) {
  tsl_err err = TSL_OK;
  const tsl_field *field = &w->dp.c.problem->fields[DP_A];
  const int64_t bytes = tsl_field_bytes(field);
  if (w->dp.c.p->problem == DP_BINOMIAL || bytes == 0) return TSL_OK;
  TSL_TRY(
      tsl_gpu_upload(&w->card, &w->sweep.numbers, field->data, bytes, "numbers of the problem"));
  TSL_TRY(dp_card_wait(&w->card));
done:
  return err;
}

tsl_err dp_gpu_rows_open(dp_worker *w) {
  tsl_err err = TSL_OK;
  bool narrow = false;
  TSL_TRY(choose_width(w, &narrow));
  TSL_TRY(dp_rows_open(&w->dp.rows, &w->dp.c, &dp_engine_sweep, narrow));
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, &w->sweep.bad, 4, "flag"));
  TSL_TRY(dp_pinned_reserve(&w->sweep.bad_here, 4));
  TSL_TRY(dp_backend_gpu_rows_upload(w));
done:
  return err;
}

void dp_gpu_sweep_clear(dp_worker *w) {
  dp_sweep_gpu *sweep = &w->sweep;
  tsl_gpu_buffer *const all[] = {&sweep->numbers, &sweep->table, &sweep->bad, &sweep->trace};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->card.memory, buffer);
  dp_pinned_release(&sweep->bad_here);
}

/* ---- spans */

static int64_t decision_bytes(const dp_params *p, int64_t items, int64_t columns) {
  return dp_is_sack(p) ? items * tsl_ceil_div(columns, 32) * 4 : items * columns * 4;
}

static tsl_err span_gpu(void *worker, const dp_sweep_span *span, void *made) {
  return dp_span_run((dp_worker *)worker, span, made, NULL);
}

/* Queue: rows of the span and, before the first stage, row 0, then all to the units' slabs. */
static tsl_err table_gpu(void *worker, const dp_sweep_span *span, const tsl_unit *units, int64_t n,
                         const tsl_part *parts) {
  tsl_err err = TSL_OK;
  dp_worker *w = (dp_worker *)worker;
  tsl_gpu_buffer *buffer = &w->sweep.table;
  const int64_t first = units[0].stage == 0, rows = span->hi - span->lo + first;
  const int64_t columns = span->to - span->from, line = columns * w->dp.c.bytes;
  char *table = NULL;
  TSL_TRY(tsl_gpu_reserve(&w->card.memory, buffer, rows * line, "rows of the table"));
  table = (char *)buffer->data;
  if (first) TSL_TRY(dp_row_cast(w, span->top, span->from, span->to, table));
  TSL_TRY(dp_span_run(w, span, NULL, table + first * line));
  for (int64_t u = 0; u < n; u++) {
    const size_t bytes = (size_t)((units[u].hi[1] - units[u].lo[1]) * w->dp.c.bytes);
    TSL_CUDA_TRY(cudaMemcpy2DAsync(
        parts[u].slab[w->dp.c.table], bytes, table + (units[u].lo[1] - span->from) * w->dp.c.bytes,
        (size_t)line, bytes, (size_t)rows, cudaMemcpyDeviceToHost, w->card.stream));
  }
done:
  return err;
}

const dp_sweep_engine dp_engine_sweep = {decision_bytes, span_gpu, table_gpu, dp_gpu_rows_trace};

/* ---- tiles */

/* Has a binomial coefficient left 63 bits? */
static tsl_err check_bad(dp_worker *w, const tsl_unit *unit) {
  tsl_err err = TSL_OK;
  if (w->dp.c.p->problem != DP_BINOMIAL || *(const int *)w->sweep.bad_here.data == 0) return TSL_OK;
  TSL_FAIL(TSL_ERR_NUMERIC,
           "a binomial coefficient C(%lld, k) with k <= %lld exceeds 63 bits; give dp.modulus",
           (long long)unit->hi[0], (long long)w->dp.c.p->m);
done:
  return err;
}

tsl_err dp_gpu_rows_tiles(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  dp_rows_stage(&w->dp.rows);
  TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
  for (int64_t k = 0, end; k < n; k = end) {
    end = dp_units_end(units, n, k);
    TSL_TRY(dp_rows_run(&w->dp.rows, units + k, end - k, parts + k));
  }
  TSL_CUDA_TRY(cudaMemcpyAsync(w->sweep.bad_here.data, w->sweep.bad.data, 4, cudaMemcpyDeviceToHost,
                               w->card.stream));
  TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
  TSL_TRY(check_bad(w, &units[0]));
  TSL_TRY(dp_rows_best(&w->dp.rows, units, n, parts));
  tsl_seconds_spread(seconds, units, n, parts);
done:
  return err;
}

/* From a row of zeros; nothing is kept, and numbers may overflow, as the rows are not those of the
 * problem. */
tsl_err dp_gpu_rows_trial(dp_worker *w, const tsl_unit *units, int64_t n, tsl_part *parts) {
  tsl_err err = TSL_OK;
  TSL_TRY(dp_rows_zero(&w->dp.rows));
  for (int64_t k = 0, end; k < n; k = end) {
    double seconds = 0;
    end = dp_units_end(units, n, k);
    const dp_sweep_span span = dp_sweep_span_of(&w->dp.rows, units + k, end - k);
    TSL_TRY(tsl_gpu_timer_start(&w->card.timer, w->card.stream));
    TSL_TRY(dp_span_run(w, &span, NULL, NULL));
    TSL_TRY(tsl_gpu_timer_stop(&w->card.timer, w->card.stream, &seconds));
    tsl_seconds_spread(seconds, units + k, end - k, parts + k);
  }
done:
  return err;
}
