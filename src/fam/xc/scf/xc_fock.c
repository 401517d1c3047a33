/* Schwarz bounds, the sorted list of pairs, predicted costs, and the loop over quartets that adds
 * to J and K. */
#include "xc_fock.h"

#include "xc_matrix.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------- pairs */

void xc_schwarz(xc_engine *quartets, const xc_basis *basis, int64_t lo, int64_t hi,
                double *bounds) {
  for (int64_t a = lo; a < hi; a++)
    for (int64_t b = 0; b <= a; b++) {
      const int n = xc_shell_size(&basis->shells[a]) * xc_shell_size(&basis->shells[b]);
      const double *v = xc_engine_quartet(quartets, a, b, a, b);
      double most = 0;
      for (int k = 0; v != NULL && k < n; k++) most = fmax(most, fabs(v[k * n + k]));
      bounds[a * basis->n_shells + b] = bounds[b * basis->n_shells + a] = sqrt(most);
    }
}

/* Bits of a digit; an even number of digits, for the 64 bits of a bound. */
enum { DIGIT = 11, DIGITS = 6, VALUES = 1 << DIGIT };

/* Of bounds, which are not negative: bits of such numbers rise as they do. The largest first. */
static int64_t digit_of(const xc_shell_pair *pair, int digit) {
  uint64_t bits;
  memcpy(&bits, &pair->bound, sizeof bits);
  return (int64_t)(~bits >> (digit * DIGIT) & (VALUES - 1));
}

/* By falling bounds; where they are equal, as they were. Digit by digit (H. H. Seward, 1954). */
static tsl_err sort_pairs(xc_shell_pair *list, int64_t n) {
  tsl_err err = TSL_OK;
  xc_shell_pair *other = NULL, *from = list;
  TSL_TRY(tsl_alloc(n, sizeof *other, "pairs of shells", (void **)&other));
  for (int d = 0; d < DIGITS; d++) {
    int64_t first[VALUES + 1] = {0};
    xc_shell_pair *to = from == list ? other : list;
    for (int64_t k = 0; k < n; k++) first[digit_of(&from[k], d) + 1]++;
    for (int v = 0; v < VALUES; v++) first[v + 1] += first[v];
    for (int64_t k = 0; k < n; k++) to[first[digit_of(&from[k], d)]++] = from[k];
    from = to;
  }
done:
  tsl_free(other);
  return err;
}

tsl_err xc_pairs_create(const xc_basis *basis, const double *bounds, double threshold,
                        xc_pairs *pairs) {
  tsl_err err = TSL_OK;
  const int64_t n = basis->n_shells;
  double most = 0;
  int64_t count = 0;
  memset(pairs, 0, sizeof *pairs);
  for (int64_t k = 0; k < n * n; k++) most = fmax(most, bounds[k]);
  for (int64_t a = 0; a < n; a++)
    for (int64_t b = 0; b <= a; b++) count += bounds[a * n + b] * most >= threshold;
  TSL_TRY(tsl_alloc(count, sizeof *pairs->list, "pairs of shells", (void **)&pairs->list));
  for (int64_t a = 0; a < n; a++)
    for (int64_t b = 0; b <= a; b++)
      if (bounds[a * n + b] * most >= threshold)
        pairs->list[pairs->n++] = (xc_shell_pair){(int32_t)a, (int32_t)b, bounds[a * n + b], 0};
  TSL_TRY(sort_pairs(pairs->list, pairs->n));
  for (int64_t k = 0; k < pairs->n; k++) {
    xc_shell_pair *p = &pairs->list[k];
    p->packed = pairs->n_packed;
    pairs->n_packed += xc_shell_size(&basis->shells[p->a]) * xc_shell_size(&basis->shells[p->b]);
  }
done:
  return err;
}

void xc_pairs_clear(xc_pairs *pairs) {
  tsl_free(pairs->list);
  memset(pairs, 0, sizeof *pairs);
}

static int64_t block_size(const xc_basis *basis, const xc_shell_pair *p) {
  return (int64_t)xc_shell_size(&basis->shells[p->a]) * xc_shell_size(&basis->shells[p->b]);
}

