/* Groups cut into pieces; batches of pieces that fit the room. */
#include "xc_gpu.cuh"

#include <algorithm>
#include <string.h>

/* A batch holds some GiB of a large card, a smaller part of a small one. */
enum { ROOM_PART = 8 };
/* Bytes of a piece and its pointers. */
static const int64_t TASK = (int64_t)(sizeof(xc_piece) + XC_PIECE_POINTERS * sizeof(void *));
static const int64_t ROOM_MOST = INT64_C(4) << 30;

/* ------------------------------------------------------------------- tables */

/* Where places and slices of the groups begin, and the rows of the lists' shells. */
static tsl_err make_tables(xc_gpu *w, int32_t **places, int32_t **rows_of, int64_t *n_places) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const int64_t n_lists = w->problem->fields[XC_IN_LISTS].shape[0];
  int64_t count = 0;
  for (int64_t g = 0; g < p->n_groups; g++) count += w->view.groups[g].functions;
  *n_places = count;
  TSL_TRY(tsl_alloc(count, sizeof **places, "places of functions", (void **)places));
  TSL_TRY(tsl_alloc(n_lists, sizeof **rows_of, "rows of shells", (void **)rows_of));
  count = 0;
  for (int64_t g = 0; g < p->n_groups; g++) {
    const xc_group *group = &w->view.groups[g];
    w->place[g] = count, w->slice[g] = w->n_slices;
    w->n_slices += tsl_ceil_div(group->n, XC_SLICE);
    w->n_pieces += tsl_ceil_div(group->n, XC_PIECE);
    for (int64_t s = 0; s < group->n_shells; s++) {
      const xc_shell *shell = &w->view.orbital.shells[w->view.lists[group->shells + s]];
      (*rows_of)[group->shells + s] = (int32_t)(count - w->place[g]);
      for (int i = 0; i < xc_shell_size(shell); i++)
        (*places)[count++] = (int32_t)(shell->first + i);
    }
  }
done:
  return err;
}

static tsl_err xc_gpu_batch_upload(xc_gpu *w, tsl_gpu_buffer *buffer, const void *from,
                                   int64_t bytes, const char *what) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_gpu_reserve(&w->memory, buffer, bytes > 0 ? bytes : 1, what));
  if (bytes > 0)
    TSL_CUDA_TRY(
        cudaMemcpyAsync(buffer->data, from, (size_t)bytes, cudaMemcpyHostToDevice, w->stream));
done:
  return err;
}

static tsl_err upload_tables(xc_gpu *w) {
  tsl_err err = TSL_OK;
  int32_t *places = NULL, *rows_of = NULL;
  int64_t n_places = 0;
  const xc_params *p = w->p;
  const int64_t n_lists = w->problem->fields[XC_IN_LISTS].shape[0];
  TSL_TRY(make_tables(w, &places, &rows_of, &n_places));
  TSL_TRY(xc_gpu_batch_upload(w, &w->places, places, n_places * 4, "places of functions"));
  TSL_TRY(xc_gpu_batch_upload(w, &w->rows_of, rows_of, n_lists * 4, "rows of shells"));
  TSL_TRY(xc_gpu_batch_upload(w, &w->lists, w->view.lists, n_lists * 4, "lists of shells"));
  TSL_TRY(xc_gpu_batch_upload(w, &w->shells, w->view.orbital.shells,
                              p->n_shells * (int64_t)sizeof(xc_shell), "shells"));
  TSL_TRY(xc_gpu_batch_upload(w, &w->points, w->view.point[0], 4 * p->n_points * 8, "points"));
  TSL_CUDA_TRY(cudaStreamSynchronize(w->stream));
done:
  tsl_free(places);
  tsl_free(rows_of);
  return err;
}

/* Of the largest piece, with doubles and its functions. */
static double piece_bytes(const xc_gpu *w) {
  enum { ROUNDED = 4096 }; /* parts of a piece are rounded up */
  double most = 0;
  for (int64_t g = 0; g < w->p->n_groups; g++) {
    const xc_group *group = &w->view.groups[g];
    const int64_t n = std::min<int64_t>(group->n, XC_PIECE);
    const double ld = (double)xc_round_up(n, XC_LANES);
    const double pad = (double)xc_round_up(group->functions, XC_PAD);
    const int64_t x = xc_x_blocks(w, w->p->gradient ? XC_TASK_GRADIENT : XC_TASK_ENERGY);
    const double blocks = (double)(xc_blocks(w) + x + (w->p->gradient ? xc_gradient_blocks(w) : 0));
    most = std::max(most, 8 * (blocks * pad * ld + pad * pad + XC_ROWS * ld));
  }
  return most + ROUNDED;
}

