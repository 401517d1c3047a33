/**
 * @file service.h
 * A family's part of a served job: the contract of `tesela serve`.
 */
#pragma once

#include "contract.h"

TSL_C_BEGIN

/** Who asks: i-PI's protocol or MDI's on a socket; QCSchema, an object a line; the deck itself, of
 *  a series (tsl_series). */
typedef enum tsl_protocol {
  TSL_PROTOCOL_IPI,
  TSL_PROTOCOL_MDI,
  TSL_PROTOCOL_QCSCHEMA,
  TSL_PROTOCOL_SERIES
} tsl_protocol;

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
 * A run of many problems that the deck names (`tesela run`), and of one output: a conversation with
 * the deck. Its fields have what is asked for and what is found, a row a problem, which answer
 * fills; all are the root's, whole in memory, of roles OUT and STATE, so that they are what a
 * checkpoint has. After a restart family.restore sees whether they are of the deck's problems, and
 * next goes on with the first one that is not computed; where there is none, with the last again.
 */
typedef struct tsl_series {
  /** REQUIRED. Does the deck ask for one? Any rank, no error. */
  bool (*asked)(const tsl_deck *deck);
  /** REQUIRED, root only, once after open: add the fields. Their data stays where it is.
   *  @param[in,out] all  with family and talk alone; family.describe and restore are called with
   *                      it, too */
  tsl_err (*fields)(void *talk, tsl_problem *all);
  /** REQUIRED, root only, after answer: a line about what was found, without its end; empty: the
   *  problem is asked for once more. */
  void (*tell)(const void *talk, char *text, size_t size);
  /** REQUIRED, root only, at the end: lines and verdict of the whole. */
  tsl_err (*summary)(const void *talk, tsl_summary *summary);
} tsl_series;

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
  /** OPTIONAL, default none. */
  const tsl_series *series;
} tsl_service;

TSL_C_END
