/**
 * @file question.h
 * A problem that is asked of a family's conversation (tsl_service): the stages of a run between
 * deck and output. What a served job and a run of a series share.
 */
#pragma once

#include "record.h"
#include "service.h"

/** Collective on session->comm. Meet whoever asks; session->talk is set on the root. */
tsl_err tsl_question_open(tsl_session *session, const tsl_serving *how);

/** Collective on session->comm. Wait for the next question. @param[out] asked  the same on all */
tsl_err tsl_question_next(tsl_session *session, tsl_asked *asked);

/** Collective on session->comm. Make the problem, compute it, ask for its summary (rank 0). */
tsl_err tsl_question_compute(tsl_session *session, tsl_record *record);

/** Collective on session->comm. Give it, or why there is none. */
tsl_err tsl_question_answer(tsl_session *session, const tsl_summary *summary, tsl_err failed);

/** May what failed for this question be right for the next? Other errors are the job's. */
bool tsl_question_alone(tsl_err err);

/** Not collective. End the conversation; none is accepted. */
void tsl_question_close(tsl_session *session);
