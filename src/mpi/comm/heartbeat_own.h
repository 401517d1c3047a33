/**
 * @file heartbeat_own.h
 * Shared by heartbeat.c and heartbeat_thread.c only.
 */
#pragma once

#include "heartbeat.h"
#include "heartbeat_post.h"
#include "heartbeat_watch.h"

#include <pthread.h>
#include <stdatomic.h>

typedef enum tsl_beat_kind {
  TSL_BEAT_SIGN,   /* of life */
  TSL_BEAT_ASKED,  /* for a sign */
  TSL_BEAT_MISSED, /* to rank 0: subject has been silent to the sender for seconds */
  TSL_BEAT_LOST,   /* to all: subject is taken for lost; the sender leads */
  TSL_BEAT_LEFT,   /* the sender ends in good order */
  TSL_BEAT_ENDED   /* to all that live: all is done that can be */
} tsl_beat_kind;

/* How far the main thread of a rank is after the alarm. */
typedef enum tsl_main_state { TSL_MAIN_DEAF, TSL_MAIN_ANSWERS, TSL_MAIN_DONE } tsl_main_state;

/* A datagram; the token keeps strangers and other jobs out. */
typedef struct tsl_beat {
  uint64_t token[2];
  int32_t kind, from, to, subject;
  int32_t state; /* tsl_main_state of the sender */
  float age;     /* s since what the sender knows to be in a checkpoint was done; -1: none */
  int64_t unit;
  double seconds;
} tsl_beat;

/** The heart of a process. The thread's, but for what is atomic. */
typedef struct tsl_heart {
  pthread_t thread;
  const tsl_placement *placements; /* [size], not owned */
  int rank, size;
  double patience;
  uint64_t token[2];
  tsl_post post;
  tsl_watch watch;
  double next;    /* tsl_now() of the next beat */
  double started; /* tsl_now(); 0: it has been told who was never heard of */
  double found;   /* the first silent rank was found; 0: none */
  double asked;   /* rank 0 was first told of the rank before this one; 0: not */
  double look;    /* tsl_now() of the next look at the others */
  int leader;     /* who speaks for those that live; after the alarm */
  double raised;  /* the alarm was */
  double until;   /* the process ends then */
  bool extended;  /* until has been put off, as the main thread has answered */
  atomic_bool stop, alarm, leads, ending, ended;
  atomic_int state;    /* tsl_main_state */
  atomic_bool *silent; /* [size] */
  atomic_bool *mute;   /* [size] on the leader: lives, but takes part in nothing any more */
  int *states;         /* [size] tsl_main_state of the others */
} tsl_heart;

/** What the thread does until heart->stop. */
void *tsl_heart_thread(void *heart);

/** Send a datagram of this rank. */
void tsl_heart_send(const tsl_heart *heart, int to, tsl_beat_kind kind, int subject,
                    double seconds);

/** The next rank that lives, up (1) or down (-1). */
int tsl_heart_neighbour(const tsl_heart *heart, int step);

/** The unit that the device computes, or -1. Any thread. */
int64_t tsl_heart_last_unit(void);

/** Age of the last checkpoint that is known here, s, -1: none; and what another rank says of it. */
float tsl_heart_age(void);
void tsl_heart_heard_of(float age);

/** Say what can be continued, after some words. Any thread. */
void tsl_heart_say(const char *before);
