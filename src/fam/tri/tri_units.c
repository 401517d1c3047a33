/* Rows of the pair domain cut into units of about equal cost. */
#include "integers.h"
#include "tri_family.h"
#include "tri_records.h"

#include <math.h>
#include <string.h>

/** Rows are cut at multiples of this many, fewer when units have few rows. */
enum { QUANTUM = 64, MIN_QUANTA = 8 };

/** PAIRED: a unit has so many rows, or so many items where sequences are long. */
enum { PAIRED_ROWS = 4096, PAIRED_ITEMS = 1 << 24 };

int64_t tri_pairs_before(const tri_params *p, int64_t i) {
  if (p->output == TRI_PAIRED) return i;
  if (p->two) return i * p->columns;
  switch (p->output) {
  case TRI_SQUARE:
    return i * (i + 1) / 2; /* diagonal included */
  case TRI_CONDENSED:
  case TRI_THRESHOLD:
  case TRI_HISTOGRAM:
    return tri_condensed_row(p->n, i);
  default:
    return i * (p->n - 1);
  }
}

/** The rows of a problem and what each is expected to take. */
typedef struct rows {
  const tsl_problem *problem;
  const tri_params *p;
  const double *work; /* near and sequences: tri_own.work, or NULL */
} rows;

static rows rows_of(const tsl_problem *problem) {
  const tri_own *own = problem->own;
  return (rows){problem, tri_params_of(problem), own != NULL ? own->work : NULL};
}

/** Items of rows [0, i): their pairs; near: pairs and boxes looked at. */
static int64_t items_before(const rows *r, int64_t i) {
  if (r->work == NULL) return tri_pairs_before(r->p, i);
  const int64_t chunk = tri_chunk_of(r->p), c = i / chunk, first = c * chunk;
  const int64_t in_chunk = tsl_min(chunk, tri_rows_of(r->p) - first);
  double work = r->work[c];
  if (i > first) work += (r->work[c + 1] - work) * (double)(i - first) / (double)in_chunk;
  return (int64_t)work;
}

/** Cost of rows [0, i): their items, and one for each row so that none is free. */
static int64_t work_before(const rows *r, int64_t i) {
  return items_before(r, i) + i;
}

/** Bytes of the GATHER slabs of rows [a, b). */
static int64_t slab_bytes(const tri_params *p, int64_t a, int64_t b) {
  const int64_t element = (int64_t)tsl_type_bytes((tsl_type)p->type);
  switch (p->output) {
  case TRI_CONDENSED:
    return (tri_pairs_before(p, b) - tri_pairs_before(p, a)) * element;
  case TRI_SQUARE:
    return (b - a) * b * element;
  case TRI_TOPK:
    return (b - a) * p->k * ((int64_t)sizeof(int64_t) + element);
  case TRI_FORCES:
    return (b - a) * (p->d_read + 1) * (int64_t)sizeof(double);
  case TRI_MINIMUM:
  case TRI_MAXIMUM:
    return tri_partners_of(p) > 0 ? (b - a) * ((int64_t)sizeof(int64_t) + element) : 0;
  case TRI_DEGREE:
  case TRI_COMPONENTS:
    return (b - a) * (int64_t)sizeof(int64_t);
  case TRI_CSR:
    return (b - a) * (int64_t)sizeof(int32_t);
  case TRI_DBSCAN:
  case TRI_LINKAGE:
    return (b - a) * ((int64_t)sizeof(int64_t) + element);
  case TRI_PAIRED:
    return (b - a) * element;
  case TRI_SUM:
    return (b - a) * tri_sums(p) * (int64_t)sizeof(double);
  default:
    return 0;
  }
}

/** Device memory of rows [a, b): their slabs, the bins, or a count per row of a list; of records
 *  that are streamed these, too. */
static int64_t device_bytes(const rows *r, int64_t a, int64_t b) {
  const tri_params *p = r->p;
  const int64_t word = (int64_t)sizeof(int64_t);
  if (p->streamed) return slab_bytes(p, a, b) + tri_records_bytes(r->problem, a, b);
  if (p->output == TRI_HISTOGRAM) return tri_cells_of(p) * word * (p->weighted ? 3 : 1);
  if (tri_output_in(p, TRI_BIT(THRESHOLD) | TRI_BIT(CSR))) return (b - a) * word;
  return slab_bytes(p, a, b);
}

static bool within(const rows *r, const tsl_limits *limits, int64_t a, int64_t b) {
  const int64_t bytes = device_bytes(r, a, b);
  return slab_bytes(r->p, a, b) <= limits->slab_bytes && bytes <= limits->device_bytes &&
         (!r->p->streamed || bytes <= TRI_WINDOW_BYTES);
}

/** Smallest b in (a, hi] with work of rows [a, b) at least goal, or hi. */
static int64_t rows_for(const rows *r, int64_t a, int64_t hi, int64_t goal) {
  const int64_t start = work_before(r, a);
  int64_t low = a + 1;
  while (low < hi) {
    const int64_t middle = low + (hi - low) / 2;
    if (work_before(r, middle) - start >= goal)
      hi = middle;
    else
      low = middle + 1;
  }
  return low;
}

