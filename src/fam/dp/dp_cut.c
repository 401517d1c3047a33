/* Pieces of a length by a wanted number and a quantum, and the number of stages for some ranks and
 * a pipeline's fill time. */
#include "dp_cut.h"
#include "integers.h"

#include <math.h>

enum {
  STAGES_OF_RANK = 16, /* most: S stages and P ranks are S / (S + P - 1) efficient */
  STAGES_ALONE = 8     /* most of a single rank */
};

static const double ALONE_LOSS = 0.05; /* of a single rank's time that its stages may cost */
static const double SAFE = 2.0 / 3;    /* of the most stages that overlap without loss */

dp_cut dp_cut_make(int64_t n, int64_t wanted, int64_t quantum) {
  dp_cut c = {.n = n, .quantum = quantum};
  while (c.quantum > 1 && n < wanted * c.quantum) c.quantum /= 2;
  c.pieces = tsl_min(tsl_divide_up(n, c.quantum), wanted);
  if (c.pieces < 1) c.pieces = n > 0;
  return c;
}

/** Where piece k begins; k = pieces: n. */
static int64_t cut_at(const dp_cut *c, int64_t k) {
  const int64_t quanta = tsl_divide_up(c->n, c->quantum);
  const int64_t at = quanta / c->pieces * k + (quanta % c->pieces) * k / c->pieces;
  return tsl_min(at * c->quantum, c->n);
}

tsl_err dp_cut_ends(const dp_cut *c, dp_ends *e) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(c->pieces, sizeof *e->at, "tiles", (void **)&e->at));
  for (e->n = 0; e->n < c->pieces; e->n++) e->at[e->n] = cut_at(c, e->n + 1);
done:
  return err;
}

/* A rank alone that overlaps loses nothing as long as its cells take the longer part of a stage. */
static double stages_wished(int64_t ranks, double fill, bool overlap) {
  const double whole = SAFE / fill;
  if (overlap) return ranks > 1 ? fmax(whole, sqrt((double)(2 * ranks - 1) / fill)) : whole;
  return ranks > 1 ? sqrt((double)(ranks - 1) / fill) : ALONE_LOSS / fill;
}

int64_t dp_cut_stages(int64_t ranks, double fill, bool overlap) {
  const int64_t most = ranks > 1 ? STAGES_OF_RANK * ranks : STAGES_ALONE;
  const double wished = stages_wished(ranks, fill, overlap);
  if (!(fill > 0) || wished >= (double)most) return most;
  return wished > 1 ? (int64_t)lround(wished) : 1;
}

void dp_cut_tiles(const dp_ends *rows, const dp_ends *columns, int64_t top, tsl_units *units) {
  units->n = 0;
  for (int64_t stage = 0; stage < rows->n; stage++)
    for (int64_t lane = 0; lane < columns->n; lane++) {
      tsl_unit *u = &units->list[units->n];
      *u = (tsl_unit){.id = units->n++, .stage = stage, .lane = lane};
      u->lo[0] = top + (stage > 0 ? rows->at[stage - 1] : 0), u->hi[0] = top + rows->at[stage];
      u->lo[1] = lane > 0 ? columns->at[lane - 1] : 0, u->hi[1] = columns->at[lane];
      u->hi[2] = 1;
    }
}
