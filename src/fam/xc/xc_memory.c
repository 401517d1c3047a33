/* Bytes of sums, fields and card copies, and the check against each rank's host and device limits
 * before the problem is prepared. */
#include "xc_memory.h"
#include "xc_davidson.h"
#include "xc_harmonics.h"

#include <math.h>

double xc_memory_said(double bytes) {
  enum { DIGIT = 10 }; /* texts of bytes have one behind the point */
  double unit = 1;
  while (bytes >= 1024 * unit) unit *= 1024;
  return ceil(bytes / unit * DIGIT) / DIGIT * unit;
}

/* Numbers of the weights of a fitting shell and of products of orbitals. */
static double gradient_sums(const xc_params *p, int threads) {
  const double fit = (double)p->n_fit, orbitals = (double)p->n_orbitals;
  if (!p->gradient || !p->fitted) return 0;
  return XC_CARTESIANS(XC_MAX_L) * ((double)p->n_packed + threads * fit) +
         p->n_spin * fit * (double)p->n_products + threads * orbitals * ((double)p->n + orbitals);
}

double xc_memory_sums(const xc_params *p, int threads) {
  const double nn = (double)p->n * (double)p->n, shells = (double)p->n_shells;
  const double sums =
      (!p->fitted ? nn : 0) + (xc_functional_exact(&p->functional) ? p->n_spin * nn : 0);
  const double packed = p->fitted ? 2 * (double)p->n_packed : 0;
  const double squares = p->fitted_exchange ? 2 * threads * nn : 0;
  const double text = p->lattice.n > 0 ? (double)(p->lattice.n * xc_lattice_bytes(&p->lattice)) : 0;
  return text + 8 * ((p->reproducible ? 2 : 1) * threads * sums + squares + packed +
                     gradient_sums(p, threads) + shells * shells);
}

/* The state of the field is the root's alone, which has made it. */
double xc_memory_fields(const tsl_problem *problem) {
  double bytes = 0;
  for (int f = 0; f < problem->n_fields; f++) {
    const tsl_field *field = &problem->fields[f];
    if ((field->role & TSL_STATE) && field->data == NULL) continue;
    bytes += (double)tsl_field_bytes(field);
  }
  return bytes;
}

double xc_memory_card_exchange(const xc_params *p, int64_t rows) {
  const double nn = (double)p->n * (double)p->n, fit = (double)p->n_fit;
  const double products = (double)(p->n_orbitals * p->n_orbitals + p->n_products);
  if (!p->fitted_exchange) return 0;
  return 8 * (fit * fit + (2 * p->n_spin + 0.5) * nn +
              (double)rows * (2 * (nn + (double)p->n_packed) + products));
}

/* Exact J and K on a card, with no more monomials than functions: densities and sums, T and what is
 * in between, the largest elements of blocks. */
static double card_quartets(const xc_params *p) {
  const double nn = (double)p->n * (double)p->n, shells = (double)p->n_shells;
  const int matrices =
      (p->fitted ? 0 : 2) + (xc_functional_exact(&p->functional) ? 2 * p->n_spin : 0) + 2;
  return xc_has_quartets(p) && !p->reproducible ? 8 * (matrices * nn + shells * shells) : 0;
}

double xc_memory_card(const xc_params *p) {
  const double nn = (double)p->n * (double)p->n;
  const double fit =
      p->fitted && !p->reproducible ? 16 * ((double)p->n_packed + (double)p->n_fit) : 0;
  return (double)p->n_shells * sizeof(xc_shell) + 32 * (double)p->n_points + 24 * p->n_spin * nn +
         fit + xc_memory_card_exchange(p, XC_EXCHANGE_ROWS) + card_quartets(p);
}

/* -------------------------------------------------------------------- early */

/* Matrices among the fields, orbitals and the metric of fitted exchange and, on a socket, its sum
 * of exchange-correlation; on rank 0 the state of the field: density, J, K, what they are of,
 * matrices kept for DIIS, and vectors of its second derivatives. Orbitals are left out, as
 * functions may be dependent. */
static double least_host(const xc_params *p, const tsl_device *device, int rank, int64_t kept,
                         bool stability) {
  const double nn = (double)p->n * (double)p->n, s = p->n_spin;
  const bool socket = device->kind == TSL_CPU;
  const bool slopes = p->gradient && (p->reproducible || p->fitted_exchange); /* the host's, too */
  const int threads = (socket || slopes) && device->threads > 0 ? device->threads : 1;
  const double exchange = xc_functional_exact(&p->functional) ? s : 0, fit = (double)p->n_fit;
  const double fitted = p->fitted_exchange ? s * nn + fit * fit : 0;
  const double fields = (2 * s + 1) + s + 1 + exchange + 2 * s + 1; /* IN; sums; OUT */
  const double state = rank == 0 ? s + 2 + 2 * s + (double)kept * s : 0;
  const double rotations = (double)p->n_occupied * ((double)p->n - (double)p->n_occupied / s);
  const double looks = rank == 0 && stability ? 3 * s * nn + 2 * XC_DAVIDSON_ROOM * rotations : 0;
  return 8 * nn * (fields + state + (socket ? s : 0)) + 8 * (fitted + looks) +
         xc_memory_sums(p, threads);
}

static tsl_err too_small(const tsl_deck *deck, const char *key, const char *what, double limit,
                         double needed, int rank, const xc_params *p) {
  tsl_err err = TSL_OK;
  char has[24], needs[24];
  (void)tsl_bytes_text(limit, has);
  (void)tsl_bytes_text(xc_memory_said(needed), needs);
  if (tsl_deck_given(deck, key))
    TSL_DECK_FAIL(deck, key,
                  "rank %d may use %s of %s, but needs more than %s for %lld functions; raise it",
                  rank, has, what, needs, (long long)p->n);
  TSL_FAIL(what[0] == 'i' ? TSL_ERR_DEVICE_MEMORY : TSL_ERR_MEMORY,
           "rank %d may use %s of %s (%s), but needs more than %s for %lld functions", rank, has,
           what, key, needs, (long long)p->n);
done:
  return err;
}

static tsl_err check_card(const tsl_deck *deck, const tsl_device *device, int rank,
                          const xc_params *p) {
  const double limit = (double)device->memory_limit, needed = xc_memory_card(p);
  if (device->kind != TSL_GPU || limit <= 0 || needed <= limit) return TSL_OK;
  return too_small(deck, "run.device_memory", "its card's memory", limit, needed, rank, p);
}

tsl_err xc_memory_check(const tsl_deck *deck, const tsl_problem *problem, int64_t kept,
                        bool stability, double scratch) {
  tsl_err err = TSL_OK;
  const xc_params *p = xc_params_of(problem);
  for (int r = 0; r < problem->n_devices; r++) {
    const tsl_device *device = &problem->devices[r];
    const double host = least_host(p, device, r, kept, stability) + (r == 0 ? scratch : 0);
    const int64_t limit = device->kind == TSL_CPU ? device->memory_limit : device->host_limit;
    if (limit > 0 && host > (double)limit)
      TSL_TRY(too_small(deck, "run.host_memory", "host memory", (double)limit, host, r, p));
    TSL_TRY(check_card(deck, device, r, p));
  }
done:
  return err;
}

tsl_err xc_memory_check_cards(tsl_deck *deck, tsl_problem *problem) {
  tsl_err err = TSL_OK;
  for (int r = 0; r < problem->n_devices; r++)
    TSL_TRY(check_card(deck, &problem->devices[r], r, xc_params_of(problem)));
done:
  return err;
}
