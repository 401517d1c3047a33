/* Batches of forces in two halves, for test_tri_gpu.cu: any order of starts and finishes gives the
 * bytes of runs one after another, with enough memory for two batches, for one, and for a part. */
#pragma once

#include "test_tri_gpu_check.cuh"

#include <time.h>

static double wall_seconds(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void expect(const tri_case *c, bool right, const char *what, int64_t place) {
  n_checks++;
  if (!right) report(c, 0, what, place, 0, 0);
}

/* Units of a batch and where their results go. */
struct halves_batch {
  std::vector<tsl_unit> units;
  std::vector<tsl_part> parts;
  int64_t rows = 0;
  void *memory[2] = {NULL, NULL};

  /* Rows [lo, hi) in so many units; gap: one row in the middle is left out. */
  tsl_err open(const tri_params *p, int64_t lo, int64_t hi, int n_units, bool gap) {
    tsl_err err = TSL_OK;
    int64_t at[2] = {0, 0};
    const int64_t each[2] = {8 * p->d_read, 8};
    for (int u = 0; u < n_units; u++) {
      tsl_unit unit = {};
      unit.lo[0] = lo + (hi - lo) * u / n_units + (gap && u == n_units / 2 ? 1 : 0);
      unit.hi[0] = lo + (hi - lo) * (u + 1) / n_units;
      unit.count = (double)(unit.hi[0] - unit.lo[0]) * (double)p->n;
      rows += unit.hi[0] - unit.lo[0];
      units.push_back(unit);
    }
    parts.assign(units.size(), tsl_part{});
    for (int s = 0; s < 2; s++) TSL_TRY(backend->host_alloc(rows * each[s], &memory[s]));
    for (size_t u = 0; u < units.size(); u++)
      for (int s = 0; s < 2; s++) {
        parts[u].slab[TRI_OUT + s] = (char *)memory[s] + at[s];
        at[s] += (units[u].hi[0] - units[u].lo[0]) * each[s];
      }
  done:
    return err;
  }

  void spoil(const tri_params *p) {
    memset(memory[0], 0xff, (size_t)(rows * 8 * p->d_read));
    memset(memory[1], 0xff, (size_t)(rows * 8));
    for (tsl_part &part : parts) part.seconds = -1;
  }

  std::vector<char> bytes(const tri_params *p) const {
    const char *acc = (const char *)memory[0], *phi = (const char *)memory[1];
    std::vector<char> all(acc, acc + rows * 8 * p->d_read);
    all.insert(all.end(), phi, phi + rows * 8);
    return all;
  }

  double seconds(void) const {
    double sum = 0;
    for (const tsl_part &part : parts) sum += part.seconds;
    return sum;
  }

  bool has_times(void) const {
    for (const tsl_part &part : parts)
      if (!(part.seconds >= 0)) return false;
    return true;
  }

  ~halves_batch() {
    for (void *m : memory) backend->host_free(m);
  }
};

/* The third is twice as large as the others. */
static tsl_err open_batches(const tri_params *p, std::vector<halves_batch> &batches) {
  tsl_err err = TSL_OK;
  const int n = (int)batches.size();
  for (int b = 0; b < n; b++)
    TSL_TRY(batches[(size_t)b].open(p, p->n * (b + (b > 2)) / (n + 1),
                                    p->n * (b + 1 + (b >= 2)) / (n + 1), 1 + b % 3, b % 4 == 1));
done:
  return err;
}

static tsl_err start(tsl_worker *worker, halves_batch &b) {
  return backend->start(worker, b.units.data(), (int64_t)b.units.size(), b.parts.data());
}

static tsl_err run_all(tsl_worker *worker, const tri_params *p, std::vector<halves_batch> &batches,
                       std::vector<std::vector<char>> &out, double *seconds) {
  tsl_err err = TSL_OK;
  out.clear();
  *seconds = 0;
  for (halves_batch &b : batches) {
    b.spoil(p);
    TSL_TRY(backend->run(worker, b.units.data(), (int64_t)b.units.size(), b.parts.data()));
    out.push_back(b.bytes(p));
    *seconds += b.seconds();
  }
done:
  return err;
}

static void compare(const tri_case *c, const tri_params *p,
                    const std::vector<halves_batch> &batches,
                    const std::vector<std::vector<char>> &wanted) {
  for (size_t b = 0; b < batches.size(); b++) {
    expect(c, batches[b].bytes(p) == wanted[b], "bits of a batch that overlaps", (int64_t)b);
    expect(c, batches[b].has_times(), "seconds of a batch that overlaps", (int64_t)b);
  }
}

/* As the runtime does: always two under way, where a batch that has no room waits for the other. */
static tsl_err overlap_all(tsl_worker *worker, const tri_params *p,
                           std::vector<halves_batch> &batches, int *refused, double *seconds) {
  tsl_err err = TSL_OK;
  size_t finished = 0;
  *refused = 0;
  *seconds = 0;
  for (halves_batch &b : batches) b.spoil(p);
  for (size_t next = 0; finished < batches.size();) {
    const bool room = next - finished < TSL_MOST_STARTED && next < batches.size();
    err = room ? start(worker, batches[next]) : TSL_OK;
    if (room && err == TSL_OK && ++next < batches.size() && next - finished < TSL_MOST_STARTED)
      continue;
    if (err == TSL_ERR_DEVICE_MEMORY && next > finished)
      ++*refused;
    else
      TSL_TRY(err);
    while (!backend->ended(worker)) continue;
    TSL_TRY(backend->finish(worker));
    *seconds += batches[finished++].seconds();
  }
done:
  return err;
}

/* What the contract says of calls out of turn. */
static tsl_err check_turns(const tri_case *c, tsl_worker *worker,
                           std::vector<halves_batch> &batches) {
  tsl_err err = TSL_OK;
  expect(c, backend->finish(worker) == TSL_ERR_INTERNAL, "finish of nothing", 0);
  TSL_TRY(start(worker, batches[0]));
  TSL_TRY(start(worker, batches[1]));
  expect(c, start(worker, batches[2]) == TSL_ERR_INTERNAL, "a third start", 0);
  TSL_TRY(backend->finish(worker));
  TSL_TRY(backend->finish(worker));
  expect(c, backend->finish(worker) == TSL_ERR_INTERNAL, "finish of nothing", 1);
done:
  return err;
}

/* Two started and one finished when the worker is closed, as after an error elsewhere. */
static tsl_err check_close(tsl_problem *problem, std::vector<halves_batch> &batches) {
  tsl_err err = TSL_OK;
  tsl_worker *worker = NULL;
  TSL_TRY(backend->open(problem, &device, &worker));
  TSL_TRY(backend->begin(worker, 0));
  TSL_TRY(start(worker, batches[0]));
  TSL_TRY(start(worker, batches[1]));
  TSL_TRY(backend->finish(worker));
done:
  backend->close(&worker);
  return err;
}

/* Device memory of the largest batch: sums by segments of 4096 points, and results. */
static int64_t batch_bytes(const tri_params *p, const std::vector<halves_batch> &batches) {
  const int64_t segments = (p->n + 4095) / 4096;
  int64_t rows = 0;
  for (const halves_batch &b : batches) rows = b.rows > rows ? b.rows : rows;
  return rows * (segments * 4 * 8 + 8 * p->d_read + 8);
}

/* Memory for so many of the largest batch, beside the points. */
static tsl_err check_limit(const tri_case *c, tsl_problem *problem, double room,
                           std::vector<halves_batch> &batches,
                           const std::vector<std::vector<char>> &wanted) {
  tsl_err err = TSL_OK;
  const tri_params *p = tri_params_of(problem);
  tsl_device small = device;
  tsl_worker *worker = NULL;
  double seconds = 0;
  int refused = 0;
  small.memory_limit = p->n_pad * (p->d + 1) * (int64_t)tsl_type_bytes((tsl_type)p->type) +
                       (int64_t)(room * (double)batch_bytes(p, batches));
  TSL_TRY(backend->open(problem, &small, &worker));
  TSL_TRY(backend->begin(worker, 0));
  TSL_TRY(overlap_all(worker, p, batches, &refused, &seconds));
  compare(c, p, batches, wanted);
  expect(c, (refused > 0) == (room < 2), "batches refused beside another", refused);
done:
  backend->close(&worker);
  return err;
}

template <class R> static tsl_err check_halves(int64_t n, int n_batches, bool equal) {
  tsl_err err = TSL_OK;
  const tri_case c = {TRI_GRAVITY,  TRI_FORCES, sizeof(R) == 4 ? TSL_F32 : TSL_F64, n, 3,
                      TRI_MAP_AUTO, 16};
  tri_problem_data<R> data(c);
  std::vector<halves_batch> batches((size_t)n_batches);
  std::vector<std::vector<char>> wanted;
  tsl_worker *worker = NULL;
  double alone = 0, together = 0, wall = 0;
  int refused = 0;
  data.gravity(equal, 0.01);
  TSL_TRY(open_batches(&data.p, batches));
  TSL_TRY(backend->open(&data.problem, &device, &worker));
  expect(&c, backend->overlaps(worker), "overlaps", 0);
  TSL_TRY(backend->begin(worker, 0));
  for (int turn = 0; turn < 2; turn++) { /* the second finds buffers and a warm card */
    TSL_TRY(run_all(worker, &data.p, batches, wanted, &alone));
    wall = wall_seconds();
    TSL_TRY(overlap_all(worker, &data.p, batches, &refused, &together));
    wall = wall_seconds() - wall;
    compare(&c, &data.p, batches, wanted);
    expect(&c, refused == 0, "batches refused", refused);
    expect(&c, together > 0 && together <= wall, "seconds in sum", turn);
  }
  printf("%lld points, %d batches: %.6f s one after another, %.6f s overlapping\n", (long long)n,
         n_batches, alone, together);
  TSL_TRY(check_turns(&c, worker, batches));
  TSL_TRY(check_close(&data.problem, batches));
  for (double room : {2.1, 1.3, 1.05, 0.6, 0.2})
    TSL_TRY(check_limit(&c, &data.problem, room, batches, wanted));
done:
  backend->close(&worker);
  return err;
}

/* The other outputs are run. */
template <class R> static tsl_err check_declines(void) {
  tsl_err err = TSL_OK;
  const tri_case c = {TRI_EUCLIDEAN, TRI_HISTOGRAM, TSL_F32, 100, 3, TRI_MAP_AUTO, 16};
  tri_problem_data<R> data(c);
  tsl_worker *worker = NULL;
  TSL_TRY(backend->open(&data.problem, &device, &worker));
  expect(&c, !backend->overlaps(worker), "overlaps", 0);
done:
  backend->close(&worker);
  return err;
}

static tsl_err test_halves(bool small) {
  tsl_err err = TSL_OK;
  TSL_TRY(check_declines<float>());
  TSL_TRY(check_halves<float>(5000, 5, true));
  TSL_TRY(check_halves<double>(5001, 4, false));
  if (small) return TSL_OK;
  TSL_TRY(check_halves<float>(20000, 9, false));
  TSL_TRY(check_halves<double>(20000, 5, true));
  TSL_TRY(check_halves<float>(300000, 12, true)); /* long enough for a look at the times */
done:
  return err;
}
