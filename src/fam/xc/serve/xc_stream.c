/* A buffer before a descriptor that is asked with poll; writing in pieces that do not wait. */
#include "xc_stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void xc_stream_standard(xc_stream *s) {
  *s = (xc_stream){.in = STDIN_FILENO, .out = STDOUT_FILENO, .name = "standard input"};
}

/* Room for more bytes, those taken forgotten. */
static tsl_err make_room(xc_stream *s, int64_t more) {
  tsl_err err = TSL_OK;
  if (s->at > 0) {
    memmove(s->bytes, s->bytes + s->at, (size_t)(s->n - s->at));
    s->n -= s->at, s->at = 0;
  }
  TSL_TRY(tsl_grow((void **)&s->bytes, s->n, more, &s->room, 1, "what is asked"));
done:
  return err;
}

tsl_err xc_stream_wait(xc_stream *s, double seconds) {
  enum { PIECE = 1 << 16 };
  tsl_err err = TSL_OK;
  struct pollfd p = {.fd = s->in, .events = POLLIN};
  ssize_t got = 0;
  if (s->ended || poll(&p, 1, (int)(1e3 * seconds)) <= 0) goto done;
  TSL_TRY(make_room(s, PIECE));
  got = read(s->in, s->bytes + s->n, PIECE);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) goto done;
  if (got < 0) TSL_FAIL(TSL_ERR_IO, "%s: %s", s->name, strerror(errno));
  s->ended = got == 0;
  s->n += got;
done:
  return err;
}

/* What the kernel takes now. */
static ssize_t put_piece(const xc_stream *s, const char *bytes, int64_t n) {
  enum { PIPE = 4096 }; /* PIPE_BUF: what a pipe that poll calls writable takes at once */
  if (s->socket) return send(s->out, bytes, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
  return write(s->out, bytes, (size_t)(n < PIPE ? n : PIPE));
}

tsl_err xc_stream_put(xc_stream *s, const void *bytes, int64_t n) {
  enum { PATIENCE = 60000 }; /* ms without a byte read there */
  tsl_err err = TSL_OK;
  for (int64_t at = 0; at < n;) {
    struct pollfd p = {.fd = s->out, .events = POLLOUT};
    const int ready = poll(&p, 1, PATIENCE);
    if (ready == 0) TSL_FAIL(TSL_ERR_IO, "%s: the other side does not read the answer", s->name);
    const ssize_t put = ready > 0 ? put_piece(s, (const char *)bytes + at, n - at) : -1;
    if (put < 0 && errno != EINTR && errno != EAGAIN)
      TSL_FAIL(TSL_ERR_IO, "%s: the answer cannot be sent: %s", s->name, strerror(errno));
    if (put > 0) at += put;
  }
done:
  return err;
}

void xc_stream_close(xc_stream *s) {
  if (s->socket && s->in >= 0) (void)close(s->in);
  tsl_free(s->bytes);
  *s = (xc_stream){.in = -1, .out = -1};
}
