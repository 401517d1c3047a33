/**
 * @file xc_mdi.h
 * The MolSSI Driver Interface over TCP, the side that computes (an engine). Sources: T. A. Barnes
 * et al., Comput. Phys. Commun. 261 (2021) 107688; the MDI Standard,
 * https://molssi-mdi.github.io, for the commands; what version 1.4 of the MDI Library sends, for
 * the bytes.
 *
 * The engine connects. Each side sends its version, three integers, and from 1.4 on how long its
 * names and commands are. Then the driver sends commands, texts filled up with zeros, and numbers
 * where a command has some; the engine sends what is asked for. Each of these is a message: four
 * integers, an error, a kind (0), a type and a count, and so many values, in the host's byte order
 * and atomic units. An error ends the message; here it says that there is no result.
 *
 * There is one node, @DEFAULT. What is computed is asked for: <ENERGY, <PE, <FORCES, <CHARGES and
 * <LATTICE_FORCES make a problem of the places when none of them is answered yet. Charges around
 * the molecule are >NLATTICE, >CLATTICE and >LATTICE. A molecule has no cell: >CELL and
 * >CELL_DISPL, which drivers send unasked, are taken and not used, which is told once.
 */
#pragma once

#include "xc_stream.h"

/** Most charges of a lattice. */
enum { XC_MDI_LATTICE_MOST = 1 << 24 };

/** Where the conversation is. */
typedef enum xc_mdi_step { XC_MDI_VERSION, XC_MDI_LENGTHS, XC_MDI_COMMANDS } xc_mdi_step;

/** Release arrays with xc_mdi_clear. */
typedef struct xc_mdi {
  xc_stream *stream;                   /**< not owned */
  int32_t step;                        /**< xc_mdi_step */
  int32_t name_length, command_length; /**< of the texts of both sides */
  int32_t data_of;                     /**< command whose numbers come next; -1: a command comes */
  int32_t waiting;                     /**< command that waits for the result; -1: none */
  bool cell_told;
  int64_t n_atoms;
  int32_t *elements;       /**< [n_atoms] atomic numbers */
  double *places;          /**< [n_atoms][3] bohr */
  int64_t n_lattice;       /**< charges around */
  double *lattice_places;  /**< [n_lattice][3] bohr */
  double *lattice_charges; /**< [n_lattice] */
  double charge;           /**< of the molecule */
  int32_t multiplicity;
  bool answered;          /**< what follows is of the places and charges */
  double energy;          /**< hartree */
  double *forces;         /**< [n_atoms][3] hartree/bohr */
  double *charges;        /**< [n_atoms] of the atoms, e */
  double *lattice_forces; /**< [n_lattice][3] hartree/bohr */
} xc_mdi;

/** Take elements and places, [n_atoms], which are copied, and send the first message. */
tsl_err xc_mdi_open(xc_stream *stream, int64_t n_atoms, const int32_t *elements,
                    const double (*places)[3], xc_mdi *mdi);

/**
 * Answer commands until a result is asked for, or the end, at most so many seconds.
 * @return TSL_ERR_INPUT: an unknown command, numbers of another type or count, another molecule,
 *         places that are not finite; TSL_ERR_IO: the other side is gone
 */
tsl_err xc_mdi_next(xc_mdi *mdi, double seconds, tsl_asked *asked);

/** The result is there: send what waits for it. */
tsl_err xc_mdi_answer(xc_mdi *mdi);

/** There is none: what waits gets an error. The next question is one anew. */
tsl_err xc_mdi_fail(xc_mdi *mdi);

void xc_mdi_clear(xc_mdi *mdi);
