/**
 * @file rna_structure.h
 * Secondary structures: their energy loop by loop, and as text.
 */
#pragma once

#include "rna_energy.h"

/**
 * Energy of a structure, from its letters alone.
 * @param[in]  letters  [n] as in rna_energy.h
 * @param[in]  partner  [n] whom a letter pairs with, -1: nobody
 * @param[out] energy   RNA_HIGH and above where a loop is forbidden
 * @return 0, or 1 where partner is no structure: pairs cross or are no pairs
 */
int rna_structure_energy(const rna_energy *e, const int32_t *sizes, const uint8_t *letters,
                         int64_t n, const int64_t *partner, int64_t *energy);

/** Dots and brackets. @param[out] text  [n], not ended */
void rna_structure_text(const int64_t *partner, int64_t n, char *text);
