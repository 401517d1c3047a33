/* The state of the field as plain numbers, for checkpoints. */
#include "xc_scf.h"

#include "xc_matrix.h"

#include <string.h>

enum { SCALARS = 7, TABLE = XC_DIIS_MOST * XC_DIIS_MOST, MOST_BLOCKS = 11 };
enum { FIRST_BLOCK = SCALARS + 2 * TABLE };

/** Numbers of the state that lie together. */
typedef struct block {
  double *at;
  int64_t n;
} block;

static int blocks_of(const xc_scf *s, block list[MOST_BLOCKS]) {
  const int64_t nn = s->n * s->n;
  const xc_diis *d = &s->diis;
  int n = 0;
  list[n++] = (block){s->coulomb, nn};
  list[n++] = (block){s->last_total, nn};
  for (int t = 0; t < s->n_spin; t++) {
    list[n++] = (block){s->exchange[t], nn};
    list[n++] = (block){s->last_spin[t], nn};
  }
  list[n++] = (block){d->matrices, d->room * d->n_matrix};
  list[n++] = (block){d->errors, d->room * d->n_error};
  if (d->densities != NULL) list[n++] = (block){d->densities, d->room * d->n_matrix};
  return n;
}

int64_t xc_scf_numbers(const xc_scf *scf) {
  block list[MOST_BLOCKS];
  int64_t n = FIRST_BLOCK;
  const int count = blocks_of(scf, list);
  for (int k = 0; k < count; k++) n += list[k].n;
  return n;
}

void xc_scf_save(const xc_scf *scf, double *numbers) {
  const double scalars[SCALARS] = {scf->energies.total, scf->change,    scf->commutator, scf->rough,
                                   scf->diis.n,         scf->diis.next, scf->entropy};
  block list[MOST_BLOCKS];
  const int count = blocks_of(scf, list);
  memcpy(numbers, scalars, sizeof scalars);
  memcpy(numbers + SCALARS, scf->diis.overlap, TABLE * sizeof *numbers);
  memcpy(numbers + SCALARS + TABLE, scf->diis.trace, TABLE * sizeof *numbers);
  numbers += FIRST_BLOCK;
  for (int k = 0; k < count; numbers += list[k++].n)
    if (list[k].n > 0) memcpy(numbers, list[k].at, (size_t)list[k].n * sizeof *numbers);
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
  memcpy(scf->diis.overlap, numbers + SCALARS, TABLE * sizeof *numbers);
  memcpy(scf->diis.trace, numbers + SCALARS + TABLE, TABLE * sizeof *numbers);
  numbers += FIRST_BLOCK;
  for (int k = 0; k < count; numbers += list[k++].n)
    if (list[k].n > 0) memcpy(list[k].at, numbers, (size_t)list[k].n * sizeof *numbers);
  xc_scf_ask(scf);
done:
  return err;
}
