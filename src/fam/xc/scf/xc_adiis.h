/**
 * @file xc_adiis.h
 * Weights of earlier densities whose mixture has the lowest energy, by a model of second order.
 *
 *   f(c) = 2 sum_i c_i <D_i - D_n|F_n> + sum_ij c_i c_j <D_i - D_n|F_j - F_n>,
 *   c_i >= 0,  sum_i c_i = 1
 *
 * D_n is the newest density, F_i the Fock matrix of D_i; spins are summed. Exact for Hartree-Fock.
 *
 * Source: X. Hu, W. Yang, J. Chem. Phys. 132 (2010) 054109, eqs. 7 and 8.
 */
#pragma once

#include <stdint.h>

enum { XC_ADIIS_MOST = 20 };

/**
 * A minimum of f. It is sought from each density alone, by exact steps between pairs of weights;
 * the lowest is taken.
 * @param[in]  n       1..XC_ADIIS_MOST
 * @param[in]  trace   [n][n]: <D_i|F_j>, the newest density first
 * @param[out] weight  [n]
 */
void xc_adiis_weights(int32_t n, const double trace[XC_ADIIS_MOST][XC_ADIIS_MOST],
                      double weight[XC_ADIIS_MOST]);
