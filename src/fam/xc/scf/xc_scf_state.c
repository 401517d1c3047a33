/* The state of the field as plain numbers, for checkpoints. */
#include "xc_scf.h"

#include "xc_matrix.h"

#include <string.h>

enum { SCALARS = 7, TABLE = XC_DIIS_MOST * XC_DIIS_MOST, HEAD = SCALARS + 2 * TABLE };
enum { MOST_BLOCKS = 11 };

/** Numbers of the state that lie together: the first used of n; a step changes [lo, hi). */
typedef struct block {
  double *at;
  int64_t n, used, lo, hi;
} block;

static int blocks_of(const xc_scf *s, block list[MOST_BLOCKS]) {
  const int64_t nn = s->n * s->n, half = s->n_spin * s->m * s->m;
  const xc_diis *d = &s->diis;
  const int64_t entry = d->n > 0 ? (d->next + d->room - 1) % d->room : 0; /* the newest */
  const int64_t lo = entry * half, hi = d->n > 0 ? lo + half : lo;
  int n = 0;
  list[n++] = (block){s->coulomb, nn, nn, 0, nn};
  list[n++] = (block){s->last_total, nn, nn, 0, nn};
  for (int t = 0; t < s->n_spin; t++) {
    list[n++] = (block){s->exchange[t], nn, nn, 0, nn};
    list[n++] = (block){s->last_spin[t], nn, nn, 0, nn};
  }
  list[n++] = (block){s->half, s->m * s->n, s->m * s->n, 0, 0}; /* its signs are the threads' */
  list[n++] = (block){s->density_half[0], half, half, 0, half};
  list[n++] = (block){d->matrices, d->room * half, d->n * half, lo, hi};
  list[n++] = (block){d->errors, d->room * half, d->n * half, lo, hi};
  if (d->densities != NULL) list[n++] = (block){d->densities, d->room * half, d->n * half, lo, hi};
  return n;
}

int64_t xc_scf_numbers(const xc_scf *scf) {
  block list[MOST_BLOCKS];
  int64_t n = HEAD;
  const int count = blocks_of(scf, list);
  for (int k = 0; k < count; k++) n += list[k].n;
  return n;
}

void xc_scf_save(const xc_scf *scf, bool whole, double *numbers) {
  const double scalars[SCALARS] = {scf->energies.total, scf->change,    scf->commutator, scf->rough,
                                   scf->diis.n,         scf->diis.next, scf->entropy};
  block list[MOST_BLOCKS];
  const int count = blocks_of(scf, list);
  memcpy(numbers, scalars, sizeof scalars);
  memcpy(numbers + SCALARS, scf->diis.overlap, sizeof scf->diis.overlap);
  memcpy(numbers + SCALARS + TABLE, scf->diis.trace, sizeof scf->diis.trace);
  numbers += HEAD;
  for (int k = 0; k < count; numbers += list[k++].n) {
    const int64_t lo = whole ? 0 : list[k].lo, hi = whole ? list[k].used : list[k].hi;
    if (lo < hi) xc_matrix_copy(hi - lo, list[k].at + lo, numbers + lo);
  }
}

tsl_err xc_scf_load(xc_scf *scf, const double *numbers) {
  tsl_err err = TSL_OK;
  block list[MOST_BLOCKS];
  const int count = blocks_of(scf, list);
  const double n = numbers[4], next = numbers[5], room = scf->diis.room;
  if (!(n >= 0 && n <= room && next >= 0 && (next < room || next == 0)))
    TSL_FAIL(TSL_ERR_INPUT, "the checkpoint's DIIS has %g matrices, here at most %g", n, room);
  scf->energies.total = numbers[0], scf->change = numbers[1], scf->commutator = numbers[2];
  scf->rough = numbers[3] != 0, scf->entropy = numbers[6];
  scf->diis.n = (int32_t)n, scf->diis.next = (int32_t)next;
  memcpy(scf->diis.overlap, numbers + SCALARS, sizeof scf->diis.overlap);
  memcpy(scf->diis.trace, numbers + SCALARS + TABLE, sizeof scf->diis.trace);
  numbers += HEAD;
  for (int k = 0; k < count; numbers += list[k++].n)
    if (list[k].n > 0) xc_matrix_copy(list[k].n, numbers, list[k].at);
  TSL_TRY(xc_matrix_hold(scf->m, scf->n, scf->half));
  xc_scf_ask(scf);
done:
  return err;
}
