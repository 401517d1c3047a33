/* Bands of alignments with affine gaps: rows, states and best cells. */
#include "dp_affine_band.cuh"

/* H, then F, of the real columns; what stands right of them reaches no column of the band. */
tsl_err dp_affine_state_get(dp_affine *b, void *state) {
  tsl_err err = TSL_OK;
  const size_t half = (size_t)(4 * b->m);
  TSL_CUDA_TRY(
      cudaMemcpyAsync(state, b->sets[b->now].h.data, half, cudaMemcpyDefault, b->card->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync((char *)state + half, b->sets[b->now].f.data, half,
                               cudaMemcpyDefault, b->card->stream));
done:
  return err;
}

tsl_err dp_affine_state_put(dp_affine *b, int64_t row, const void *state) {
  tsl_err err = TSL_OK;
  const size_t half = (size_t)(4 * b->m);
  TSL_CUDA_TRY(
      cudaMemcpyAsync(b->sets[b->now].h.data, state, half, cudaMemcpyDefault, b->card->stream));
  TSL_CUDA_TRY(cudaMemcpyAsync(b->sets[b->now].f.data, (const char *)state + half, half,
                               cudaMemcpyDefault, b->card->stream));
  b->row = row;
done:
  return err;
}

tsl_err dp_affine_row_get(dp_affine *b, int32_t *h, int32_t *f) {
  tsl_err err = TSL_OK;
  const size_t bytes = (size_t)(4 * b->m);
  TSL_CUDA_TRY(
      cudaMemcpyAsync(h, b->sets[b->now].h.data, bytes, cudaMemcpyDefault, b->card->stream));
  TSL_TRY(tsl_gpu_copy(b->card, f, b->sets[b->now].f.data, bytes));
done:
  return err;
}

static tsl_err flags_get(dp_affine *b, dp_affine_flags *flags) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_copy(b->card, flags, b->flags.data, sizeof *flags));
done:
  return err;
}

tsl_err dp_affine_again(dp_affine *b, int64_t *tiles) {
  tsl_err err = TSL_OK;
  dp_affine_flags flags = {};
  TSL_TRY(flags_get(b, &flags));
  *tiles = flags.again + b->redone;
done:
  return err;
}

tsl_err dp_affine_pruned(dp_affine *b, int64_t *cells) {
  tsl_err err = TSL_OK;
  dp_affine_flags flags = {};
  TSL_TRY(flags_get(b, &flags));
  *cells = (int64_t)flags.rested;
done:
  return err;
}

static tsl_err last_cell(dp_affine *b, dp_best *best) {
  tsl_err err = TSL_OK;
  int32_t h = 0;
  const int32_t *place = b->m > 0 ? (const int32_t *)b->sets[b->now].h.data + b->m - 1
                                  : (const int32_t *)b->own[b->last].edge.data + 2 * b->edge_rows;
  TSL_TRY(tsl_gpu_copy(b->card, &h, place, 4));
  best->score = h;
  best->row = b->row;
  best->column = b->m;
done:
  return err;
}

tsl_err dp_affine_best(dp_affine *b, dp_best *best) {
  tsl_err err = TSL_OK;
  const int64_t grains = dp_affine_grains(b);
  dp_best *list = NULL;
  *best = dp_best{};
  if (!b->local) return last_cell(b, best);
  TSL_TRY(tsl_alloc(grains, sizeof *list, "best cells", (void **)&list));
  TSL_TRY(tsl_gpu_copy(b->card, list, b->sets[b->now].best.data, sizeof *list * (size_t)grains));
  for (int64_t g = 0; g < grains; g++) {
    const dp_best *x = &list[g];
    const bool sooner = x->row < best->row || (x->row == best->row && x->column < best->column);
    if (x->score > best->score || (x->score == best->score && x->score > 0 && sooner)) *best = *x;
  }
done:
  tsl_free(list);
  return err;
}

tsl_err dp_affine_know(dp_affine *b, int64_t score) {
  tsl_err err = TSL_OK;
  const int known = score > b->known ? (int)score : b->known;
  TSL_CUDA_TRY(cudaMemcpyAsync(&((dp_affine_flags *)b->flags.data)->known, &known, sizeof known,
                               cudaMemcpyHostToDevice, b->card->stream));
done:
  return err;
}

tsl_err dp_affine_best_put(dp_affine *b, const dp_best *best) {
  tsl_err err = TSL_OK;
  if (!b->local) return TSL_OK;
  TSL_CUDA_TRY(cudaMemcpyAsync(b->sets[b->now].best.data, best, sizeof *best,
                               cudaMemcpyHostToDevice, b->card->stream));
  TSL_TRY(dp_affine_know(b, best->score));
  TSL_TRY(dp_card_wait(b->card));
done:
  return err;
}
