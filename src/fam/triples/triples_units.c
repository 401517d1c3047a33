/* Blocks of rows of the tetrahedron, or rows of sorted points, cut into units of about equal cost.
 */
#include "integers.h"
#include "triples_family.h"

#include <string.h>

enum { QUANTUM = 8 /* rows of triangles that are not cut */ };

/** What is cut, and what it is expected to take; places are blocks, or rows. */
typedef struct domain {
  const triples_params *p;
  const int32_t *starts; /* TRIANGLES: of cells */
  const double *work;    /* TRIANGLES: triples_own.work; or NULL */
  int64_t places, cells, quantum;
} domain;

static domain domain_of(const tsl_problem *problem) {
  const triples_params *p = triples_params_of(problem);
  const triples_own *own = problem->own;
  const bool blocks = p->function == TRIPLES_AXILROD_TELLER;
  return (domain){.p = p,
                  .starts = problem->fields[TRIPLES_CELLS].data,
                  .work = own != NULL ? own->work : NULL,
                  .places = blocks ? p->blocks : p->n,
                  .cells = triples_cells_of(p),
                  .quantum = blocks ? 1 : QUANTUM};
}

/** Terms of blocks [0, block): of each pair (i, j), j > i, all third points are looked at; of an
 *  equation's rows [0, block): the triples. */
static double terms_before(const triples_params *p, int64_t block) {
  const double n = (double)p->n;
  if (p->function == TRIPLES_EQUATION) {
    const double rows = (double)tsl_min(p->n, block);
    const double slopes = p->slopes ? rows * n * n : 0;
    return slopes + rows * (p->all ? n * n / 2 : rows * rows / 6) + rows * n / 64;
  }
  const double i = (double)tsl_min(p->n, block * p->block_rows);
  return (i * (n - 1) - 0.5 * i * (i - 1)) * n;
}

static double work_of_rows(const domain *d, int64_t i) {
  if (i >= d->p->n) return d->work[d->cells];
  const int64_t cell = triples_cell_of_place(d->starts, d->cells, i);
  const double first = d->starts[cell], rows = d->starts[cell + 1] - first;
  return d->work[cell] + (d->work[cell + 1] - d->work[cell]) * ((double)i - first) / rows;
}

static double work_before(const domain *d, int64_t place) {
  return d->work != NULL ? work_of_rows(d, place) + (double)place : terms_before(d->p, place);
}

static int64_t slab_bytes(const triples_params *p, int64_t places) {
  if (p->function == TRIPLES_TRIANGLES) return 0;
  if (p->function == TRIPLES_EQUATION)
    return places * (p->slopes ? 1 + p->d : 1) * (int64_t)sizeof(double);
  return places * p->n * TRIPLES_SUMS * (int64_t)sizeof(double);
}

static void set_features(const domain *d, double work, tsl_unit *u) {
  const triples_params *p = d->p;
  const bool blocks = p->function == TRIPLES_AXILROD_TELLER;
  u->count = work;
  u->flops = 15 * work; /* of a term; fused ones are two */
  u->bytes = (double)slab_bytes(p, u->hi[0] - u->lo[0]);
  /* Slopes of a block; sides with a tile of third points. */
  u->device_bytes = u->bytes;
  if (blocks)
    u->device_bytes += (8 * (double)p->block_rows + 24.0 * TRIPLES_TILE) * (double)p->n_pad;
}

/** Smallest place in (a, d->places] with at least this work before it. */
static int64_t place_at(const domain *d, int64_t a, double goal) {
  int64_t low = a + 1, high = d->places;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (work_before(d, middle) >= goal)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/** End of the unit that begins with place a when so many are wanted from there on. */
static int64_t next_cut(const domain *d, const tsl_limits *limits, int64_t a, int64_t left) {
  const double begin = work_before(d, a), rest = work_before(d, d->places) - begin;
  const double goal = begin + rest / (double)tsl_max(1, left);
  const int64_t row = tsl_max(1, slab_bytes(d->p, 1));
  int64_t b = left > 1 ? place_at(d, a, goal) : d->places;
  if (b - a > 1 && goal - work_before(d, b - 1) < work_before(d, b) - goal) b--;
  if (b < d->places) b = tsl_min(d->places, (b + d->quantum - 1) / d->quantum * d->quantum);
  return slab_bytes(d->p, b - a) > limits->slab_bytes
             ? tsl_min(b, a + tsl_max(1, limits->slab_bytes / row))
             : b;
}

static int64_t cut_all(const domain *d, const tsl_limits *limits, tsl_unit *list) {
  int64_t n = 0;
  for (int64_t a = 0, b = 0; a < d->places; a = b, n++) {
    b = next_cut(d, limits, a, limits->target_units - n);
    if (list == NULL) continue;
    list[n] = (tsl_unit){.id = n, .lo = {a, 0, 0}, .hi = {b, 1, 1}};
    set_features(d, work_before(d, b) - work_before(d, a), &list[n]);
  }
  return n;
}

tsl_err triples_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  tsl_err err = TSL_OK;
  const domain d = domain_of(problem);
  const int64_t n = cut_all(&d, limits, NULL);
  void *memory = NULL;
  *units = (tsl_units){0};
  if (n == 0) goto done;
  TSL_TRY(tsl_alloc(n, sizeof(tsl_unit), "units", &memory));
  units->list = memory;
  units->n = cut_all(&d, limits, units->list);
done:
  return err;
}

/** The root alone knows what rows of triangles take: as if all took the same. */
void triples_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction,
                    tsl_unit *out) {
  domain d = domain_of(problem);
  const int64_t a = whole->lo[0], b = whole->hi[0];
  double work = whole->count;
  *out = *whole;
  d.work = NULL;
  if (d.p->function == TRIPLES_TRIANGLES) {
    out->hi[0] = tsl_min(b, tsl_max(a + 1, a + (int64_t)(fraction * (double)(b - a))));
    work *= (double)(out->hi[0] - a) / (double)(b - a);
  } else {
    const double begin = terms_before(d.p, a);
    d.places = b;
    out->hi[0] = place_at(&d, a, begin + fraction * (terms_before(d.p, b) - begin));
    work = terms_before(d.p, out->hi[0]) - begin;
  }
  set_features(&d, work, out);
}

void triples_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                    int64_t hi[3]) {
  const triples_params *p = triples_params_of(problem);
  memset(lo, 0, 3 * sizeof lo[0]);
  hi[0] = 0, hi[1] = hi[2] = 1;
  const bool forces = p->slopes && field == TRIPLES_FORCES;
  if (p->function == TRIPLES_TRIANGLES || (field != TRIPLES_OUT && !forces))
    return; /* by advance */
  lo[0] = unit->lo[0], hi[0] = unit->hi[0];
  if (forces) hi[1] = p->d;
  if (p->function == TRIPLES_AXILROD_TELLER) hi[1] = p->n, hi[2] = TRIPLES_SUMS;
}
