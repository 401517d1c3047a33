/* Real solid harmonics by recursion in the degree, and the transformation of a block of integrals
 * between two shells. */
#include "xc_harmonics.h"

#include <math.h>
#include <string.h>

enum { MOST = XC_CARTESIANS(XC_MAX_L) };

/* to += factor x^i y^j z^k from, from of degree l; i is what is left of to's degree. */
static void add_shifted(int l, const double *from, double factor, int j, int k, double *to) {
  for (int b = 0; b <= l; b++)
    for (int c = 0; b + c <= l; c++)
      to[xc_cartesian_at(b + j, c + k)] += factor * from[xc_cartesian_at(b, c)];
}

/* The two sectoral ones of degree l + 1. */
static void add_sectoral(xc_harmonics *h, int l) {
  const double factor = sqrt((l == 0 ? 2.0 : 1.0) * (2 * l + 1) / (2 * l + 2));
  const double *cosine = h->of[l][2 * l], *sine = h->of[l][0];
  double *up = h->of[l + 1][2 * l + 2], *down = h->of[l + 1][0];
  add_shifted(l, cosine, factor, 0, 0, up);
  add_shifted(l, cosine, factor, 1, 0, down);
  if (l == 0) return;
  add_shifted(l, sine, -factor, 1, 0, up);
  add_shifted(l, sine, factor, 0, 0, down);
}

/* Order m of degree l + 1 from those of degrees l and l - 1. */
static void add_order(xc_harmonics *h, int l, int m) {
  const double below = sqrt((double)((l + m + 1) * (l - m + 1)));
  double *to = h->of[l + 1][m + l + 1];
  add_shifted(l, h->of[l][m + l], (2 * l + 1) / below, 0, 1, to);
  if (l == 0 || m > l - 1 || m < 1 - l) return;
  const double *last = h->of[l - 1][m + l - 1];
  const double factor = -sqrt((double)((l + m) * (l - m))) / below;
  add_shifted(l - 1, last, factor, 0, 0, to);
  add_shifted(l - 1, last, factor, 2, 0, to);
  add_shifted(l - 1, last, factor, 0, 2, to);
}

void xc_harmonics_fill(xc_harmonics *harmonics) {
  memset(harmonics, 0, sizeof *harmonics);
  harmonics->of[0][0][0] = 1;
  for (int l = 0; l < XC_MAX_L; l++) {
    add_sectoral(harmonics, l);
    for (int m = -l; m <= l; m++) add_order(harmonics, l, m);
  }
}

/* A block of two shells, [in of a][in of b], turned to [out of a][out of b]: from Cartesian
 * functions to the shells' own, or back by the transpose. */
static void turn(const xc_harmonics *h, const xc_shell *a, const xc_shell *b, bool back,
                 const double *in, int64_t ld, double *out) {
  const int cartesian[2] = {XC_CARTESIANS(a->l), XC_CARTESIANS(b->l)};
  const int own[2] = {xc_shell_size(a), xc_shell_size(b)};
  const int *from = back ? own : cartesian, *to = back ? cartesian : own;
  double half[MOST * MOST];
  memset(half, 0, sizeof half);
  memset(out, 0, (size_t)(to[0] * to[1]) * sizeof *out);
  for (int i = 0; i < to[0]; i++)
    for (int k = 0; k < from[0]; k++) {
      const double c = a->spherical ? h->of[a->l][back ? k : i][back ? i : k] : i == k;
      if (c == 0) continue;
      for (int j = 0; j < from[1]; j++) half[i * from[1] + j] += c * in[k * ld + j];
    }
  for (int j = 0; j < to[1]; j++)
    for (int k = 0; k < from[1]; k++) {
      const double c = b->spherical ? h->of[b->l][back ? k : j][back ? j : k] : j == k;
      if (c == 0) continue;
      for (int i = 0; i < to[0]; i++) out[i * to[1] + j] += c * half[i * from[1] + k];
    }
}

void xc_harmonics_block(const xc_harmonics *harmonics, const xc_shell *a, const xc_shell *b,
                        const double *block, double *out) {
  turn(harmonics, a, b, false, block, XC_CARTESIANS(b->l), out);
}

void xc_harmonics_density(const xc_harmonics *harmonics, const xc_shell *a, const xc_shell *b,
                          const double *density, int64_t ld, double *block) {
  turn(harmonics, a, b, true, density, ld, block);
}