double xc_fock_cost(const xc_basis *basis, const xc_pairs *pairs, double threshold, int64_t lo,
                    int64_t hi) {
  double cost = 0;
  for (int64_t p = lo; p < hi; p++) {
    const xc_shell_pair *bra = &pairs->list[p];
    int64_t first = 0, last = p + 1; /* kets before `first` reach the threshold */
    while (first < last) {
      const int64_t middle = (first + last) / 2;
      if (pairs->list[middle].bound * bra->bound >= threshold)
        first = middle + 1;
      else
        last = middle;
    }
    const int64_t elements =
        first == 0 ? 0 : pairs->list[first - 1].packed + block_size(basis, &pairs->list[first - 1]);
    cost += (double)(block_size(basis, bra) * elements);
  }
  return cost;
}

/* ----------------------------------------------------------------- density */

static double block_most(const double *matrix, int64_t n, const xc_shell *a, const xc_shell *b) {
  double most = 0;
  const int na = xc_shell_size(a), nb = xc_shell_size(b);
  for (int i = 0; i < na; i++)
    for (int j = 0; j < nb; j++) most = fmax(most, fabs(matrix[(a->first + i) * n + b->first + j]));
  return most;
}

void xc_fock_largest(xc_fock *fock, double *largest) {
  const xc_basis *basis = fock->basis;
  const double *const all[3] = {fock->total, fock->spin[0], fock->spin[1]};
  fock->largest = largest, fock->most = 0;
  for (int64_t a = 0; a < basis->n_shells; a++)
    for (int64_t b = 0; b < basis->n_shells; b++) {
      double most = 0;
      for (int k = 0; k < 3; k++)
        if (all[k] != NULL)
          most = fmax(most, block_most(all[k], basis->n, &basis->shells[a], &basis->shells[b]));
      largest[a * basis->n_shells + b] = most;
      fock->most = fmax(fock->most, most);
    }
}

/* ---------------------------------------------------------------- quartets */

/* One quartet: its shells, and how often its integrals occur by symmetry. */
typedef struct quartet {
  int64_t at[4]; /* first functions */
  int size[4];
  double times;
} quartet;

/* J_ab += D_cd (ab|cd), J_cd += D_ab (ab|cd). */
static void add_coulomb(const quartet *q, const double *v, int64_t n, const double *density,
                        double *coulomb) {
  for (int i = 0; i < q->size[0]; i++)
    for (int j = 0; j < q->size[1]; j++) {
      const int64_t ij = (q->at[0] + i) * n + q->at[1] + j;
      const double d = q->times * density[ij];
      double sum = 0;
      for (int k = 0; k < q->size[2]; k++) {
        const int64_t row = (q->at[2] + k) * n + q->at[3];
        for (int l = 0; l < q->size[3]; l++, v++) {
          sum += density[row + l] * *v;
          coulomb[row + l] += d * *v;
        }
      }
      coulomb[ij] += q->times * sum;
    }
}

/* K_ac += D_bd (ab|cd) and the three other pairings. */
static void add_exchange(const quartet *q, const double *v, int64_t n, const double *density,
                         double *exchange) {
  for (int i = 0; i < q->size[0]; i++)
    for (int j = 0; j < q->size[1]; j++) {
      const double *di = density + (q->at[0] + i) * n, *dj = density + (q->at[1] + j) * n;
      double *ki = exchange + (q->at[0] + i) * n, *kj = exchange + (q->at[1] + j) * n;
      for (int k = 0; k < q->size[2]; k++) {
        const int64_t c = q->at[2] + k;
        const double dic = q->times * di[c], djc = q->times * dj[c];
        double kic = 0, kjc = 0;
        for (int l = 0; l < q->size[3]; l++, v++) {
          const int64_t d = q->at[3] + l;
          kic += dj[d] * *v;
          kjc += di[d] * *v;
          ki[d] += djc * *v;
          kj[d] += dic * *v;
        }
        ki[c] += q->times * kic;
        kj[c] += q->times * kjc;
      }
    }
}

/* Largest density element that multiplies the quartet. */
static double density_bound(const xc_fock *fock, const xc_shell_pair *p, const xc_shell_pair *q) {
  const int64_t n = fock->basis->n_shells;
  const double *row_a = fock->largest + p->a * n, *row_b = fock->largest + p->b * n;
  double most = 0;
  if (fock->total != NULL) most = fmax(row_a[p->b], fock->largest[q->a * n + q->b]);
  if (fock->spin[0] != NULL)
    most = fmax(most, fmax(fmax(row_a[q->a], row_a[q->b]), fmax(row_b[q->a], row_b[q->b])));
  return most;
}

