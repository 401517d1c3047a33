/**
 * @file service.h
 * A family's part of a served job: the contract of `tesela serve`.
 */
#ifndef TSL_CORE_SERVICE_H
#define TSL_CORE_SERVICE_H

#include "contract.h"

TSL_C_BEGIN

/** Protocols of `tesela serve`: i-PI's on a socket; QCSchema, an object a line. */
typedef enum tsl_protocol { TSL_PROTOCOL_IPI, TSL_PROTOCOL_QCSCHEMA } tsl_protocol;

/** How a served job is talked to, as the command line says. */
typedef struct tsl_serving {
  tsl_protocol protocol;
  const char *address; /**< of a socket; NULL: standard input and output */
} tsl_serving;

typedef enum tsl_asked {
  TSL_ASKED_NOTHING, /**< nothing yet */
  TSL_ASKED_PROBLEM, /**< a problem, which create makes next */
  TSL_ASKED_END      /**< there will be no more */
} tsl_asked;

/**
 * A job that answers one question after another (`tesela serve`): each is a problem, made by
 * family.create with tsl_problem.talk, which says what the deck leaves open and holds what the
 * family keeps from question to question. Root only.
 *
 *   open -> { next -> create, units, phases, summary -> answer } -> close
 */
typedef struct tsl_service {
  /** REQUIRED. Meet whoever asks. @return TSL_ERR_INPUT naming the key or the address */
  tsl_err (*open)(tsl_deck *deck, const tsl_serving *how, void **talk);
  /** REQUIRED. Wait for the next question, at most so many seconds or until a signal comes.
   *  @return TSL_ERR_INPUT: what came makes no sense and the conversation is over; TSL_ERR_IO: the
   *          other side is gone */
  tsl_err (*next)(void *talk, double seconds, tsl_asked *asked);
  /** REQUIRED. Tell the result, or why there is none.
   *  @param[in] problem  as after summary (finish, which writes files, is not called)
   *  @param[in] failed  not TSL_OK: problem is not to be looked at, the reason is this thread's
   *                     message
   *  @return an error when the conversation cannot go on */
  tsl_err (*answer)(void *talk, const tsl_problem *problem, const tsl_summary *summary,
                    tsl_err failed);
  /** REQUIRED. NULL accepted, sets NULL. */
  void (*close)(void **talk);
} tsl_service;

TSL_C_END
#endif
