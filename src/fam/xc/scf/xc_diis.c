/* A ring of the newest matrices, errors and densities, and the linear equations for their weights.
 * The oldest entries are left out while the equations are nearly singular. */
#include "xc_diis.h"

#include "xc_matrix.h"

#include "memory.h"

#include <math.h>
#include <string.h>

tsl_err xc_diis_create(int64_t size, int32_t room, bool densities, xc_diis *diis) {
  tsl_err err = TSL_OK;
  *diis = (xc_diis){.size = size, .room = room};
  if (room < 1 || room > XC_DIIS_MOST)
    TSL_FAIL(TSL_ERR_INPUT, "DIIS with %d matrices; 1 to %d are allowed", (int)room, XC_DIIS_MOST);
  TSL_TRY(xc_matrix_create(room, size, "matrices of DIIS", &diis->matrices));
  TSL_TRY(xc_matrix_create(room, size, "errors of DIIS", &diis->errors));
  if (densities) TSL_TRY(xc_matrix_create(room, size, "densities of ADIIS", &diis->densities));
done:
  if (err != TSL_OK) xc_diis_clear(diis);
  return err;
}

void xc_diis_clear(xc_diis *diis) {
  TSL_FREE_ALL(diis->matrices, diis->errors, diis->densities);
  memset(diis, 0, sizeof *diis);
}

/* Traces of entry at with all others. */
static void xc_diis_trace(xc_diis *diis, int32_t at) {
  const int64_t n = diis->size;
  for (int32_t k = 0; k < diis->n; k++) {
    diis->trace[at][k] = xc_matrix_dot(n, diis->densities + at * n, diis->matrices + k * n);
    diis->trace[k][at] = xc_matrix_dot(n, diis->densities + k * n, diis->matrices + at * n);
  }
}

static void xc_diis_store(xc_diis *diis, const double *error, const double *density,
                          const double *matrix) {
  const int32_t at = diis->next;
  const int64_t n = diis->size;
  xc_matrix_copy(n, error, diis->errors + at * n);
  xc_matrix_copy(n, matrix, diis->matrices + at * n);
  if (diis->n < diis->room) diis->n++;
  diis->next = (at + 1) % diis->room;
  for (int32_t k = 0; k < diis->n; k++)
    diis->overlap[at][k] = diis->overlap[k][at] = xc_matrix_dot(n, error, diis->errors + k * n);
  if (diis->densities == NULL) return;
  xc_matrix_copy(n, density, diis->densities + at * n);
  xc_diis_trace(diis, at);
}

/* Entry that is k-th newest. */
static int32_t recent(const xc_diis *diis, int32_t k) {
  return (diis->next - 1 - k + 2 * diis->room) % diis->room;
}

/* Weights of the n newest entries; the equations are scaled by the newest error. */
static bool find_weights(const xc_diis *diis, int32_t n, double *weight) {
  double a[(XC_DIIS_MOST + 1) * (XC_DIIS_MOST + 1)];
  const int32_t order = n + 1;
  const double scale = diis->overlap[recent(diis, 0)][recent(diis, 0)];
  if (!(scale > 0)) return false;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++)
      a[i * order + j] = diis->overlap[recent(diis, i)][recent(diis, j)] / scale;
    a[i * order + n] = a[n * order + i] = 1;
    weight[i] = 0;
  }
  a[n * order + n] = 0, weight[n] = 1;
  if (!xc_matrix_solve_any(order, a, weight)) return false;
  for (int32_t i = 0; i < n; i++)
    if (!(fabs(weight[i]) < 1e4)) return false; /* nearly dependent errors */
  return true;
}

/* Pulay's weights of all entries, the newest first. */
static void pulay_weights(const xc_diis *diis, double weight[XC_DIIS_MOST + 1]) {
  int32_t n = diis->n;
  while (n > 1 && !find_weights(diis, n, weight)) n--;
  if (n == 1) weight[0] = 1;
  for (int32_t k = n; k < diis->n; k++) weight[k] = 0;
}

static void lowest_weights(const xc_diis *diis, double weight[XC_DIIS_MOST]) {
  double trace[XC_DIIS_MOST][XC_DIIS_MOST];
  for (int32_t i = 0; i < diis->n; i++)
    for (int32_t j = 0; j < diis->n; j++)
      trace[i][j] = diis->trace[recent(diis, i)][recent(diis, j)];
  xc_adiis_weights(diis->n, (const double(*)[XC_DIIS_MOST])trace, weight);
}

void xc_diis_step(xc_diis *diis, const double *error, const double *density, double share,
                  double *matrix) {
  double weight[XC_DIIS_MOST + 1], lowest[XC_DIIS_MOST];
  const double *entries[XC_DIIS_MOST];
  int n = 0;
  xc_diis_store(diis, error, density, matrix);
  pulay_weights(diis, weight);
  if (share > 0) {
    lowest_weights(diis, lowest);
    for (int32_t k = 0; k < diis->n; k++) weight[k] = share * lowest[k] + (1 - share) * weight[k];
  }
  for (int32_t k = 0; k < diis->n; k++) {
    if (weight[k] == 0) continue;
    entries[n] = diis->matrices + recent(diis, k) * diis->size;
    weight[n++] = weight[k];
  }
  xc_matrix_combine(diis->size, n, weight, entries, matrix);
}
