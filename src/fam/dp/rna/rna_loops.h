/* Energies of loops, once for each type of number; see rna_energy.h, which includes this with
 * RNA_NUMBER and RNA(name). No guard. */

/** A table for a pair and its neighbours in the loop: next to its first letter, to its second. */
typedef RNA_NUMBER RNA(mismatch)[RNA_PAIRS][RNA_LETTERS][RNA_LETTERS];

/** Energies at one temperature; plain data, all of it numbers of one type. */
typedef struct RNA(energy) {
  RNA_NUMBER stack[RNA_PAIRS][RNA_PAIRS];
  RNA(mismatch) hairpin_end, interior_end, one_end, two_three_end, multi_end, exterior_end;
  RNA_NUMBER dangle5[RNA_PAIRS][RNA_LETTERS], dangle3[RNA_PAIRS][RNA_LETTERS];
  RNA_NUMBER int11[RNA_PAIRS][RNA_PAIRS][RNA_LETTERS][RNA_LETTERS];
  RNA_NUMBER int21[RNA_PAIRS][RNA_PAIRS][RNA_LETTERS][RNA_LETTERS][RNA_LETTERS];
  RNA_NUMBER int22[RNA_PAIRS][RNA_PAIRS][RNA_LETTERS][RNA_LETTERS][RNA_LETTERS][RNA_LETTERS];
  RNA_NUMBER bulge[RNA_LOOP + 1], interior[RNA_LOOP + 1]; /**< by size */
  RNA_NUMBER ninio, most_ninio;
  RNA_NUMBER multi_base, multi_closing, multi_stem;
  RNA_NUMBER terminal;
  /** Whole energies of hairpins of certain letters, by four letters' worth of bits (rna_special);
   *  RNA_NONE: no such one. */
  RNA_NUMBER triloop[1 << 10], tetraloop[1 << 12], hexaloop[1 << 16];
} RNA(energy);

TSL_FN RNA_NUMBER RNA(end)(const RNA(energy) * e, int pair) {
  return pair >= RNA_AU ? e->terminal : 0;
}

/** Hairpin closed by s[0] and s[size + 1]. @param[in] sizes  energies by size */
TSL_FN RNA_NUMBER RNA(hairpin)(const RNA(energy) * e, const RNA_NUMBER *sizes, const uint8_t *s,
                               int64_t size) {
  const int pair = rna_pair(s[0], s[size + 1]);
  RNA_NUMBER whole = RNA_NONE;
  if (pair == 0 || size < RNA_HAIRPIN) return RNA_NONE;
  if (size == 3 || size == 4 || size == 6) {
    const int32_t word = rna_special(s, (int)size + 2);
    if (word >= 0)
      whole = size == 3 ? e->triloop[word] : size == 4 ? e->tetraloop[word] : e->hexaloop[word];
  }
  if (whole != RNA_NONE) return whole;
  return sizes[size] + (size == 3 ? RNA(end)(e, pair) : e->hairpin_end[pair][s[1]][s[size]]);
}

/** Cost of the two sides' difference. */
TSL_FN RNA_NUMBER RNA(asymmetry)(const RNA(energy) * e, int difference) {
  const RNA_NUMBER cost = difference * e->ninio;
  return cost < e->most_ninio ? cost : e->most_ninio;
}

/**
 * Loop between pairs (i, j) and (p, q), i < p < q < j, with at most RNA_LOOP letters.
 * @param[in] left, right  letters from i to p and from q to j, [n + 2] each
 * @param[in] n1, n2       unpaired letters of both sides
 */
TSL_FN RNA_NUMBER RNA(interior)(const RNA(energy) * e, const uint8_t *left, int n1,
                                const uint8_t *right, int n2) {
  const uint8_t *p = left + n1 + 1, *j = right + n2 + 1;
  const int outer = rna_pair(left[0], *j), inner = rna_pair(right[0], *p);
  const int more = n1 > n2 ? n1 : n2, less = n1 > n2 ? n2 : n1;
  if (outer == 0 || inner == 0) return RNA_NONE;
  if (more == 0) return e->stack[outer][inner];
  if (less == 0)
    return e->bulge[more] +
           (more == 1 ? e->stack[outer][inner] : RNA(end)(e, outer) + RNA(end)(e, inner));
  const int a = left[1], b = j[-1], c = p[-1], d = right[1]; /* after i, before j and p, after q */
  if (more == 1) return e->int11[outer][inner][a][b];
  if (less == 1 && more == 2)
    return n1 == 1 ? e->int21[outer][inner][a][d][b] : e->int21[inner][outer][d][a][c];
  if (less == 2 && more == 2) return e->int22[outer][inner][a][c][d][b];
  const RNA_NUMBER size = e->interior[n1 + n2] + RNA(asymmetry)(e, more - less);
  if (less == 1) return size + e->one_end[outer][a][b] + e->one_end[inner][d][c];
  if (less == 2 && more == 3)
    return size + e->two_three_end[outer][a][b] + e->two_three_end[inner][d][c];
  return size + e->interior_end[outer][a][b] + e->interior_end[inner][d][c];
}

/** A stem that begins with a pair in a multiloop. before, after: the letters next to the pair
 *  outside of the stem. */
TSL_FN RNA_NUMBER RNA(multi_stem)(const RNA(energy) * e, int pair, int before, int after) {
  return e->multi_stem + e->multi_end[pair][before][after] + RNA(end)(e, pair);
}

/** The same in the exterior loop; -1: there is no such letter. */
TSL_FN RNA_NUMBER RNA(exterior_stem)(const RNA(energy) * e, int pair, int before, int after) {
  const RNA_NUMBER end = before >= 0 && after >= 0 ? e->exterior_end[pair][before][after]
                         : before >= 0             ? e->dangle5[pair][before]
                         : after >= 0              ? e->dangle3[pair][after]
                                                   : 0;
  return end + RNA(end)(e, pair);
}
