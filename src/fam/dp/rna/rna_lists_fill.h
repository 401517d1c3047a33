/* Lists of what the pairs of a sequence add to loops, for all columns; included once by each engine
 * of foldings. No guard. Wanted of the includer:
 *
 *   LOOPS               struct with the members that dp_cpu_fold and rna_weights share
 *   LOOPS_NUMBER        of its lists
 *   LOOPS_WEIGHT(f, e)  what stands in them for an energy
 *   LOOPS_NEVER         and for what cannot be
 *   LOOPS_TILE          side of the tiles in which columns and rows are
 *   RNA, RNA_NUMBER     as in rna_energy.h
 */

/** Of pair (x, y), with neighbours nx of x and ny of y: inside for OUTER, else outside. */
static RNA_NUMBER list_value(const RNA(energy) * e, rna_list list, int x, int nx, int y, int ny) {
  const bool turned =
      list >= RNA_OUTER_MULTI && list <= RNA_INNER_BULGE; /* seen from the other letter */
  const int pair = turned ? rna_pair(y, x) : rna_pair(x, y);
  const int a = turned ? ny : nx, b = turned ? nx : ny;
  if (pair == 0) return RNA_FORBIDDEN;
  switch (list) {
  case RNA_OUTER_GENERIC:
  case RNA_INNER_GENERIC:
    return e->interior_end[pair][a][b];
  case RNA_OUTER_ONE:
  case RNA_INNER_ONE:
    return e->one_end[pair][a][b];
  case RNA_OUTER_TWO_THREE:
  case RNA_INNER_TWO_THREE:
    return e->two_three_end[pair][a][b];
  case RNA_OUTER_BULGE:
  case RNA_INNER_BULGE:
    return RNA(end)(e, pair);
  case RNA_OUTER_HAIRPIN:
    return e->hairpin_end[pair][a][b];
  case RNA_OUTER_MULTI:
    return e->multi_closing + RNA(multi_stem)(e, pair, a, b);
  case RNA_LIST_STEM:
    return RNA(multi_stem)(e, pair, a, b);
  default:
    return RNA(exterior_stem)(e, pair, a == RNA_MISSING ? -1 : a, b == RNA_MISSING ? -1 : b);
  }
}

static void fill_list(LOOPS *f, rna_list list) {
  const bool outside = list >= RNA_INNER_GENERIC;
  const int64_t n = f->posts - 1;
  for (int x = 0; x < RNA_LETTERS; x++)
    for (int nx = 0; nx <= RNA_MISSING; nx++) {
      LOOPS_NUMBER *to = f->lists + rna_list_place(f->columns, list, x, nx);
      LOOPS_NUMBER values[RNA_LETTERS][RNA_MISSING + 1];
      for (int y = 0; y < RNA_LETTERS; y++)
        for (int ny = 0; ny <= RNA_MISSING; ny++) {
          const bool good = list == RNA_LIST_EXTERIOR || (nx < RNA_MISSING && ny < RNA_MISSING);
          values[y][ny] =
              good ? LOOPS_WEIGHT(f, list_value(f->energy, list, x, nx, y, ny)) : LOOPS_NEVER;
        }
      for (int64_t b = 0; b < f->columns; b++) {
        const bool there = b >= 1 && b <= n;
        const int y = there ? f->letters[b - 1] : 0;
        const int ny = !there                                ? 0
                       : !outside                            ? f->letters[b - 2]
                       : list == RNA_LIST_EXTERIOR && b == n ? RNA_MISSING
                                                             : f->letters[b];
        to[b] = there ? values[y][ny] : LOOPS_NEVER;
      }
    }
}

/** Small loops by the four letters from the first on, and the four before and with the last. */
static void fill_near(LOOPS *f, int which) {
  const int n1 = dp_fold_near[which][0], n2 = dp_fold_near[which][1];
  for (int k = 0; k < RNA_KEYS; k++)
    for (int l = 0; l < RNA_KEYS; l++) {
      const uint8_t left[4] = {(uint8_t)(k / 125), (uint8_t)(k / 25 % 5), (uint8_t)(k / 5 % 5),
                               (uint8_t)(k % 5)};
      const uint8_t back[4] = {(uint8_t)(l / 125), (uint8_t)(l / 25 % 5), (uint8_t)(l / 5 % 5),
                               (uint8_t)(l % 5)};
      uint8_t right[4];
      for (int m = 0; m < n2 + 2; m++) right[m] = back[n2 + 1 - m];
      f->near[((int64_t)which * RNA_KEYS + k) * RNA_KEYS + l] =
          LOOPS_WEIGHT(f, RNA(interior)(f->energy, left, n1, right, n2));
    }
}

static void fill_costs(LOOPS *f) {
  const RNA(energy) *e = f->energy;
  for (int n1 = 0; n1 <= RNA_LOOP; n1++)
    for (int n2 = 0; n2 <= RNA_LOOP - n1; n2++)
      f->costs.generic[n1][n2] =
          LOOPS_WEIGHT(f, e->interior[n1 + n2] + RNA(asymmetry)(e, n1 > n2 ? n1 - n2 : n2 - n1));
  for (int n = 0; n <= RNA_LOOP; n++) {
    f->costs.bulge[n] = LOOPS_WEIGHT(f, e->bulge[n]);
    f->costs.one[n] = n < RNA_LOOP ? f->costs.generic[1][n] : LOOPS_NEVER;
  }
  f->costs.two_three = f->costs.generic[2][3];
}

/** Hairpins of sizes of which letters may decide are small, the others not. */
static void fill_sizes(LOOPS *f, const RNA_NUMBER *sizes) {
  for (int64_t k = 0; k < 7; k++) f->small[k] = k < f->posts ? sizes[k] : RNA_FORBIDDEN;
  for (int64_t k = 0; k < 2 * LOOPS_TILE + f->columns; k++) {
    const int64_t size = k - 2 * LOOPS_TILE - 2;
    const bool plain = size > 4 && size != 6 && size < f->posts;
    f->sizes[k] = plain ? LOOPS_WEIGHT(f, sizes[size]) : LOOPS_NEVER;
  }
}

enum { LOOPS_PARTS = RNA_N_LISTS + DP_FOLD_NEAR };

/** Lists for all columns. @param[in] part  0..LOOPS_PARTS-1; in any order, or at once */
static void fill_part(LOOPS *f, int part) {
  if (part < RNA_N_LISTS)
    fill_list(f, (rna_list)part);
  else
    fill_near(f, part - RNA_N_LISTS);
}

/** All but these lists. @param[in] sizes  [posts] energies of hairpins by size */
static void fill_short(LOOPS *f, const RNA_NUMBER *sizes) {
  fill_costs(f);
  fill_sizes(f, sizes);
  for (int64_t b = 0; b < f->columns; b++)
    f->key[b] = b >= 1 && b < f->posts ? rna_list_key(f->letters + b - 1, -1) : 0;
}

/** Letters of the sequence, 0 others and 1..4 A C G U, with room on both sides.
 *  @param[in] letters  [posts - 1] A C G U 0..3, others above */
static tsl_err take_letters(LOOPS *f, const uint8_t *letters) {
  tsl_err err = TSL_OK;
  TSL_TRY(tsl_alloc(f->columns + 2 * RNA_AROUND, 1, "letters", (void **)&f->around));
  f->letters = f->around + RNA_AROUND;
  for (int64_t k = 0; k < f->posts - 1; k++)
    f->letters[k] = letters[k] < 4 ? (uint8_t)(letters[k] + 1) : 0;
done:
  return err;
}
