/**
 * @file heartbeat_post.h
 * How ranks reach each other beside MPI: datagrams (UDP, IPv4), which any thread may send.
 *
 * Each rank tells the others every address that its host has. Until a rank has been heard of,
 * datagrams go to all of them, then to the one that it was heard from: hosts may have networks that
 * do not reach each other, and equal addresses in private ones. The loopback is used within a host
 * alone.
 */
#pragma once

#include "placement.h"

#include <mpi.h>

#include <netinet/in.h>

/** Where a rank may be reached: plain data, sent as bytes; network byte order. */
typedef struct tsl_doors {
  uint32_t address[8]; /**< [n] */
  uint16_t port;
  uint16_t n;
} tsl_doors;

typedef struct tsl_post {
  int fd;                    /**< -1: not open */
  int bell;                  /**< wakes tsl_post_wait; -1: not open */
  tsl_doors *doors;          /**< [size of comm] */
  struct sockaddr_in *known; /**< [size] where a rank was heard from; port 0: nowhere so far */
} tsl_post;

/** Collective on comm, and agrees. Open this rank's socket and exchange the ranks' addresses.
 *  @param[in]  placements  shape [size of comm]
 *  @param[out] post   close with tsl_post_close, also when it fails */
tsl_err tsl_post_open(MPI_Comm comm, const tsl_placement *placements, tsl_post *post);
/** Not collective. Close the socket and free the addresses. */
void tsl_post_close(tsl_post *post);

/** Send without waiting; what cannot be sent is lost, as datagrams are. */
void tsl_post_send(const tsl_post *post, int to, const void *bytes, size_t n);

/** Wait for a datagram or tsl_post_ring, for so many seconds at most. */
void tsl_post_wait(const tsl_post *post, double seconds);

/** Any thread: wake the one that waits. */
void tsl_post_ring(const tsl_post *post);

/** Take a datagram of exactly n bytes, if one is here; others are thrown away. */
bool tsl_post_take(const tsl_post *post, void *bytes, size_t n, struct sockaddr_in *from);
