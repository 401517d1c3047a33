/* Frames of a trajectory: a card and a socket give the same counts. Included by test_tri_gpu.cu. */
#pragma once

#include "test_tri_gpu_check.cuh"

#include "tri_frames.h"

#include <string>
#include <unistd.h>

/* A cell and where its atoms are: spread 1 fills it. */
typedef struct frames_case {
  const char *name;
  double cell[9], spread;
  const char *periodic;
  int64_t n;
} frames_case;

static const frames_case frames_cases[] = {
    {"orthorhombic", {30, 0, 0, 0, 31, 0, 0, 0, 33}, 1, "T T T", 3000},
    {"triclinic", {30, 0, 0, 9, 31, 0, -8, 11, 33}, 2.5, "T T T", 3000},
    {"one spot", {30, 0, 0, 0, 31, 0, 0, 0, 33}, 0.01, "T T T", 2000},
    {"slab", {30, 0, 0, 0, 31, 0, 0, 0, 33}, 1, "T T F", 1500},
    {"thin", {24.5, 0, 0, 0, 90, 0, 0, 0, 24.5}, 1, "T T T", 700},
    {"two atoms", {30, 0, 0, 0, 31, 0, 0, 0, 33}, 0.2, "T T T", 2}};

enum { TEST_FRAMES = 5 };

/* An extended XYZ file; the caller removes it. */
static std::string frames_file(const frames_case &c) {
  std::string path = "/tmp/test_tri_gpu_" + std::to_string(getpid()) + ".xyz";
  FILE *file = fopen(path.c_str(), "w");
  if (file == NULL) return path;
  for (int k = 0; k < TEST_FRAMES; k++) {
    fprintf(file, "%lld\nLattice=\"", (long long)c.n);
    for (int a = 0; a < 9; a++) fprintf(file, "%.6f ", c.cell[a] * (1 + 0.01 * k));
    fprintf(file, "\" pbc=\"%s\"\n", c.periodic);
    for (int64_t i = 0; i < c.n; i++) {
      double x[3] = {0, 0, 0};
      for (int a = 0; a < 3; a++) {
        const double s = c.spread * random_at((uint64_t)((k * c.n + i) * 3 + a));
        for (int b = 0; b < 3; b++) x[b] += s * c.cell[3 * a + b];
      }
      fprintf(file, "Ar %.5f %.5f %.5f\n", x[0], x[1], x[2]);
    }
  }
  fclose(file);
  return path;
}

static void holds(bool good, const frames_case &c, const tri_params *p, const char *what) {
  n_checks++;
  if (good) return;
  n_failures++;
  printf("FAIL frames %s type %d bins %d kinds %d: %s\n", c.name, p->type, p->bins, p->classes,
         what);
}

/* All frames on one device. @param[out] counts  [TEST_FRAMES][slots][bins] */
static tsl_err frames_run(const frames_case &c, const tsl_platform *platform, tsl_device *where,
                          tsl_problem *problem, std::vector<uint64_t> &counts) {
  tsl_err err = TSL_OK;
  const tsl_backend *b = tsl_backend_find(platform, "tri");
  tsl_worker *worker = NULL;
  int64_t numbers[TEST_FRAMES];
  double volumes[TEST_FRAMES];
  std::vector<tsl_unit> units(3); /* of two frames, two and one */
  std::vector<tsl_part> parts(3);
  const int64_t cells = tri_cells_of(tri_params_of(problem));
  counts.assign((size_t)(TEST_FRAMES * cells), 0);
  for (size_t u = 0; u < units.size(); u++) {
    const int64_t at = 2 * (int64_t)u;
    units[u].id = (int64_t)u;
    units[u].lo[0] = at;
    units[u].hi[0] = at + 2 < TEST_FRAMES ? at + 2 : TEST_FRAMES;
    parts[u].slab[TRI_FRAMES_NUMBERS] = numbers + at;
    parts[u].slab[TRI_FRAMES_VOLUMES] = volumes + at;
    parts[u].slab[TRI_FRAMES_ROWS] = counts.data() + at * cells;
  }
  TSL_TRY(platform->select(where));
  TSL_TRY(b->open(problem, where, &worker));
  TSL_TRY(b->begin(worker, 0));
  TSL_TRY(b->run(worker, units.data(), (int64_t)units.size(), parts.data()));
  for (int k = 0; k < TEST_FRAMES; k++)
    holds(numbers[k] == k + 1, c, tri_params_of(problem), "other numbers of frames");
done:
  b->close(&worker);
  return err;
}

/* Atoms of three kinds, of which one is rare, and the histograms of their pairs. */
static void set_kinds(tri_params *p, std::vector<int32_t> &classes, std::vector<int32_t> &slots) {
  p->classes = 3;
  p->slots = 6;
  classes.resize((size_t)p->n);
  for (int64_t i = 0; i < p->n; i++)
    classes[(size_t)i] = i % 97 == 0 ? 2 : (int32_t)(i * i % 3 % 2);
  slots = {0, 1, 2, 1, 3, 4, 2, 4, 5};
}

static tsl_err check_frames(const frames_case &c, const std::string &path, const trajectory *t,
                            int type, int bins, bool kinds) {
  tsl_err err = TSL_OK;
  tri_params p = {};
  tsl_problem problem = {};
  tsl_device socket = {};
  std::vector<uint64_t> one, other;
  std::vector<int32_t> classes, slots;
  uint64_t sum = 0;
  p.function = TRI_EUCLIDEAN_PERIODIC;
  p.output = TRI_HISTOGRAM;
  p.type = type;
  p.bins = bins;
  p.n = c.n;
  p.d = p.d_read = 3;
  p.range_hi = 12;
  p.frames = t->n;
  p.frames_format = t->format;
  p.frames_boxed = 1;
  if (kinds) set_kinds(&p, classes, slots);
  problem.params = &p;
  problem.n_fields = TRI_FRAMES_RDF;
  problem.fields[TRI_FRAMES_PATH].data = (void *)path.c_str();
  problem.fields[TRI_FRAMES_PLACES].data = t->places;
  problem.fields[TRI_FRAMES_CLASSES].data = classes.data();
  problem.fields[TRI_FRAMES_SLOTS].data = slots.data();
  TSL_TRY(tsl_platform_cpu.describe(0, &socket));
  socket.threads = 2;
  TSL_TRY(frames_run(c, &tsl_platform_cpu, &socket, &problem, one));
  TSL_TRY(frames_run(c, &tsl_platform_gpu, &device, &problem, other));
  for (uint64_t count : one) sum += count;
  holds(sum > 0, c, &p, "no pairs");
  holds(one == other, c, &p, "other counts than a socket's");
done:
  return err;
}

static tsl_err test_frames(void) {
  tsl_err err = TSL_OK;
  for (const frames_case &c : frames_cases) {
    const std::string path = frames_file(c);
    trajectory t = {};
    err = trajectory_scan(path.c_str(), &t);
    for (int bins : {40, 1900, 5000, 13000})
      for (int type : {TSL_F32, TSL_F64})
        for (bool kinds : {false, true})
          if (err == TSL_OK) err = check_frames(c, path, &t, type, bins, kinds);
    trajectory_clear(&t);
    (void)unlink(path.c_str());
    TSL_TRY(err);
  }
done:
  return err;
}
