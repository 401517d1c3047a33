/**
 * @file wave_edges.h
 * Which edges a rank's groups need and give, and their messages. Private to wave.c.
 */
#pragma once

#include "phase.h"

/** An edge on its way in or out of this rank. */
typedef struct tsl_edge {
  int64_t tile;        /**< whose edge it is */
  int64_t group;       /**< in: first group of this rank that needs it; out: group that makes it */
  int64_t bytes;       /**< of the message; 0: only the order matters */
  void *data;          /**< [bytes] while the message is under way */
  int32_t peer;        /**< in: the owner; out: first of the receivers */
  int32_t n_peers;     /**< out: receivers */
  int32_t stage;       /**< out: by when all receivers need it */
  MPI_Request request; /**< in */
} tsl_edge;

/** A group: neighbouring tiles of one stage on this rank that are not finished yet. */
typedef struct tsl_group {
  int64_t first, n;       /**< own[first..first + n) */
  int64_t in_lo, in_hi;   /**< range of edges.in */
  int64_t out_lo, out_hi; /**< range of edges.out */
} tsl_group;

/** All edges of a rank, sorted by group. */
typedef struct tsl_edges {
  int64_t *own; /**< [n_own] ids of this rank's tiles */
  int64_t n_own;
  tsl_group *groups; /**< [n_groups] */
  int64_t n_groups;
  tsl_edge *in, *out; /**< [n_in], [n_out] */
  int64_t n_in, n_out;
  int32_t *receivers; /**< ranks of out edges, peer is an index into it */
} tsl_edges;

/**
 * Not collective: every rank finds out for itself. List this rank's groups and edges of a phase.
 * @param[in]  room   tiles of one group at most
 * @param[out] edges  free with tsl_edges_clear
 */
tsl_err tsl_edges_make(const tsl_phase *phase, int rank, int64_t room, tsl_edges *edges);
/** Not collective. Post the receive of an edge. */
tsl_err tsl_edge_receive(tsl_edge *edge, MPI_Comm comm);

/** Not collective. Wait for edges still under way. @param[in,out] sends  shape [n] */
tsl_err tsl_edges_wait(MPI_Request *sends, int64_t n);

/** After a failure nobody may be listening: receives are cancelled, and the memory of sends that
 *  nobody took is left to the end of the program, which is near.
 *  @param[in,out] sends  of edges->out, in order */
void tsl_edges_drop(tsl_edges *edges, MPI_Request *sends);

/** Free all arrays and the data of edges in; none may be under way. */
void tsl_edges_clear(tsl_edges *edges);
