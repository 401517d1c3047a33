/**
 * @file xc_groups.h
 * Groups: pieces of the grid that are computed together, each with the functions that reach it.
 *
 * A group is a contiguous range of points (the grid is put in the groups' order) and a list of
 * shells. A group of n points and b functions is a unit of the exchange-correlation phase; its
 * matrices are n x b and b x b.
 *
 *   kd     median cuts along the longest side of the points' box: groups of equal points
 *   cubes  the seed's: a sphere round each nucleus with its inner radial shells, the other points
 *          in cubes of one side
 */
#pragma once

#include "xc_grid.h"

TSL_C_BEGIN

/* ---------------------------------------------------------------- making */

typedef enum xc_grouping { XC_KD, XC_CUBES, XC_N_GROUPINGS } xc_grouping;

/** How far a shell reaches. */
typedef enum xc_reach {
  XC_REACH_RADIUS,   /**< xc_shell.radius: beyond it no function exceeds 1e-10 */
  XC_REACH_EXPONENT, /**< the seed's: where the most diffuse primitive, normalised, falls below
                          exp(-max_exponent), 4.5e-5 for its 10: not exact */
  XC_N_REACHES
} xc_reach;

/** Words for decks, in the order of the enums, NULL-ended. */
extern const char *const xc_grouping_words[];
extern const char *const xc_reach_words[];

typedef struct xc_groups_rule {
  int32_t grouping;    /**< xc_grouping */
  int32_t reach;       /**< xc_reach */
  int64_t target;      /**< kd: most points of a group; a multiple of 32 wastes no lanes */
  double side;         /**< cubes: bohr */
  double spheres;      /**< cubes: share 0..1 of an atom's radial shells that go to its sphere */
  int64_t least;       /**< cubes: a cube of fewer points is joined with the next ones */
  double max_exponent; /**< XC_REACH_EXPONENT */
} xc_groups_rule;

/** kd with 512 points; the numbers of cubes are the seed's: side 8, spheres 0.6, least 1, 10. */
xc_groups_rule xc_groups_standard(void);

typedef enum xc_group_kind { XC_GROUP_KD, XC_GROUP_CUBE, XC_GROUP_SPHERE } xc_group_kind;

/** Plain data. */
typedef struct xc_group {
  int64_t first, n;    /**< points [first, first + n) of the grid */
  int64_t shells;      /**< its shells begin here in xc_groups.shells */
  int32_t n_shells;    /**< their number */
  int32_t kind;        /**< xc_group_kind */
  int64_t functions;   /**< of these shells */
  double lo[3], hi[3]; /**< closed box of its points, bohr */
} xc_group;

/** Release with xc_groups_clear. */
typedef struct xc_groups {
  xc_group *list; /**< [n] in the order of their points, from tsl_alloc; NULL when n is 0 */
  int64_t n;
  int32_t *shells; /**< [n_shells] numbers of shells, ascending in each group, from tsl_alloc */
  int64_t n_shells;
  int64_t unreached; /**< points that no function reaches; they have left the grid */
} xc_groups;

/**
 * Cut the grid into groups and find the shells of each.
 *
 * A shell belongs to a group when its sphere of reach touches the group: the closed box of the
 * points (kd, cubes), or the ball that holds them (spheres).
 * @param[in,out] grid   put in the order of the groups; points that no function reaches leave
 * @param[in]     basis  its atoms are the grid's
 * @return TSL_ERR_INPUT for a bad rule, says which member and what is allowed
 * Numerics: a function of the grid alone; ties of coordinates are broken by number.
 */
tsl_err xc_groups_make(const xc_groups_rule *rule, const xc_basis *basis, xc_grid *grid,
                       xc_groups *out);

/** Append the groups of another grid, whose points follow first others. */
tsl_err xc_groups_join(xc_groups *groups, const xc_groups *more, int64_t first);

/** Free and zero. */
void xc_groups_clear(xc_groups *groups);

/** Radius at which a shell ends by a rule; bohr. Global for tests. */
double xc_groups_reach(const xc_groups_rule *rule, const xc_shell *shell);

/* ------------------------------------------------------------------ cost */

/** What the cost of a group is made of. */
typedef struct xc_group_features {
  double nb;  /**< points times functions: functions, density */
  double nbb; /**< points times functions^2: the products */
  double bb;  /**< functions^2: gather and scatter */
} xc_group_features;

xc_group_features xc_group_features_of(const xc_group *group);

typedef enum xc_cost_kind {
  XC_COST_FITTED, /**< c[0] + c[1] nb + c[2] nbb + c[3] bb */
  XC_COST_SEED,   /**< its released program: 10 (n b (b + 1)/2) + c[0] */
  XC_COST_PAPER,  /**< as published: b n (n + 1)/2 + c[0] */
  XC_COST_SIZE,   /**< its cards: elements of the function matrices, n rounded up to 16 */
  XC_N_COSTS
} xc_cost_kind;

/** Words for decks, in the order of the enum, NULL-ended. */
extern const char *const xc_cost_words[];

typedef struct xc_cost_rule {
  int32_t kind; /**< xc_cost_kind */
  int32_t zero; /**< reserved */
  double c[4];
} xc_cost_rule;

/** The seed's formula with its constant 250000, or fitted with c = 0 0 1 0 until measured. */
xc_cost_rule xc_cost_standard(xc_cost_kind kind);

/** Cost of a group in the rule's own unit; at least 0. Global for tests. */
double xc_group_cost(const xc_cost_rule *rule, const xc_group *group);

/**
 * Predicted balance over ranks when the groups are dealt out longest first, each to the rank that
 * would end earliest (Graham 1969). Global for tests.
 * @param[in]  speeds      [n_ranks] relative speeds > 0; NULL: equal
 * @param[out] efficiency  total work over speed of all ranks times the time of the last: 0..1; 1
 *                         when there is no work
 * @return TSL_ERR_INPUT when n_ranks is not in 1..2^20, a speed is not positive, the rule is none
 */
tsl_err xc_groups_balance(const xc_groups *groups, const xc_cost_rule *rule, const double *speeds,
                          int n_ranks, double *efficiency);

/**
 * Statistics for people: number of groups, points and functions by quantiles, a histogram of points
 * and of functions per group, sums of the features, predicted balance over up to n_ranks ranks.
 * @param[out] text  several lines of at most 100 characters, from tsl_alloc
 */
tsl_err xc_groups_text(const xc_groups *groups, const xc_cost_rule *rule, int n_ranks, char **text);

TSL_C_END