double xc_batch_least(const xc_gpu *w) {
  const xc_params *p = w->p;
  const double n_lists = (double)w->problem->fields[XC_IN_LISTS].shape[0];
  double n_places = 0, n_slices = 1;
  for (int64_t g = 0; g < p->n_groups; g++) {
    n_places += (double)w->view.groups[g].functions;
    n_slices += (double)tsl_ceil_div(w->view.groups[g].n, XC_SLICE);
  }
  return 4 * n_places + 8 * n_lists + 8 * XC_N_INTEGRALS * n_slices + XC_MAX_PIECES * (double)TASK +
         piece_bytes(w) + (p->gradient ? xc_gradient_bytes(p) : 0);
}

tsl_err xc_batch_open(xc_gpu *w) {
  tsl_err err = TSL_OK;
  const xc_params *p = w->p;
  const int64_t matrix = p->n_spin * p->n * p->n * 8;
  if (p->n > 32768)
    TSL_FAIL(TSL_ERR_INPUT, "%lld functions; cards take at most 32768", (long long)p->n);
  TSL_TRY(tsl_alloc(p->n_groups, 8, "places of groups", (void **)&w->place));
  TSL_TRY(tsl_alloc(p->n_groups, 8, "slices of groups", (void **)&w->slice));
  TSL_TRY(upload_tables(w));
  TSL_TRY(xc_product_open(w));
  TSL_TRY(tsl_gpu_timer_create(&w->step_timer));
  w->small = 512.0 / (double)(w->n_pieces > 0 ? w->n_pieces : 1);
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->densities, matrix, "densities"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->sums, matrix, "exchange-correlation matrix"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->matrix, matrix, "exchange-correlation matrix"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->partials, (w->n_slices + 1) * XC_N_INTEGRALS * 8,
                          "energies of slices"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->flag, 8, "flag"));
  TSL_TRY(tsl_gpu_reserve(&w->memory, &w->tasks, XC_MAX_PIECES * TASK, "pieces of a batch"));
  TSL_TRY(tsl_alloc(w->tasks.bytes, 1, "pieces of a batch", (void **)&w->staged));
  TSL_TRY(tsl_alloc((w->n_slices + 1) * XC_N_INTEGRALS, 8, "energies of slices",
                    (void **)&w->host_partials));
  w->room = std::min(
      {w->memory.limit / ROOM_PART, ROOM_MOST, (int64_t)((double)w->n_pieces * piece_bytes(w))});
done:
  return err;
}

void xc_batch_close(xc_gpu *w) {
  tsl_gpu_buffer *const all[] = {&w->shells,   &w->points,    &w->lists, &w->rows_of,
                                 &w->places,   &w->densities, &w->sums,  &w->matrix,
                                 &w->partials, &w->flag,      &w->batch, &w->tasks};
  for (tsl_gpu_buffer *buffer : all) tsl_gpu_release(&w->memory, buffer);
  void *const host[] = {w->place, w->slice, w->staged, w->host_partials, w->pieces, w->shapes};
  for (void *memory : host) tsl_free(memory);
  if (w->host_points != NULL) (void)cudaFreeHost(w->host_points);
  tsl_gpu_timer_destroy(&w->step_timer);
}

/* ------------------------------------------------------------------- pieces */

