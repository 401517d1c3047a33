/* The client's side of a socket: names as i-PI has them, this host alone unless told otherwise. */
#include "xc_stream.h"

#include "clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* An address that connect takes. */
typedef struct place {
  union {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_storage room;
  } at;
  socklen_t length;
} place;

static tsl_err find_unix(const xc_address *a, const char *name, place *p) {
  tsl_err err = TSL_OK;
  struct sockaddr_un *local = &p->at.local;
  const char *folder = strchr(name, '/') != NULL ? "" : "/tmp/ipi_";
  local->sun_family = AF_UNIX;
  if (strlen(folder) + strlen(name) >= sizeof local->sun_path || name[0] == '\0')
    TSL_FAIL(TSL_ERR_INPUT, "%s %s: a socket's path has 1 to %zu bytes", a->option, a->text,
             sizeof local->sun_path - 1);
  memcpy(local->sun_path, folder, strlen(folder)); /* the rest is zero */
  memcpy(local->sun_path + strlen(folder), name, strlen(name));
  p->length = (socklen_t)sizeof *local;
done:
  return err;
}

static bool is_this_host(const struct sockaddr *at) {
  if (at->sa_family == AF_INET)
    return ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr) >> 24 == 127;
  return at->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr);
}

static tsl_err find_tcp(const xc_address *a, const char *name, place *p) {
  tsl_err err = TSL_OK;
  char host[256];
  const char *colon = strrchr(name, ':');
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *list = NULL, *one = NULL;
  if (colon == NULL || colon == name || colon[1] == '\0' || colon - name >= (long)sizeof host)
    TSL_FAIL(TSL_ERR_INPUT, "%s %s: tcp:HOST:PORT is expected", a->option, a->text);
  (void)snprintf(host, sizeof host, "%.*s", (int)(colon - name), name);
  const int code = getaddrinfo(host, colon + 1, &hints, &list);
  if (code != 0) TSL_FAIL(TSL_ERR_INPUT, "%s %s: %s", a->option, a->text, gai_strerror(code));
  for (one = list; one != NULL && !a->remote && !is_this_host(one->ai_addr);) one = one->ai_next;
  if (one == NULL)
    TSL_FAIL(TSL_ERR_INPUT,
             "%s %s: another host; take a tunnel, ssh -L, or with --ipi allow it by serve: "
             "{remote: yes, token: FILE}, with nothing encrypted",
             a->option, a->text);
  memcpy(&p->at, one->ai_addr, one->ai_addrlen);
  p->length = one->ai_addrlen;
done:
  if (list != NULL) freeaddrinfo(list);
  return err;
}

static tsl_err find_place(const xc_address *a, place *p) {
  tsl_err err = TSL_OK;
  if (strncmp(a->text, "unix:", 5) == 0)
    TSL_TRY(find_unix(a, a->text + 5, p));
  else if (strncmp(a->text, "tcp:", 4) == 0)
    TSL_TRY(find_tcp(a, a->text + 4, p));
  else
    TSL_FAIL(TSL_ERR_INPUT, "%s %s: unix:NAME or tcp:HOST:PORT is expected", a->option, a->text);
done:
  return err;
}

/* May the server be on its way? */
static bool may_come(int code) {
  return code == ENOENT || code == ECONNREFUSED || code == EAGAIN;
}

tsl_err xc_stream_connect(const xc_address *a, xc_stream *s) {
  static const struct timespec nap = {0, 50000000};
  tsl_err err = TSL_OK;
  place p = {.length = 0};
  const double since = tsl_now();
  const int on = 1;
  int fd = -1, code = 0;
  TSL_TRY(find_place(a, &p));
  for (bool done = false; !done;) {
    fd = socket(p.at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) TSL_FAIL(TSL_ERR_IO, "%s %s: %s", a->option, a->text, strerror(errno));
    code = connect(fd, &p.at.any, p.length) == 0 ? 0 : errno;
    done = code == 0 || !may_come(code) || tsl_now() - since >= a->wait;
    if (code != 0) (void)close(fd), fd = -1;
    if (!done && nanosleep(&nap, NULL) != 0)
      TSL_FAIL(TSL_ERR_STOPPED, "%s %s: stopped by a signal while waiting for a server", a->option,
               a->text);
  }
  if (code != 0) TSL_FAIL(TSL_ERR_IO, "%s %s: no server: %s", a->option, a->text, strerror(code));
  if (p.at.any.sa_family != AF_UNIX)
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, (socklen_t)sizeof on);
  *s = (xc_stream){.in = fd, .out = fd, .socket = true};
  (void)snprintf(s->name, sizeof s->name, "%s", a->text);
done:
  return err;
}
