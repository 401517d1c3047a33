/* A protocol at one end of a pair of sockets, a test at the other. */
#pragma once

#include "xc_ipi.h"
#include "xc_mdi.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* Both ends, of which the test's is there; one of the protocols. */
typedef struct talk {
  xc_stream stream;
  xc_ipi ipi;
  xc_mdi mdi;
  int there;
} talk;

/* Of the protocol that is tested: open and close a talk; what is asked next. */
static void open_talk(talk *t);
static void close_talk(talk *t);
static tsl_err next(talk *t, tsl_asked *asked);

static void open_ends(talk *t) {
  int ends[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  t->stream = (xc_stream){.in = ends[0], .out = ends[0], .socket = true, .name = "test"};
  t->there = ends[1];
}

static void close_ends(talk *t) {
  xc_stream_close(&t->stream);
  (void)close(t->there);
}

static void say(talk *t, const void *bytes, size_t n) {
  assert_int_equal(write(t->there, bytes, n), n);
}

/* The other side ends after so many bytes. */
static tsl_err cut_off(const char *bytes, size_t n, tsl_asked *asked) {
  talk t;
  open_talk(&t);
  say(&t, bytes, n);
  (void)shutdown(t.there, SHUT_WR);
  const tsl_err err = next(&t, asked);
  close_talk(&t);
  return err;
}

/* Bytes one at a time, which ask with the last one. */
static void byte_by_byte(const char *bytes, size_t n) {
  talk t;
  tsl_asked asked;
  open_talk(&t);
  for (size_t k = 0; k < n; k++) {
    say(&t, bytes + k, 1);
    assert_int_equal(next(&t, &asked), TSL_OK);
    assert_int_equal(asked, k + 1 == n ? TSL_ASKED_PROBLEM : TSL_ASKED_NOTHING);
  }
  close_talk(&t);
}
