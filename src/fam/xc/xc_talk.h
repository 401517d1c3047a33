/**
 * @file xc_talk.h
 * A served job (tsl_service): who asks, what is asked, and what is kept from question to question.
 * Root only.
 */
#pragma once

#include "xc_family.h"
#include "xc_frames.h"
#include "xc_ipi.h"
#include "xc_mdi.h"
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

/** Fields of a series: what is asked for, then what is found, a row a frame. */
enum {
  XC_SERIES_FRAMES,
  XC_SERIES_NUMBERS,
  XC_SERIES_PLACES,
  XC_SERIES_COMPUTED,
  XC_SERIES_CONVERGED,
  XC_SERIES_ITERATIONS,
  XC_SERIES_ENERGIES,
  XC_SERIES_FREE,
  XC_SERIES_COMMUTATORS,
  XC_SERIES_DIPOLES,
  XC_SERIES_CHARGES,
  XC_SERIES_SHARES,
  XC_SERIES_GRADIENTS,
  XC_SERIES_ON_CHARGES,
  XC_SERIES_MARK,
  XC_N_SERIES
};

/** Frames of a file, in turn (xc_series.c). */
typedef struct xc_frame_series {
  xc_frames frames;
  tsl_field fields[XC_N_SERIES];  /**< of the whole series; their data is the runtime's */
  bool gradient, smeared, shares; /**< which fields there are */
  int64_t n_charges;
  int64_t row;          /**< of the frame that is asked for */
  char input[XC_INPUT]; /**< how the input of the last was read */
  int64_t answered;     /**< by this job */
} xc_frame_series;

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

extern const xc_protocol xc_protocol_ipi, xc_protocol_lines, xc_protocol_mdi, xc_protocol_series;
extern const tsl_series xc_series;

/** What sets are read for: orbitals, fitting, effective core potentials (xc.ecp). */
typedef enum xc_set_kind { XC_SET_BASIS, XC_SET_FITTING, XC_SET_ECP, XC_N_SETS } xc_set_kind;

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
  xc_mdi mdi;
  char token[XC_TOKEN_MOST + 1]; /**< that the server has to show; empty: none */
  xc_lines lines;
  xc_frame_series series;
  char what[64];     /**< the question, for messages */
  xc_molecule asked; /**< atoms, charge, multiplicity */
  xc_model model;    /**< what else is asked for; empty: as the deck says */
  xc_kept_set sets[XC_N_SETS];
  xc_last last; /**< the last geometries' densities */
  bool again;   /**< the question has not converged from them: it begins with atoms now */
} xc_talk;

static inline xc_talk *xc_talk_of(const tsl_problem *problem) {
  return (xc_talk *)problem->talk;
}

/** The energy whose derivative the forces are: of smeared fields the free one. */
double xc_force_energy(const xc_scf *scf);

extern const tsl_service xc_service;

/** What family.describe says of a whole series. */
void xc_series_describe(const xc_talk *talk, char *text, size_t size);

/** The fields of a series have come from a checkpoint: are they of its frames?
 *  @return TSL_ERR_INPUT */
tsl_err xc_series_restore(xc_talk *talk, const tsl_problem *all);

/** The frames that the deck asks for. */
tsl_err xc_load_frames(const tsl_deck *deck, const xc_deck *s, xc_frames *frames);

/** The atoms that the deck has. */
tsl_err xc_load_atoms(const tsl_deck *deck, const xc_deck *s, xc_molecule *molecule,
                      xc_model *model);