/** Largest b in (a, hi] whose rows [a, b) are within the limits, at least a + 1. */
static int64_t rows_within(const rows *r, const tsl_limits *limits, int64_t a, int64_t hi) {
  int64_t low = a + 1;
  while (low < hi) {
    const int64_t middle = low + (hi - low + 1) / 2;
    if (within(r, limits, a, middle))
      low = middle;
    else
      hi = middle - 1;
  }
  return low;
}

/** PAIRED: pairs of sequences go side by side, so that units of few rows would leave lanes idle. */
static int64_t wanted_units(const rows *r, const tsl_limits *limits) {
  if (r->p->output != TRI_PAIRED || limits->given) return limits->target_units;
  const int64_t n = tri_rows_of(r->p), each_rank = tsl_max(1, limits->n_ranks);
  const int64_t filled = tsl_max(n / PAIRED_ROWS, items_before(r, n) / PAIRED_ITEMS);
  return tsl_min(limits->target_units, tsl_max(each_rank, filled));
}

/** How many units to aim at: the wish, or more when the limits ask for it; at most n. */
static int64_t aim(const rows *r, const tsl_limits *limits) {
  const tri_params *p = r->p;
  const int64_t n = tri_rows_of(p), wish = tsl_min(wanted_units(r, limits), n);
  const double all = p->output == TRI_SQUARE
                         ? (double)slab_bytes(p, 0, n) / 2 /* the triangle under the boxes */
                         : (double)slab_bytes(p, 0, n);
  const double least = (double)(limits->slab_bytes < limits->device_bytes ? limits->slab_bytes
                                                                          : limits->device_bytes);
  const double records = p->streamed ? (double)device_bytes(r, 0, n) / TRI_WINDOW_BYTES : 0;
  const double needed = fmax(least > 0 ? all / least + 1 : (double)n, records);
  if (needed >= (double)n) return n;
  if (wish < (int64_t)needed) return (int64_t)needed;
  return wish > 0 ? wish : 1;
}

static int64_t find_quantum(const tri_params *p, int64_t n_units) {
  int64_t quantum = p->output == TRI_PAIRED ? 1 : QUANTUM;
  while (quantum > 1 && tri_rows_of(p) / n_units < quantum * MIN_QUANTA) quantum /= 2;
  return quantum;
}

/** End of the unit that starts at row a when left more units are wanted from there. */
static int64_t next_cut(const rows *r, const tsl_limits *limits, int64_t quantum, int64_t a,
                        int64_t left) {
  const tri_params *p = r->p;
  const int64_t n = tri_rows_of(p), rest = work_before(r, n) - work_before(r, a);
  int64_t b = left > 1 ? rows_for(r, a, n, rest / left + (rest % left > 0)) : n;
  if (b < n) b = (b + quantum / 2) / quantum * quantum;
  if (b <= a) b = a + 1;
  if (b > n) b = n;
  if (within(r, limits, a, b)) return b;
  b = rows_within(r, limits, a, b);
  return b / quantum * quantum > a ? b / quantum * quantum : b;
}

/** Fill the features of rows [lo[0], hi[0]) with so many items. */
static void set_features(const rows *r, double items, tsl_unit *u) {
  const tri_params *p = r->p;
  const tri_about *about = &tri_abouts[p->function];
  const int64_t a = u->lo[0], b = u->hi[0];
  u->count = items;
  u->flops = u->count * ((double)p->d * about->flops_d + about->flops_pair);
  u->bytes = (double)(slab_bytes(p, a, b) > 0 ? slab_bytes(p, a, b) : device_bytes(r, a, b));
  u->device_bytes = (double)device_bytes(r, a, b);
}

/** Walk through the cuts; list may be NULL to count only. */
static int64_t cut_all(const rows *r, const tsl_limits *limits, tsl_unit *list) {
  const tri_params *p = r->p;
  const int64_t wanted = aim(r, limits), quantum = find_quantum(p, wanted);
  int64_t n = 0;
  for (int64_t a = 0, b = 0; a < tri_rows_of(p); a = b, n++) {
    b = next_cut(r, limits, quantum, a, wanted - n);
    if (list == NULL) continue;
    list[n] = (tsl_unit){.id = n, .lo = {a, 0, 0}, .hi = {b, 1, 1}};
    set_features(r, (double)(items_before(r, b) - items_before(r, a)), &list[n]);
  }
  return n;
}

tsl_err tri_units(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units) {
  tsl_err err = TSL_OK;
  const rows r = rows_of(problem);
  void *memory = NULL;
  *units = (tsl_units){0};
  if (r.p->frames > 0) return tri_frames_units(problem, limits, units);
  if (tri_rows_of(r.p) == 0) goto done;
  const int64_t n = cut_all(&r, limits, NULL);
  TSL_TRY(tsl_alloc(n, sizeof(tsl_unit), "units", &memory));
  units->list = memory;
  units->n = cut_all(&r, limits, units->list);
done:
  return err;
}

