/**
 * @file result_writer.h
 * The way of a finished unit's slabs: into the file, to rank 0, or into the root's array.
 *
 * A streamed GATHER field goes to the file from the rank that computed it when the output is
 * independent (parallel HDF5), else by message to rank 0, which writes it. A GATHER field held in
 * memory always goes to rank 0. NaN and infinity are caught here.
 */
#pragma once

#include "out_h5.h"

typedef struct tsl_result_writer tsl_result_writer;

/** A parcel: the slabs of units on their way together. Owned by the caller, alive until
 *  tsl_message_sent; zeroed it holds nothing. */
typedef struct tsl_message {
  int64_t *ids; /**< of the units; also the header message */
  MPI_Request requests[2 * TSL_MAX_FIELDS];
  int n_requests;
} tsl_message;

/**
 * Not collective: comm is only remembered. Make this rank's side of the deliveries of a phase.
 * @param[in]  out       the output in its streaming stage; NULL: results are checked and dropped
 * @param[in]  units     all units, shape [n]; not owned
 * @param[out] delivery  free with tsl_result_writer_close
 */
tsl_err tsl_result_writer_open(MPI_Comm comm, tsl_problem *problem, tsl_out *out,
                               const tsl_unit *units, int64_t n, tsl_result_writer **delivery);
/** Not collective. Free the buffers of both sides; NULL accepted, sets NULL. */
void tsl_result_writer_close(tsl_result_writer **delivery);

/** Not collective, also where a parallel HDF5 writes. Take what of a unit's slabs is stored by this
 *  rank itself; part's slabs must not change until tsl_result_writer_flush was called: slabs that
 *  lie behind each other are written together. */
tsl_err tsl_result_writer_put(tsl_result_writer *delivery, const tsl_unit *unit,
                              const tsl_part *part);

/**
 * Not collective, and does not wait. Send to rank 0 what of the slabs of n units is stored there;
 * on rank 0 nothing. The slabs must not change until tsl_message_sent says so.
 * @param[in]  parts   shape [n]; of each field the slabs follow one another without gaps
 * @param[out] parcel  zeroed before
 */
tsl_err tsl_result_writer_send(tsl_result_writer *delivery, const tsl_unit *units, int64_t n,
                               const tsl_part *parts, tsl_message *parcel);

/** Not collective. Write what still waits for neighbours. */
tsl_err tsl_result_writer_flush(tsl_result_writer *delivery);

/** Are all messages of the parcel out of its buffers? */
tsl_err tsl_message_sent(tsl_message *parcel, bool *sent);

/** Free a parcel that may not have been sent, at the end of a failed run. */
void tsl_message_drop(tsl_message *parcel);

/**
 * Rank 0, not collective: take in one waiting parcel or end mark, if any.
 * @param[in]     drop  throw the data away (the run is being aborted)
 * @param[in,out] took  set when there was one
 */
tsl_err tsl_result_writer_serve(tsl_result_writer *delivery, bool drop, bool *took);

/** Not collective. Other ranks: say that no more comes, by a message. Rank 0: nothing. */
tsl_err tsl_result_writer_end(tsl_result_writer *delivery);

/** Rank 0: have all other ranks ended that are not gone (heartbeat.h)? Other ranks: true. */
bool tsl_result_writer_complete(const tsl_result_writer *delivery);

/** First of n values that the field may not have, or -1: NaN, and infinity unless the field is
 *  `infinite`. Integers are never bad. */
int64_t tsl_first_bad(const tsl_field *field, const void *data, int64_t n);

/** "NaN or infinity", or "NaN" where the field may be infinite. */
const char *tsl_bad_word(const tsl_field *field);
