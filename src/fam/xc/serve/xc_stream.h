/**
 * @file xc_stream.h
 * Bytes to and from whoever asks: a socket, or standard input and output. Nothing waits for ever
 * but for the next question: whole messages are taken from a buffer, and who does not read is given
 * up.
 */
#pragma once

#include "service.h"

/** Release with xc_stream_close. */
typedef struct xc_stream {
  int in, out; /**< -1: closed */
  bool socket; /**< in and out are one */
  bool ended;  /**< the other side writes no more */
  char *bytes; /**< [room] from tsl_alloc; those of [at, n) are not taken yet */
  int64_t at, n, room;
  char name[256]; /**< for messages */
} xc_stream;

/** Standard input and output, which stay open. */
void xc_stream_standard(xc_stream *stream);

/** Where to connect to. */
typedef struct xc_address {
  const char *option; /**< that gives it, for messages */
  const char *text;   /**< "unix:NAME" (/tmp/ipi_NAME; with '/': that path) or "tcp:HOST:PORT" */
  bool remote;        /**< HOST may be another than this */
  double wait;        /**< s that the server may take to appear */
} xc_address;

/**
 * Connect.
 * @return TSL_ERR_INPUT: no such address, or not of this host; TSL_ERR_IO: nobody listens there;
 *         TSL_ERR_STOPPED: a signal came meanwhile
 */
tsl_err xc_stream_connect(const xc_address *address, xc_stream *stream);

/** Wait for more bytes, at most so many seconds, or until a signal comes.
 *  @return TSL_ERR_IO: the connection is broken; an end is told by ended */
tsl_err xc_stream_wait(xc_stream *stream, double seconds);

/** Bytes not taken yet. */
static inline int64_t xc_stream_left(const xc_stream *stream) {
  return stream->n - stream->at;
}

/** The next n bytes, or NULL when there are fewer; valid until the next wait. */
static inline const char *xc_stream_peek(const xc_stream *stream, int64_t n) {
  return xc_stream_left(stream) < n ? NULL : stream->bytes + stream->at;
}

/** Take n bytes, of which there are as many. */
static inline void xc_stream_take(xc_stream *stream, int64_t n) {
  stream->at += n;
}

/** Write n bytes. @return TSL_ERR_IO: nobody reads, or not within a minute */
tsl_err xc_stream_put(xc_stream *stream, const void *bytes, int64_t n);

void xc_stream_close(xc_stream *stream);
