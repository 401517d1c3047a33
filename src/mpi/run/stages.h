/**
 * @file stages.h
 * The stages that run, plan and calibrate share. A stage that is collective agrees on its verdict.
 */
#pragma once

#include "session.h"

/** Collective on comm. Start with a duplicate of comm whose errors are returned. */
tsl_err tsl_session_open(MPI_Comm comm, const tsl_options *options, tsl_session *session);

/** Collective on session->comm. Root reads the deck, all ranks parse it; settings, output path. */
tsl_err tsl_session_deck(tsl_session *session);

/** Collective on session->comm. Devices and binding of all ranks; the compute thread and the heart
 *  start. Cards start beside what follows: their memory is not known yet. Without a deck: device
 *  auto. */
tsl_err tsl_session_machine(tsl_session *session);

/** Collective on session->comm. Wait until the devices have started; what ranks may use of their
 *  memory is in the table of ranks then.
 *  @return what kept a card from starting */
tsl_err tsl_session_memory(tsl_session *session);

/** Collective on session->comm. Root creates the problem, for the first one beside the start of
 *  cards (tsl_session_memory), and cuts the units; both are shared. */
tsl_err tsl_session_problem(tsl_session *session);

/** Collective on session->comm. Cut the units, or cut them anew. */
tsl_err tsl_session_units(tsl_session *session);

enum { TSL_FACTS = 4096 };

/** Root: what family.describe says of the problem, "" when it says nothing. */
void tsl_session_facts(const tsl_session *session, char facts[TSL_FACTS]);

/** Collective on session->comm. Open the backend's worker on this rank's device. */
tsl_err tsl_session_worker(tsl_session *session);

/** Collective on session->comm. Open it anew: nothing of the units that it has run is kept. */
tsl_err tsl_session_reopen(tsl_session *session);

/** Collective on session->comm. Cost model, who takes part, then the plan, the same on all ranks.
 *  Units are cut anew, finer, when slow ranks take part in a long run. */
tsl_err tsl_session_plan(tsl_session *session);

/** Collective on session->comm. What tsl_session_plan does once the cost model is there. */
tsl_err tsl_session_plan_known(tsl_session *session);

/** Collective on session->comm. Deal the units anew by session->run.plan, dynamic and gpu_share. */
tsl_err tsl_session_assign(tsl_session *session);

/** Root, not collective. Make the plan of the units anew and share nothing. */
tsl_err tsl_session_make_plan(tsl_session *session);

/** Rank 0: tsl_backend.pipeline_fill of a rank's device, 0 where it has none. */
double tsl_session_pipeline_fill(const tsl_session *s, int rank, bool *overlaps);

/** The fast side of a fixed share. @param[out] fast  shape [size] */
void tsl_session_sides(const tsl_session *session, bool *fast);

/** Ranks that take part. */
int tsl_session_parts(const tsl_session *session);

/** Bytes of the output's datasets. Root and others alike. */
int64_t tsl_session_output_bytes(const tsl_session *session);

/** Not collective. Worker, problem, units and plan go; deck, devices, threads and the cost model
 *  stay, for the next problem of a served job. In any state; this thread's error stays. */
void tsl_session_drop(tsl_session *session);

/** Collective on session->comm in MPI_Comm_free alone; after the alarm of heartbeat.h not at all,
 *  and nothing is freed. Free everything, in any state. */
void tsl_session_close(tsl_session *session);
