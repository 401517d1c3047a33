/* A problem's recurrence on cards: compiled on the root, opened by each worker. */
#include "dp_recur_own.cuh"

#include "dp_engine_text.h"
#include "lang_objects.h"

#define NO_INTERPRETER \
  "--interpret computes on sockets only: leave it out, or the cards (run.device: cpu)"

/* The most that the driver takes from the beginning of one row to that of the next. */
static const int64_t ROW_BYTES = INT32_MAX;

/* A wavefront keeps a column more. */
static tsl_err check_rows(const dp_code *c) {
  tsl_err err = TSL_OK;
  const int64_t bytes = dp_code_bytes(c);
  char cell[24], most[24];
  if (c->layers > 0 && c->Q >= ROW_BYTES / bytes)
    TSL_FAIL(TSL_ERR_INPUT,
             "a card takes rows of %s, and this table's have %lld cells of %s each "
             "(dp.table.depth): run.device: cpu",
             tsl_bytes_text((double)ROW_BYTES, most), (long long)c->Q,
             tsl_bytes_text((double)bytes, cell));
done:
  return err;
}

lang_program dp_recur_program(const char *text) {
  return lang_program{text, dp_engine_names, dp_engine_texts, &dp_purpose};
}

tsl_err dp_recur_prepare_gpu(tsl_problem *problem, const tsl_device *devices, int n) {
  tsl_err err = TSL_OK;
  const dp_params *p = dp_params_of(problem);
  dp_recur *recur = NULL;
  char *text = NULL;
  lang_program program = {};
  if (p->interpret) TSL_FAIL(TSL_ERR_INPUT, NO_INTERPRETER);
  TSL_TRY(dp_recur_open(problem, &recur));
  if (recur->code.P == 0 || recur->code.Q == 0) goto done;
  TSL_TRY(check_rows(&recur->code));
  TSL_TRY(dp_emit(recur->recurrence, DP_TARGET_CUDA, &recur->code, &text));
  program = dp_recur_program(text);
  TSL_TRY(lang_gpu_prepare(problem, &program, devices, n));
done:
  tsl_free(text);
  dp_recur_close(&recur);
  return err;
}

tsl_err dp_recur_card_open(dp_card *card, const tsl_problem *problem, int32_t capability,
                           dp_recur_card **out) {
  tsl_err err = TSL_OK;
  dp_recur *recur = NULL;
  dp_recur_source source = {};
  *out = NULL;
  if (dp_params_of(problem)->interpret) TSL_FAIL(TSL_ERR_INPUT, NO_INTERPRETER);
  TSL_TRY(dp_recur_open(problem, &recur));
  source.recur = recur;
  source.table = dp_field(problem, "table");
  source.best = dp_field(problem, "best");
  source.kept = dp_field(problem, "kept");
  TSL_TRY(
      lang_objects_find(problem, LANG_FIELD_GPU, capability, &source.image, &source.image_bytes));
  if (source.image == NULL && recur->code.P > 0 && recur->code.Q > 0)
    TSL_FAIL(TSL_ERR_INTERNAL,
             "card %s: the recurrence was not compiled for compute capability %d.%d",
             tsl_gpu_card(), (int)capability / 10, (int)capability % 10);
  TSL_TRY(dp_recur_card_make(card, &source, out));
  (*out)->own = recur;
  recur = NULL;
done:
  dp_recur_close(&recur);
  return err;
}