/** Rows of a unit up to a part of its work, by the lengths of its sequences; 1 at least.
 *  @param[out] share  of the work that they have */
static int64_t sample_letters(const tsl_problem *problem, int64_t a, int64_t b, double fraction,
                              double *share) {
  double all = 0, done = 0;
  int64_t hi = a;
  for (int64_t i = a; i < b; i++) all += tri_letters_row(problem, i);
  while (hi < b && (hi == a || done < fraction * all)) done += tri_letters_row(problem, hi++);
  *share = all > 0 ? done / all : (double)(hi - a) / (double)(b - a);
  return hi;
}

void tri_sample(const tsl_problem *problem, const tsl_unit *whole, double fraction, tsl_unit *out) {
  const tri_params *p = tri_params_of(problem);
  const rows r = {.problem = problem, .p = p};
  const int64_t a = whole->lo[0], b = whole->hi[0];
  if (p->frames > 0) {
    tri_frames_sample(problem, whole, fraction, out);
    return;
  }
  const double work = (double)(work_before(&r, b) - work_before(&r, a));
  double items = whole->count;
  *out = *whole;
  const bool uneven = p->near || tri_of_letters(p);
  double share = 1;
  if (fraction < 1 && tri_of_letters(p) && !p->streamed) {
    out->hi[0] = sample_letters(problem, a, b, fraction, &share);
    items *= share;
  } else if (fraction < 1 && uneven) {
    /* the root alone knows what rows take: as if all took the same */
    out->hi[0] = tsl_max(a + 1, a + (int64_t)(fraction * (double)(b - a)));
    items *= (double)(out->hi[0] - a) / (double)(b - a);
  } else if (!uneven) {
    if (fraction < 1) out->hi[0] = rows_for(&r, a, b, (int64_t)(fraction * work));
    items = (double)(tri_pairs_before(p, out->hi[0]) - tri_pairs_before(p, a));
  }
  set_features(&r, items, out);
}

void tri_region(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                int64_t hi[3]) {
  const tri_params *p = tri_params_of(problem);
  const int64_t a = unit->lo[0], b = unit->hi[0];
  enum { NONE = -1 }; /* units do not write it */
  const int64_t one = tri_partners_of(p) > 0 ? 1 : NONE;
  const int64_t columns[TRI_N_OUTPUTS][3] = {
      [TRI_CONDENSED] = {p->columns, NONE, NONE},
      [TRI_SQUARE] = {b, NONE, NONE},
      [TRI_THRESHOLD] = {NONE, NONE, NONE},
      [TRI_TOPK] = {p->k, p->k, NONE},
      [TRI_HISTOGRAM] = {NONE, NONE, NONE},
      [TRI_FORCES] = {p->d_read, 1, NONE},
      [TRI_DEGREE] = {1, NONE, NONE},
      [TRI_MINIMUM] = {one, one, NONE},
      [TRI_MAXIMUM] = {one, one, NONE},
      [TRI_CSR] = {NONE, NONE, 1},
      [TRI_COMPONENTS] = {2, NONE, NONE},
      [TRI_DBSCAN] = {2, 1, NONE},
      [TRI_LINKAGE] = {2, 1, NONE},
      [TRI_SUM] = {p->gradient ? p->d_read : tri_sums(p), p->gradient ? 1 : NONE, NONE},
      [TRI_PAIRED] = {1, NONE, NONE}};
  if (p->frames > 0) {
    tri_frames_region(problem, unit, field, lo, hi);
    return;
  }
  memset(lo, 0, 3 * sizeof lo[0]);
  hi[0] = 0, hi[1] = hi[2] = 1;
  if (field > TRI_OUT_3 || columns[p->output][field - TRI_OUT] == NONE) return;
  lo[0] = a, hi[0] = b, hi[1] = columns[p->output][field - TRI_OUT];
  if (p->output == TRI_CONDENSED && !p->two) {
    lo[0] = tri_condensed_row(p->n, a);
    hi[0] = tri_condensed_row(p->n, b);
    hi[1] = 1;
  }
}

/** Exponent e with |value| < 2^e for all n values and least, 0 when all are 0. */
static int exponent_of(const float *values, int64_t n, double least) {
  double most = least;
  int e = 0;
  for (int64_t k = 0; k < n; k++) most = fmax(most, fabs((double)values[k]));
  if (most > 0) (void)frexp(most, &e);
  return e;
}

void tri_gravity_units(const tsl_problem *problem, int *length, int *weight) {
  const tri_params *p = tri_params_of(problem);
  const float *x = problem->fields[TRI_POINTS].data, *mass = problem->fields[TRI_EXTRAS].data;
  const bool equal = p->mass != 0;
  *length = *weight = 0;
  if (p->type != TSL_F32) return;
  *length = exponent_of(x, 3 * p->n_pad, p->softening);
  *weight = equal ? 0 : exponent_of(mass, p->n, 0);
}
