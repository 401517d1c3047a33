/* Addresses of this host's interfaces, their exchange among the ranks, and datagrams sent to and
 * received from them. */
#include "heartbeat_post.h"

#include "collective_error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_DOORS = sizeof((tsl_doors *)0)->address / sizeof(uint32_t) };

/* ---- where this rank is */

static bool is_door(const struct ifaddrs *one) {
  const unsigned wanted = IFF_UP | IFF_RUNNING;
  return one->ifa_addr != NULL && one->ifa_addr->sa_family == AF_INET &&
         (one->ifa_flags & (wanted | IFF_LOOPBACK)) == wanted;
}

/* A host without any network still has ranks that reach each other. */
static void list_doors(tsl_doors *mine) {
  struct ifaddrs *all = NULL;
  if (getifaddrs(&all) != 0) return;
  for (const struct ifaddrs *one = all; one != NULL && mine->n < MOST_DOORS; one = one->ifa_next)
    if (is_door(one))
      mine->address[mine->n++] = ((const struct sockaddr_in *)one->ifa_addr)->sin_addr.s_addr;
  freeifaddrs(all);
}

static tsl_err open_socket(tsl_post *post, tsl_doors *mine) {
  tsl_err err = TSL_OK;
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
  socklen_t length = sizeof any;
  post->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  post->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (post->fd < 0 || post->bell < 0 ||
      bind(post->fd, (const struct sockaddr *)&any, sizeof any) != 0 ||
      getsockname(post->fd, (struct sockaddr *)&any, &length) != 0)
    TSL_FAIL(TSL_ERR_IO, "no socket for heartbeats: %s", strerror(errno));
  mine->port = any.sin_port;
  list_doors(mine);
done:
  return err;
}

static void add_loopback(tsl_doors *doors) {
  if (doors->n == MOST_DOORS) doors->n--;
  doors->address[doors->n++] = htonl(INADDR_LOOPBACK);
}

tsl_err tsl_post_open(MPI_Comm comm, const tsl_placement *placements, tsl_post *post) {
  tsl_err err = TSL_OK;
  int rank = 0, size = 1;
  tsl_doors mine = {.n = 0};
  *post = (tsl_post){.fd = -1, .bell = -1};
  TSL_MPI(MPI_Comm_rank(comm, &rank));
  TSL_MPI(MPI_Comm_size(comm, &size));
  TSL_COLLECTIVE_TRY(comm, open_socket(post, &mine));
  TSL_COLLECTIVE_TRY(comm,
                     tsl_alloc(size, sizeof *post->doors, "heartbeats", (void **)&post->doors));
  TSL_COLLECTIVE_TRY(comm,
                     tsl_alloc(size, sizeof *post->known, "heartbeats", (void **)&post->known));
  TSL_MPI(MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, post->doors, (int)sizeof mine, MPI_BYTE,
                        comm));
  for (int r = 0; r < size; r++)
    if (placements[r].node == placements[rank].node) add_loopback(&post->doors[r]);
done:
  return err;
}

void tsl_post_close(tsl_post *post) {
  if (post->fd >= 0) (void)close(post->fd);
  if (post->bell >= 0) (void)close(post->bell);
  TSL_FREE_ALL(post->doors, post->known);
  *post = (tsl_post){.fd = -1, .bell = -1};
}

/* ---- datagrams */

static void send_to(const tsl_post *post, const struct sockaddr_in *to, const void *bytes,
                    size_t n) {
  (void)sendto(post->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)to,
               sizeof *to);
}

void tsl_post_send(const tsl_post *post, int to, const void *bytes, size_t n) {
  const tsl_doors *doors = &post->doors[to];
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = doors->port};
  if (post->known[to].sin_port != 0) {
    send_to(post, &post->known[to], bytes, n);
    return;
  }
  for (int k = 0; k < doors->n && k < MOST_DOORS; k++) {
    address.sin_addr.s_addr = doors->address[k];
    send_to(post, &address, bytes, n);
  }
}

void tsl_post_wait(const tsl_post *post, double seconds) {
  uint64_t rings;
  struct pollfd here[] = {{.fd = post->fd, .events = POLLIN}, {.fd = post->bell, .events = POLLIN}};
  if (seconds > 0) (void)poll(here, 2, (int)(1e3 * seconds) + 1);
  if (here[1].revents != 0) (void)!read(post->bell, &rings, sizeof rings);
}

void tsl_post_ring(const tsl_post *post) {
  const uint64_t one = 1;
  (void)!write(post->bell, &one, sizeof one);
}

bool tsl_post_take(const tsl_post *post, void *bytes, size_t n, struct sockaddr_in *from) {
  char buffer[256];
  for (;;) {
    socklen_t length = sizeof *from;
    const ssize_t got = recvfrom(post->fd, buffer, sizeof buffer, MSG_DONTWAIT | MSG_TRUNC,
                                 (struct sockaddr *)from, &length);
    if (got < 0 && errno != EINTR && errno != ECONNREFUSED) return false;
    if (got == (ssize_t)n && n <= sizeof buffer && length == sizeof *from) {
      memcpy(bytes, buffer, n);
      return true;
    }
  }
}
