/**
 * @file xc_ipi.h
 * i-PI's socket protocol, the side that computes. Source: M. Ceriotti, J. More, D. E. Manolopoulos,
 * Comput. Phys. Commun. 185 (2014) 1019, and the manual of i-PI, "Communication protocol".
 *
 * A message is a header of 12 characters and what belongs to it, in the host's byte order, atomic
 * units: STATUS is answered by NEEDINIT, READY or HAVEDATA; INIT has a number and a text, which
 * say nothing that matters here but a token, where one is asked for; POSDATA has a cell and its
 * inverse (nine numbers each, not looked at: a molecule has none), the number of atoms and their
 * places; GETFORCE is answered by FORCEREADY with the energy, the number of atoms, forces, the
 * virial sum r f (nine numbers) and a text of one zero byte, as servers differ in what they make of
 * more or of none; EXIT ends it, as does the end of the connection between two messages. The
 * protocol has no word for an error: the conversation ends.
 */
#pragma once

#include "xc_stream.h"

/** Release arrays with xc_ipi_clear. */
typedef struct xc_ipi {
  xc_stream *stream; /**< not owned */
  int64_t n_atoms;
  double (*places)[3]; /**< [n_atoms] of the last POSDATA, bohr */
  double energy;       /**< hartree */
  double (*forces)[3]; /**< [n_atoms] hartree/bohr */
  double virial[9];    /**< hartree */
  const char *token;   /**< that INIT must show (xc_token.h), not owned; NULL: none is asked for */
  bool started;        /**< INIT has come */
  bool answered;       /**< energy and forces are those of the places */
} xc_ipi;

/** @param[in] token  places and forces are refused before an INIT that shows it; NULL: none */
tsl_err xc_ipi_open(xc_stream *stream, int64_t n_atoms, const char *token, xc_ipi *ipi);

/**
 * Answer messages until places come, or the end, at most so many seconds.
 * @return TSL_ERR_INPUT: an unknown or misplaced message, no token or another, another number of
 *         atoms, places that are not finite; TSL_ERR_IO: the other side is gone
 */
tsl_err xc_ipi_next(xc_ipi *ipi, double seconds, tsl_asked *asked);

void xc_ipi_clear(xc_ipi *ipi);
