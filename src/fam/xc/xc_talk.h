/**
 * @file xc_talk.h
 * A served job (tsl_service): who asks, what is asked, and what is kept from question to question.
 * Root only.
 */
#ifndef TSL_FAM_XC_XC_TALK_H
#define TSL_FAM_XC_XC_TALK_H

#include "xc_family.h"
#include "xc_ipi.h"
#include "xc_token.h"

struct json_t;

/** QCSchema, an object a line (xc_lines.c). */
typedef struct xc_lines {
  struct json_t *input; /**< the line as it came; NULL: it was no JSON */
  int64_t number;       /**< of the line, from 1 */
  int64_t searched;     /**< bytes of the stream in which there is no end of a line */
  bool skips;           /**< the rest of a line that is too long */
} xc_lines;

/** Forget the line. */
void xc_lines_clear(xc_lines *lines);

/** A protocol. */
struct xc_talk;
typedef struct xc_protocol {
  tsl_err (*open)(struct xc_talk *talk, const tsl_deck *deck, const xc_deck *s,
                  const tsl_serving *how);
  /** Fills asked and model. */
  tsl_err (*next)(struct xc_talk *talk, double seconds, tsl_asked *asked);
  tsl_err (*answer)(struct xc_talk *talk, const tsl_problem *problem, const tsl_summary *summary,
                    tsl_err failed);
  bool deck_molecule; /**< the deck has the atoms */
} xc_protocol;

extern const xc_protocol xc_protocol_ipi, xc_protocol_lines;

/** A set of functions that was read for an earlier question. */
typedef struct xc_kept_set {
  char name[XC_ASKED]; /**< as it was asked for; empty: there is none */
  xc_set set;
} xc_kept_set;

/** tsl_problem.talk. */
typedef struct xc_talk {
  const xc_protocol *protocol;
  xc_stream stream;
  xc_ipi ipi;
  char token[XC_TOKEN_MOST + 1]; /**< that the server has to show; empty: none */
  xc_lines lines;
  char what[64];       /**< the question, for messages */
  xc_molecule asked;   /**< atoms, charge, multiplicity */
  xc_model model;      /**< what else is asked for; empty: as the deck says */
  xc_kept_set sets[2]; /**< of orbitals, for fitting */
  xc_last last;        /**< the last geometries' densities */
  bool again;          /**< the question has not converged from them: it begins with atoms now */
} xc_talk;

static inline xc_talk *xc_talk_of(const tsl_problem *problem) {
  return (xc_talk *)problem->talk;
}

extern const tsl_service xc_service;

/** The atoms that the deck has. */
tsl_err xc_load_atoms(const tsl_deck *deck, const xc_deck *s, xc_molecule *molecule,
                      xc_model *model);

#endif