/* Elements of a bra pair's quartets that the density leaves. */
static double pair_cost(const xc_fock *fock, const xc_shell_pair *bra) {
  const xc_shell_pair *list = fock->pairs->list;
  double elements = 0;
  for (const xc_shell_pair *ket = list; ket <= bra; ket++) {
    const double bound = bra->bound * ket->bound;
    if (bound * fock->most < fock->threshold) break;
    if (bound * density_bound(fock, bra, ket) >= fock->threshold)
      elements += (double)block_size(fock->basis, ket);
  }
  return elements * (double)block_size(fock->basis, bra);
}

double xc_fock_part(const xc_fock *fock, int64_t lo, int64_t hi) {
  enum { FEW = 8 };
  const int64_t step = (hi - lo + FEW - 1) / FEW;
  double left = 0, all = 0;
  for (int64_t p = lo + step / 2; p < hi; p += step) {
    left += pair_cost(fock, &fock->pairs->list[p]);
    all += xc_fock_cost(fock->basis, fock->pairs, fock->threshold, p, p + 1);
  }
  return all > 0 ? left / all : 1;
}

/* Add the integrals v of a quartet. */
static void add_quartet(const xc_fock *fock, const xc_shell_pair *p, const xc_shell_pair *q,
                        const double *v) {
  const int64_t shells[4] = {p->a, p->b, q->a, q->b}, n = fock->basis->n;
  quartet all = {.times = (p->a == p->b ? 0.5 : 1) * (q->a == q->b ? 0.5 : 1) * (p == q ? 0.5 : 1)};
  for (int k = 0; k < 4; k++) {
    all.at[k] = fock->basis->shells[shells[k]].first;
    all.size[k] = xc_shell_size(&fock->basis->shells[shells[k]]);
  }
  if (fock->total != NULL) add_coulomb(&all, v, n, fock->total, fock->coulomb);
  for (int s = 0; s < 2; s++)
    if (fock->spin[s] != NULL) add_exchange(&all, v, n, fock->spin[s], fock->exchange[s]);
}

/* Make the integrals of a quartet, of which what is below the engine's precision is 0. */
static void keep_quartet(xc_engine *engine, const xc_shell_pair *p, const xc_shell_pair *q,
                         int64_t size, double *kept) {
  const double *v = xc_engine_quartet(engine, p->a, p->b, q->a, q->b);
  if (v != NULL)
    memcpy(kept, v, (size_t)size * sizeof *v);
  else
    memset(kept, 0, (size_t)size * sizeof *v);
}

void xc_fock_pair(xc_engine *quartets, const xc_fock *fock, int64_t pair, double *kept,
                  bool filled) {
  const xc_shell_pair *p = &fock->pairs->list[pair];
  for (const xc_shell_pair *q = fock->pairs->list; q <= p; q++) {
    const double bound = p->bound * q->bound;
    const bool stays = kept != NULL && bound >= fock->threshold;
    if (!stays && bound * fock->most < fock->threshold) break; /* and so are all that follow */
    if (xc_fock_leaves(fock, p, q)) continue;
    const bool needed = bound * density_bound(fock, p, q) >= fock->threshold;
    const double *v = kept;
    if (stays) {
      const int64_t size = block_size(fock->basis, p) * block_size(fock->basis, q);
      if (!filled) keep_quartet(quartets, p, q, size, kept);
      kept += size;
    } else if (needed) {
      v = xc_engine_quartet(quartets, p->a, p->b, q->a, q->b);
    }
    if (needed && v != NULL) add_quartet(fock, p, q, v);
  }
}

void xc_fock_batch(xc_engine *quartets, const xc_fock *fock, int64_t lo, int64_t hi) {
  for (int64_t p = lo; p < hi; p++) xc_fock_pair(quartets, fock, p, NULL, false);
}

void xc_fock_finish(const xc_fock *fock) {
  /* each of J's two terms stands for two orders of the density's pair, each of K's four for one */
  if (fock->total != NULL) xc_matrix_symmetrise(fock->basis->n, 2, fock->coulomb);
  for (int s = 0; s < 2; s++)
    if (fock->spin[s] != NULL) xc_matrix_symmetrise(fock->basis->n, 1, fock->exchange[s]);
}