/* The pieces of all units, in w->pieces, without memory. */
static tsl_err make_pieces(xc_gpu *w, const tsl_unit *units, int64_t n, int64_t *count) {
  tsl_err err = TSL_OK;
  int64_t most = 0;
  *count = 0;
  for (int64_t u = 0; u < n; u++) most += tsl_ceil_div(w->view.groups[units[u].lo[0]].n, XC_PIECE);
  if (most > w->room_pieces) {
    tsl_free(w->pieces);
    w->pieces = NULL, w->room_pieces = 0;
    TSL_TRY(tsl_alloc(most, sizeof *w->pieces, "pieces", (void **)&w->pieces));
    w->room_pieces = most;
  }
  for (int64_t u = 0; u < n; u++) {
    const int64_t g = units[u].lo[0];
    const xc_group *group = &w->view.groups[g];
    for (int64_t lo = 0; lo < group->n && group->functions > 0; lo += XC_PIECE) {
      xc_piece *k = &w->pieces[(*count)++];
      memset(k, 0, sizeof *k);
      k->first = group->first + lo;
      k->slice = w->slice[g] + lo / XC_SLICE;
      k->list = group->shells, k->place = w->place[g];
      k->n = (int32_t)std::min<int64_t>(group->n - lo, XC_PIECE);
      k->ld = (int32_t)xc_round_up(k->n, XC_LANES);
      k->b = (int32_t)group->functions, k->pad = (int32_t)xc_round_up(k->b, XC_PAD);
      k->n_shells = group->n_shells, k->group = (int32_t)g;
    }
  }
done:
  return err;
}

/* Bytes of a piece in the batch's memory; each part begins at a multiple of 256 bytes. */
typedef struct need {
  int64_t phi, x, square, slopes, points;
} need;

static int64_t aligned(int64_t bytes) {
  return xc_round_up(bytes, 256);
}

static need need_of(const xc_gpu *w, const xc_piece *k) {
  const int64_t real = xc_real_bytes(w), block = (int64_t)k->pad * k->ld * real;
  need all;
  all.phi = k->phi == NULL ? aligned(xc_blocks(w) * block) : 0;
  all.x = aligned(xc_x_blocks(w, w->task) * block);
  all.square = aligned((int64_t)k->pad * k->pad * real);
  all.slopes = w->task == XC_TASK_GRADIENT ? xc_gradient_blocks(w) * aligned(block) : 0;
  all.points = aligned(XC_ROWS * k->ld * 8);
  return all;
}

/* Memory of the cache for the pieces of a group that begins at k. */
static void find_kept(xc_gpu *w, xc_piece *k) {
  void *block = NULL;
  bool ready = false;
  if (k->first == w->view.groups[k->group].first) {
    xc_cache_find(w, k->group, &block, &ready);
  } else if (k[-1].group == k->group && k[-1].phi != NULL) {
    block = (char *)k[-1].phi + xc_blocks(w) * k[-1].pad * k[-1].ld * xc_real_bytes(w);
    ready = k[-1].ready != 0;
  }
  k->phi = block, k->ready = ready;
}

/* How many pieces from `at` on go together. */
static int64_t batch_size(const xc_gpu *w, int64_t at, int64_t count, int64_t *bytes) {
  int64_t n = 0;
  *bytes = 0;
  while (at + n < count && n < XC_MAX_PIECES) {
    const need k = need_of(w, &w->pieces[at + n]);
    const int64_t all = k.phi + k.x + k.square + k.slopes + k.points;
    if (n > 0 && *bytes + all > w->room) break;
    *bytes += all, n++;
  }
  return n;
}

/* The largest first, so that small ones fill the end. */
static bool by_shape(const xc_piece &a, const xc_piece &b) {
  if (a.pad != b.pad) return a.pad > b.pad;
  if (a.ld != b.ld) return a.ld > b.ld;
  return a.first < b.first;
}

/* Deal out the batch's memory, the arrays over points last. */
static void place_pieces(xc_gpu *w, xc_piece *pieces, xc_batch *batch) {
  char *at = (char *)w->batch.data;
  batch->most_ld = batch->most_pad = batch->most_shells = 0;
  batch->stride = 0;
  for (int64_t i = 0; i < batch->n; i++) {
    xc_piece *k = &pieces[i];
    const need size = need_of(w, k);
    if (k->phi == NULL) k->phi = at;
    k->x = at + size.phi, k->square = at + size.phi + size.x;
    k->psi = at + size.phi + size.x + size.square, k->z = (char *)k->psi + size.slopes / 2;
    at += size.phi + size.x + size.square + size.slopes;
    k->points = batch->stride;
    batch->stride += k->ld;
    batch->most_ld = std::max(batch->most_ld, (int)k->ld);
    batch->most_pad = std::max(batch->most_pad, (int)k->pad);
    batch->most_shells = std::max(batch->most_shells, (int)k->n_shells);
  }
  batch->arrays = (double *)at;
}

