/**
 * @file survivors.h
 * A rank is silent: the others save what they have before the job ends (heartbeat.h).
 *
 * Who is silent cannot take part in anything, so those that live meet on rank 0 by messages and go
 * on in a communicator of their own, in which the checkpoint is written as any other. What the
 * silent rank has finished since the last checkpoint is not in it: it will be computed again.
 * Families that save between phases have all on rank 0, which writes alone.
 *
 * Nothing can be saved when rank 0 is silent, of a WAVE family, whose other tiles need those of the
 * silent rank, outside a phase, or when a rank waits inside MPI: then the last checkpoint stands.
 */
#pragma once

#include "session.h"

/**
 * Not collective on session->comm: those that can save meet by messages. After a phase that has
 * ended with TSL_ERR_LOST. Called by each rank that has, whether it can save something or not; sets
 * session->rescued on rank 0.
 */
void tsl_survivors_save(tsl_session *session, tsl_out *out, tsl_phase *phase);
