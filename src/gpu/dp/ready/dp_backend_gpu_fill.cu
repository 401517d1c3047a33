/* What a stage of strips costs a card besides its cells, for the number of stages; how many strips
 * fill it. */
#include "dp_affine_args.cuh"
#include "dp_backend_gpu.cuh"
#include "dp_bits.cuh"
#include "dp_grid.cuh"
#include "dp_recur_problem.h"

enum {
  FULL = 6,     /* warps that keep a multiprocessor busy; more make each of them slower */
  RESIDENT = 16 /* warps of each of these engines that a multiprocessor has room for, or more */
};

/* Strips of an engine. */
typedef struct strips {
  int64_t columns; /* of a strip */
  int64_t delay;   /* rows that a strip begins after the one before: lanes behind lane 0, a chunk */
} strips;

static strips of_alignment(const dp_params *p, const tsl_device *device, int64_t columns) {
  const bool narrow = device->capability >= 90;
  const int64_t lanes = (narrow ? 2 : 1) * DP_WARP;
  const int width = dp_affine_wide(device->processors, p->scores.alphabet, columns, lanes);
  return strips{lanes * width, (narrow ? DP_AFFINE_LAG : 1) * DP_WARP + DP_AFFINE_CHUNK};
}

static strips of_engine(const dp_params *p, const tsl_device *device, int64_t columns) {
  dp_card card = {};
  card.processors = device->processors;
  if (dp_ready_of(p)->affine && p->mode != DP_TABLE) return of_alignment(p, device, columns);
  if (dp_edge_is_bits(p) && p->mode != DP_TABLE)
    return strips{(int64_t)32 * DP_WARP * dp_bits_words(columns),
                  DP_BITS_ROWS * (DP_WARP + DP_BITS_BLOCKS)};
  return strips{(int64_t)DP_WARP * dp_grid_width(&card, columns), DP_WARP + DP_ENGINE_CHUNK};
}

/* Warps that a card has at once. */
static int64_t room_of(const tsl_device *device) {
  const int most = dp_card_most_warps() > 0 ? dp_card_most_warps() : RESIDENT;
  return (int64_t)most * device->processors;
}

/* Has it inner indices? Its tiles go by steps of all rows and columns (dp_recur_layers.cu). */
static bool is_deep(const tsl_problem *problem) {
  const bool recurrence = dp_params_of(problem)->problem == DP_RECURRENCE;
  const dp_equation *equation = (const dp_equation *)problem->fields[DP_A].data;
  return recurrence && equation != NULL && equation->names.tables[0].n_inner > 0;
}

/*
 * Strips begin `delay` rows one after another. While few are at work each goes at the pace of a
 * warp alone; from FULL on a multiprocessor their pace falls as their number grows. So in rows of
 * the pace of all N the last of them begins after delay (N + full^2 / N) / 2, or after delay N
 * where N do not fill the card; what does not fit waits for strips to end, and goes on without a
 * gap. With a depth a stage has a step for each of its rows and one for each column.
 */
double dp_gpu_pipeline_fill(const tsl_problem *problem, const tsl_device *device, int n_ranks,
                            bool *overlap) {
  const dp_params *p = dp_params_of(problem);
  dp_code code = {};
  *overlap = dp_gpu_bands_overlap(p);
  if (p->engine != DP_WAVEFRONT) return 0;
  if (p->problem == DP_RECURRENCE) dp_recur_frame(p, &code);
  const int64_t rows = p->problem == DP_RECURRENCE ? code.P : p->n;
  const int64_t all = p->problem == DP_RECURRENCE ? code.Q : p->m;
  if (rows < 1 || all < 1) return 0;
  const int64_t columns = tsl_ceil_div(all, n_ranks > 0 ? n_ranks : 1);
  if (is_deep(problem)) return (double)columns / (double)rows;
  const strips s = of_engine(p, device, columns);
  const double n = (double)tsl_ceil_div(columns, s.columns);
  const double room = (double)room_of(device), full = (double)FULL * device->processors;
  const double at_once = n < room ? n : room;
  const double late = at_once > full ? (at_once + full * full / at_once) / 2 : at_once;
  return (double)s.delay * late / ((double)rows * n / at_once);
}

int64_t dp_gpu_saturating_lanes(const tsl_problem *problem, const tsl_device *device,
                                const tsl_unit *lanes, int64_t n) {
  const dp_params *p = dp_params_of(problem);
  const int64_t all = lanes[n - 1].hi[1] - lanes[0].lo[1];
  int64_t k = 1;
  if (p->engine != DP_WAVEFRONT || is_deep(problem)) return n;
  const int64_t wanted = room_of(device) * of_engine(p, device, all).columns;
  while (k < n && lanes[k].hi[1] - lanes[0].lo[1] <= wanted) k++; /* no strip waits for another */
  return k;
}