/* Pointers of all pieces behind the pieces themselves. */
static tsl_err upload_batch(xc_gpu *w, xc_batch *batch) {
  tsl_err err = TSL_OK;
  const size_t n = (size_t)batch->n, bytes = n * sizeof(xc_piece);
  void **to = (void **)(w->staged + bytes);
  memcpy(w->staged, batch->host, bytes);
  for (size_t i = 0; i < n; i++) {
    const xc_piece *k = &batch->host[i];
    void *const all[] = {k->square, k->psi, k->z};
    for (int b = 0; b < xc_blocks(w); b++) to[b * n + i] = xc_block_of(w, k, b);
    for (int b = 0; b < XC_BLOCKS; b++) to[(XC_BLOCKS + b) * n + i] = xc_x_of(w, k, b);
    for (size_t a = 2 * XC_BLOCKS; a < XC_PIECE_POINTERS; a++)
      to[a * n + i] = all[a - 2 * XC_BLOCKS];
  }
  TSL_CUDA_TRY(cudaMemcpyAsync(w->tasks.data, w->staged,
                               bytes + XC_PIECE_POINTERS * n * sizeof(void *),
                               cudaMemcpyHostToDevice, w->stream));
  batch->card = (const xc_piece *)w->tasks.data;
done:
  return err;
}

/* ------------------------------------------------------------------ batches */

/* A step of a batch, timed where somebody asked for it. */
#define STEP(step, call)        \
  do {                          \
    TSL_TRY(step_begin(w));     \
    TSL_TRY(call);              \
    TSL_TRY(step_end(w, step)); \
  } while (0)

static tsl_err step_begin(xc_gpu *w) {
  return w->steps == NULL ? TSL_OK : tsl_gpu_timer_start(&w->step_timer, w->stream);
}

static tsl_err step_end(xc_gpu *w, xc_step step) {
  tsl_err err = TSL_OK;
  double seconds = 0;
  if (w->steps == NULL) goto done;
  TSL_TRY(tsl_gpu_timer_stop(&w->step_timer, w->stream, &seconds));
  w->steps[step] += seconds;
done:
  return err;
}

/* Blocks of phi that have products. */
static int product_blocks(const xc_gpu *w, const xc_batch *batch) {
  return w->p->functional.tau && !batch->nonlocal ? XC_BLOCKS : 1;
}

/* X of a spin and the density that comes of it, that of the values last. */
static tsl_err compute_density(xc_gpu *w, const xc_batch *batch, int spin) {
  tsl_err err = TSL_OK;
  STEP(XC_STEP_GATHER, xc_gather_run(w, batch, spin));
  for (int block = 1; block < product_blocks(w, batch); block++) {
    STEP(XC_STEP_X, xc_product_run(w, batch, XC_PRODUCT_X, block));
    STEP(XC_STEP_DENSITY, xc_tau_run(w, batch, spin, block));
  }
  STEP(XC_STEP_X, xc_product_run(w, batch, XC_PRODUCT_X, 0));
  STEP(XC_STEP_DENSITY, xc_density_run(w, batch, spin));
done:
  return err;
}

/* X of a spin again. */
static tsl_err compute_x(xc_gpu *w, const xc_batch *batch, int spin) {
  tsl_err err = TSL_OK;
  STEP(XC_STEP_GATHER, xc_gather_run(w, batch, spin));
  for (int block = 0; block < product_blocks(w, batch); block++)
    STEP(XC_STEP_X, xc_product_run(w, batch, XC_PRODUCT_X, block));
done:
  return err;
}

/* After the functional. There is room for the X of one spin. */
static tsl_err compute_gradient(xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  for (int s = 0; s < w->p->n_spin; s++) {
    if (w->p->n_spin == 2 || batch->nonlocal) TSL_TRY(compute_x(w, batch, s));
    if (w->p->functional.gga) {
      STEP(XC_STEP_POTENTIAL, xc_potential_run(w, batch, s, 0));
      STEP(XC_STEP_M, xc_product_run(w, batch, XC_PRODUCT_Z, 0));
    }
    STEP(XC_STEP_SCATTER, xc_slopes_run(w, batch, s));
  }
  STEP(XC_STEP_WEIGHTS, xc_weights_run(w, batch));
done:
  return err;
}

