/* Lebedev's rules: look-up and unfolding of the orbits. */
#include "xc_lebedev.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/** "6, 14, ..., 1454" */
static void list_rules(char *text, size_t room) {
  size_t used = 0;
  for (const xc_lebedev *rule = xc_lebedevs; rule->points > 0 && used < room; rule++)
    used += (size_t)snprintf(text + used, room - used, "%s%d", used > 0 ? ", " : "", rule->points);
}

tsl_err xc_lebedev_find(int64_t points, const xc_lebedev **out) {
  tsl_err err = TSL_OK;
  char all[256] = "";
  const xc_lebedev *rule = xc_lebedevs, *below = NULL;
  for (; rule->points > 0 && rule->points < points; rule++) below = rule;
  *out = rule->points == points && points > 0 ? rule : NULL;
  if (*out != NULL) goto done;
  list_rules(all, sizeof all);
  if (below == NULL || rule->points == 0)
    TSL_FAIL(TSL_ERR_INPUT,
             "no Lebedev rule has %lld angular points; the nearest has %d; rules: %s",
             (long long)points, below == NULL ? rule->points : below->points, all);
  TSL_FAIL(TSL_ERR_INPUT,
           "no Lebedev rule has %lld angular points; the nearest have %d and %d; rules: %s",
           (long long)points, below->points, rule->points, all);
done:
  return err;
}

const xc_lebedev *xc_lebedev_below(const xc_lebedev *rule, int places) {
  if (rule->points == 116) return NULL;
  while (places > 0 && rule > xc_lebedevs) {
    rule--;
    if (rule->points != 116) places--;
  }
  return places == 0 ? rule : NULL;
}

/** The representative of an orbit. */
static void representative(const xc_orbit *orbit, double v[3]) {
  const double a = orbit->a, b = orbit->b;
  const double table[][3] = {[XC_ORBIT_001] = {0, 0, 1},
                             [XC_ORBIT_011] = {0, sqrt(0.5), sqrt(0.5)},
                             [XC_ORBIT_111] = {1 / sqrt(3.0), 1 / sqrt(3.0), 1 / sqrt(3.0)},
                             [XC_ORBIT_AAB] = {a, a, sqrt(fmax(0, 1 - 2 * a * a))},
                             [XC_ORBIT_AB0] = {a, sqrt(1 - a * a), 0},
                             [XC_ORBIT_ABC] = {a, b, sqrt(fmax(0, 1 - a * a - b * b))}};
  for (int k = 0; k < 3; k++) v[k] = table[orbit->kind][k];
}

/** All images of v under changes of sign; a coordinate of 0 has one sign. @return their number */
static int signs(const double v[3], double w, double *x, double *y, double *z, double *weight) {
  int n = 0;
  for (int bits = 0; bits < 8; bits++) {
    double image[3];
    bool twice = false;
    for (int k = 0; k < 3; k++) {
      const bool minus = (bits >> k & 1) != 0;
      twice |= minus && v[k] == 0;
      image[k] = minus ? -v[k] : v[k];
    }
    if (twice) continue;
    x[n] = image[0], y[n] = image[1], z[n] = image[2], weight[n] = w;
    n++;
  }
  return n;
}

void xc_lebedev_points(const xc_lebedev *rule, double *x, double *y, double *z, double *w) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  int n = 0;
  for (int i = 0; i < rule->n_orbits; i++) {
    double v[3], image[6][3];
    representative(&rule->orbits[i], v);
    for (int p = 0; p < 6; p++) {
      bool again = false;
      for (int k = 0; k < 3; k++) image[p][k] = v[orders[p][k]];
      for (int q = 0; q < p; q++)
        again |=
            image[q][0] == image[p][0] && image[q][1] == image[p][1] && image[q][2] == image[p][2];
      if (!again) n += signs(image[p], rule->orbits[i].weight, x + n, y + n, z + n, w + n);
    }
  }
}
