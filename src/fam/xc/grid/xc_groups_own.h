/* Between the parts of xc_groups: places of points, and groups while they are made. */
#pragma once

#include "xc_groups.h"

/** A point and its number, in the order that a grouping makes. */
typedef struct xc_place {
  double at[3];
  int64_t point;
} xc_place;

/** Groups while they are made: first, n and kind of each. */
typedef struct xc_cut {
  xc_group *list;
  int64_t n, room;
} xc_cut;

/** Append a group; the list grows. */
tsl_err xc_cut_add(xc_cut *cut, int64_t first, int64_t n, xc_group_kind kind);

/** Cut places [0, n) by kd: reorders them, appends groups of at most target points. */
tsl_err xc_groups_kd(xc_place *places, int64_t n, int64_t target, xc_cut *cut);

/** Cut the grid's points into spheres and cubes: reorders places, appends groups. */
tsl_err xc_groups_cubes(const xc_groups_rule *rule, const xc_grid *grid, xc_place *places,
                        xc_cut *cut);