static tsl_err xc_gpu_batch_compute(xc_gpu *w, const xc_batch *batch) {
  tsl_err err = TSL_OK;
  const bool met = batch->nonlocal && w->phase % 2 != 0; /* densities are known */
  STEP(XC_STEP_FUNCTIONS, xc_functions_run(w, batch));
  for (int s = 0; s < w->p->n_spin && !met; s++) TSL_TRY(compute_density(w, batch, s));
  if (batch->nonlocal && !met) return xc_nonlocal_densities_run(w, batch);
  STEP(XC_STEP_FUNCTIONAL, met ? xc_nonlocal_run(w, batch) : xc_functional_run(w, batch));
  if (w->task == XC_TASK_GRADIENT) return compute_gradient(w, batch);
  for (int s = 0; s < w->p->n_spin; s++) {
    for (int block = 0; block < product_blocks(w, batch); block++) {
      STEP(XC_STEP_POTENTIAL, xc_potential_run(w, batch, s, block));
      STEP(XC_STEP_M, xc_product_run(w, batch, XC_PRODUCT_M, block));
    }
    STEP(XC_STEP_SCATTER, xc_scatter_run(w, batch, s));
  }
done:
  return err;
}

/* Pieces [at, at + n) of the run. */
static tsl_err run_batch(xc_gpu *w, int64_t at, int64_t n, int64_t bytes) {
  tsl_err err = TSL_OK;
  xc_piece *pieces = w->pieces + at;
  xc_batch batch = {};
  const int64_t left = w->memory.limit - (w->memory.used - w->batch.bytes);
  if (bytes > w->batch.bytes)
    TSL_TRY(tsl_gpu_reserve(&w->memory, &w->batch, std::max(bytes, std::min(w->room, left)),
                            "a batch of points"));
  std::sort(pieces, pieces + n, by_shape);
  batch.host = pieces, batch.n = n;
  batch.nonlocal = pieces[0].group >= xc_local_groups(w->p);
  place_pieces(w, pieces, &batch);
  TSL_TRY(upload_batch(w, &batch));
  TSL_TRY(xc_gpu_batch_compute(w, &batch));
done:
  return err;
}

/* After a batch found no memory: the cache gives its own back, the batch becomes smaller. */
static tsl_err xc_gpu_batch_make_room(xc_gpu *w, tsl_err failed, int64_t n, int64_t bytes,
                                      bool *again) {
  tsl_err err = TSL_OK;
  *again = false;
  if (failed != TSL_ERR_DEVICE_MEMORY || (n == 1 && w->cache.used == 0)) return failed;
  TSL_TRY(xc_cache_drop(w));
  w->cache.most = 0;
  if (w->room > bytes / 2) w->room = bytes / 2;
  *again = true;
done:
  return err;
}

tsl_err xc_batch_run(xc_gpu *w, const tsl_unit *units, int64_t n_units) {
  tsl_err err = TSL_OK;
  int64_t count = 0, bytes = 0;
  bool again = false;
  TSL_TRY(make_pieces(w, units, n_units, &count));
  w->cache.batch++;
  for (int64_t k = 0; k < count; k++) find_kept(w, &w->pieces[k]);
  for (int64_t at = 0, n; at < count; at += again ? 0 : n) {
    n = batch_size(w, at, count, &bytes);
    err = run_batch(w, at, n, bytes);
    again = false;
    if (err != TSL_OK) TSL_TRY(xc_gpu_batch_make_room(w, err, n, bytes, &again));
    for (int64_t k = at; again && k < count; k++) w->pieces[k].phi = NULL, w->pieces[k].ready = 0;
  }
done:
  return err;
}

void xc_batch_seconds(const xc_gpu *w, const tsl_unit *units, int64_t n, double seconds,
                      tsl_part *parts) {
  static const double FLOPS = 4e13, BYTES = 3e12; /* per second; their ratio is what counts */
  const double products = w->p->functional.tau ? 16 : 4;
  double sum = 0;
  for (int64_t u = 0; u < n; u++) {
    const xc_group_features f = xc_group_features_of(&w->view.groups[units[u].lo[0]]);
    parts[u].seconds =
        w->p->n_spin * (products * f.nbb / FLOPS + 8 * (14 * f.nb + 4 * f.bb) / BYTES);
    sum += parts[u].seconds;
  }
  for (int64_t u = 0; u < n; u++)
    parts[u].seconds = sum > 0 ? parts[u].seconds / sum * seconds : seconds / (double)n;
}
