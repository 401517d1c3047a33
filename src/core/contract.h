/**
 * @file contract.h
 * The contract between what is computed (family), how (backend) and who and when (runtime).
 *
 * A family turns a deck into a problem: plain parameters, a table of fields and a list of
 * units. A backend computes units on one device. The runtime (src/mpi) knows units and
 * fields and nothing else: it predicts, plans, broadcasts, runs, combines and stores.
 *
 *   deck -> family.create -> fields (backend.prepare) -> family.units -> plan -> per phase
 *           { share IN; backend.begin; backend.run(units); backend.collect; combine; advance }
 *        -> family.summary -> HDF5
 *
 * Members are marked REQUIRED, or OPTIONAL with what happens when they are NULL.
 */
#pragma once

#include "bench.h"
#include "cursor.h"
#include "deck.h"
#include "error.h"
#include "field.h"
#include "linalg.h"
#include "memory.h"
#include "probe.h"

TSL_C_BEGIN

/* ------------------------------------------------------------------ units */

/**
 * A piece of work: plain data, sent between ranks as bytes.
 * Units of a problem are numbered 0..n-1 in a fixed order that no rank count changes.
 */
typedef struct tsl_unit {
  int64_t id;       /**< place in the list */
  int32_t kind;     /**< cost class within the family, 0..n_kinds-1 */
  int32_t reserved; /**< zero */
  int64_t stage;    /**< WAVE: tiles of a stage need earlier stages, and lower lanes of their own */
  int64_t lane;     /**< WAVE: tiles of a lane belong to one rank; lanes are 0..n_lanes-1 */
  int64_t lo[3], hi[3];  /**< half-open box; its meaning is the family's own */
  double flops;          /**< floating-point operations */
  double bytes;          /**< bytes of main or device memory moved */
  double count;          /**< inner items of this kind (pairs, cells, points) */
  double device_bytes;   /**< device memory needed while it runs, inputs not counted */
  double setup;          /**< operations of its first run on a rank alone, for what is then kept */
  double phase0_skipped; /**< part of flops and count that phase 0 and trials lack; setup is 0 */
} tsl_unit;

typedef struct tsl_units {
  tsl_unit *list; /**< [n], from tsl_alloc, owned by the runtime */
  int64_t n;
} tsl_units;

/** What one unit may occupy; set by the runtime from memory limits, obeyed by family.units. */
typedef struct tsl_limits {
  int64_t slab_bytes;   /**< host bytes of a unit's GATHER slabs; a unit of one row may exceed */
  int64_t device_bytes; /**< device bytes of one unit */
  int64_t target_units; /**< wanted number of units, for balance */
  int32_t n_ranks;      /**< ranks that will share the units */
  bool given;           /**< target_units is the user's own wish */
  int16_t way;          /**< in which the work was cut (tsl_trial); 0 where there is one */
  double pipeline_fill; /**< WAVE: the largest of the backends; 0: stages may have few rows */
  bool overlap;         /**< WAVE: stages overlap on all devices that have a fill */
  int64_t host_bytes;   /**< least host memory that a rank may use; 0: not known */
  int64_t keep_bytes;   /**< the same of its device: a card's memory, or the host's */
  double widest; /**< WAVE: largest part of a stage that a rank has; 0: about as much as others */
} tsl_limits;

/**
 * How units depend on each other.
 *
 * WAVE: units are tiles, numbered by stage and within a stage by lane. A rank runs its tiles of a
 * stage together, stage after stage. What a tile needs of a tile of another rank comes as an
 * edge: bytes that the owner's backend copies out (edge_out) when its stage is done, that travel
 * by message and that the other backend takes in (edge_in) before the tile runs. What it needs
 * of tiles of its own rank stays inside the backend.
 */
typedef enum tsl_shape {
  TSL_BAG, /**< independent units */
  TSL_WAVE /**< tiles with predecessor tiles; edges travel between owners */
} tsl_shape;

/* ---------------------------------------------------------------- problem */

struct tsl_family;

/** Decides between ways to cut the same work by a trial on a device. Root only. */
typedef struct tsl_trial {
  /**
   * The way to take, 0..n-1. Called once in create, if at all. Ways differ in how units of kind 0
   * are cut, which are the first in the list; results differ by rounding alone.
   * @param[in] what  what the decision depends on besides the device, as of family.signature
   */
  int32_t (*way)(struct tsl_trial *trial, const char *what, int32_t n);
} tsl_trial;

/** A problem on one rank. On the root made by family.create, elsewhere received from the root. */
typedef struct tsl_problem {
  const struct tsl_family *family; /**< not owned */
  void *params;                    /**< plain data, from tsl_alloc, broadcast as bytes */
  int64_t params_bytes;
  tsl_field fields[TSL_MAX_FIELDS];
  int32_t n_fields;
  const char *output; /**< root only: name of the output file, set before create; NULL: none */
  const struct tsl_device *devices; /**< root only, in create and check_memory: [n_devices] of the
                                         ranks; or NULL */
  int32_t n_devices;
  tsl_trial *trial; /**< root only, in create; NULL: nobody decides, and the family does */
  bool shortcut; /**< root only: to come, unless create clears it; lack of room is no error yet */
  void *own;     /**< root only, private to the family; freed by family.destroy */
  void *talk;    /**< root only, set before create: of a served job (service.h); NULL: none */
} tsl_problem;

/** Free params and all field data and zero the struct (root: family.destroy has run before). */
void tsl_problem_clear(tsl_problem *problem);

/**
 * Append a field to the problem and check its size.
 * @param[out] out  the new entry, data NULL; valid until the problem is cleared
 * @return TSL_ERR_INPUT when the element count or the bytes overflow int64
 */
tsl_err tsl_problem_add(tsl_problem *problem, const tsl_field *field, tsl_field **out);
/** Likewise an IN field that is not in the output, of unit 1, [rows][columns], allocated. */
tsl_err tsl_problem_add_hidden(tsl_problem *problem, const char *name, const char *doc,
                               tsl_type type, int64_t rows, int64_t columns, tsl_field **out);

/** Index of a field by name, or -1; its data, NULL when there is no such field. */
int tsl_problem_find(const tsl_problem *problem, const char *name);
void *tsl_problem_data(const tsl_problem *problem, const char *name);

/* ----------------------------------------------------------------- family */

/** One line of the result that a person wants to see, stored as attribute of /results. */
typedef struct tsl_result {
  char name[TSL_NAME];
  char unit[TSL_NAME];
  double value;
} tsl_result;

enum { TSL_MAX_RESULTS = 48, TSL_PHASES_AHEAD = 8 };

typedef struct tsl_summary {
  tsl_result results[TSL_MAX_RESULTS];
  int n_results;
  bool valid;      /**< verdict VALID or INVALID */
  bool unfinished; /**< INVALID, and more phases could mend it: a checkpoint is kept */
  int32_t phase;   /**< unfinished: the STATE fields are as before this phase (family.restore) */
  bool other_work; /**< units of the last phase did other work: no calibration learns from it */
  char reason[256], text[256]; /**< why invalid; lines to print below the results; or empty */
} tsl_summary;

/** Append a line; ignored when full. */
void tsl_summary_add(tsl_summary *summary, const char *name, double value, const char *unit);

struct tsl_part; /* below */

/**
 * Finished OUT fields, whether they are in memory or in the file, by rows of their first
 * dimension. Handed to family.finish; borrowed for the call.
 */
typedef struct tsl_field_rows {
  void *state; /**< the runtime's own */
  /** Copy rows [lo, hi) of a GATHER field, or records of a LIST field, to a row-major buffer. */
  tsl_err (*read)(void *state, int field, int64_t lo, int64_t hi, void *rows);
  /** Replace rows [lo, hi) of a GATHER field. */
  tsl_err (*write)(void *state, int field, int64_t lo, int64_t hi, const void *rows);
  /** Append n records to a LIST field. */
  tsl_err (*append)(void *state, int field, const void *records, int64_t n);
  /** WAVE. Compute a tile without neighbours on the root's device, after the phase.
   *  @param[in]     before  tile of which bytes [n] are saved (backend.save) and which it goes on
   *                         from; NULL: none
   *  @param[in,out] part    slabs are the caller's, NULL where none is wanted
   *  @return errors of the backend's begin, load and tiles; TSL_ERR_STOPPED after a signal */
  tsl_err (*again)(void *state, const tsl_unit *before, const void *bytes, int64_t n,
                   const tsl_unit *unit, struct tsl_part *part);
} tsl_field_rows;

/** What is computed. Device-neutral, single-threaded but for what it hands over in ranges
 *  (parallel.h), no MPI. Static storage. */
typedef struct tsl_family {
  const char *name;      /**< REQUIRED, also the deck section */
  const char *doc;       /**< REQUIRED, one sentence */
  tsl_shape shape;       /**< REQUIRED */
  int n_kinds;           /**< REQUIRED, number of unit kinds */
  const tsl_key *keys;   /**< REQUIRED, the deck section's table */
  const char *bad_value; /**< OPTIONAL, for messages: what usually makes one NaN or infinite */

  /** OPTIONAL, default none. Root only: the deck of a file that is none but says, by the ending of
   *  its name, that this family can run it (`tesela run FILE`).
   *  @param[out] text  from tsl_alloc, the caller's; NULL when the file is of no such kind */
  tsl_err (*adopt)(const char *file, char **text);

  /** REQUIRED, root only. Bind the section, read the data, fill params and fields.
   *  On error the runtime calls destroy and tsl_problem_clear. */
  tsl_err (*create)(tsl_deck *deck, tsl_problem *problem);

  /** OPTIONAL, default nothing. Root only, after the create beside which cards have started: is
   *  there the memory? In that create a card's memory_limit is that of a card all free; here, and
   *  in every later create, it is what the card has left. @return TSL_ERR_INPUT with the key,
   *  TSL_ERR_MEMORY, TSL_ERR_DEVICE_MEMORY: less than is needed in any case */
  tsl_err (*check_memory)(tsl_deck *deck, tsl_problem *problem);

  /** REQUIRED, root only. Cut the work. Zero units are legal (empty result). */
  tsl_err (*units)(const tsl_problem *problem, const tsl_limits *limits, tsl_units *units);

  /** OPTIONAL, default the whole unit: a unit of about fraction (0..1] of whole's cost, with its
   *  features when it is calibrated; its output is thrown away. */
  void (*sample)(const tsl_problem *problem, const tsl_unit *whole, double fraction, tsl_unit *out);

  /** OPTIONAL, default never cached: what the cost coefficients depend on besides the device, such
   *  as "euclidean condensed f32 d3"; part of the key of the calibration file. Any rank. */
  void (*signature)(const tsl_problem *problem, char text[96]);

  /** OPTIONAL, default nothing. Root only, after create: how the input was read and what was found,
   *  a line each, statistics after an empty line; printed with the plan, stored as /run/facts. */
  void (*describe)(const tsl_problem *problem, char *text, size_t size);

  /** REQUIRED when a field is GATHER. The half-open box of field that unit fills, in the
   *  field's index space; unused dimensions are 0..1. Any rank. */
  void (*region)(const tsl_problem *problem, const tsl_unit *unit, int field, int64_t lo[3],
                 int64_t hi[3]);

  /** REQUIRED for WAVE. Tiles whose edges tile id needs, of the same or an earlier stage,
   *  ascending. Any rank.
   *  @param[out] list  [room] ids; at most room are written
   *  @return their number, which may exceed room */
  int64_t (*predecessors)(const tsl_problem *problem, const tsl_unit *units, int64_t n_units,
                          int64_t id, int64_t *list, int64_t room);

  /** REQUIRED for WAVE. Bytes of the edge of a tile, the same for whoever needs it. Any rank. */
  int64_t (*edge_bytes)(const tsl_problem *problem, const tsl_unit *unit);

  /** OPTIONAL, default one phase. Root only, after the OUT fields of a phase are combined:
   *  *more asks for another phase with the same units; IN fields that it changed and touched
   *  (tsl_field_touch) are shared again. */
  tsl_err (*advance)(tsl_problem *problem, int phase, bool *more);

  /** OPTIONAL, default checkpoints within phase 0 only; with it they are taken between phases only.
   *  Root only, after create: the STATE fields are those of a checkpoint that was taken before this
   *  phase, those of one dimension as long as there; set all that the phase needs as advance would
   *  have, IN fields (touched) as well. @return TSL_ERR_INPUT: they are of another problem */
  tsl_err (*restore)(tsl_problem *problem, int phase);

  /** OPTIONAL, default none. NULL-ended: keys whose values a run from a checkpoint may change. */
  const char *const *free_keys;

  /** OPTIONAL, default always: have units of this kind work in this phase? The others are not
   *  handed out in it. Any rank, any phase. BAG without LIST fields only. Depends on the
   *  parameters, and on IN fields, whose first values tell of the first TSL_PHASES_AHEAD phases;
   *  plans are made for the sets of kinds of these, and for those that rest in all of them. */
  bool (*active)(const tsl_problem *problem, int phase, int kind);

  /** OPTIONAL (WAVE), default no recovery. Root only, after the last phase: where the traceback
   *  begins; lane -1 when there is nothing to recover. */
  tsl_err (*traceback_begin)(tsl_problem *problem, tsl_cursor *cursor);
  /** OPTIONAL, default 0. Root only, after units: how often the traceback is expected to do the
   *  unit's work again, 0 or more; what it costs beside that is not predicted. */
  double (*traceback_part)(const tsl_problem *problem, const tsl_unit *unit);
  /** REQUIRED with traceback_begin. Root only: take in the steps that a rank has walked, in order.
   *  @param[in] steps  [n] steps of the backend's traceback, 16 bytes each; borrowed */
  tsl_err (*traceback_steps)(tsl_problem *problem, const int64_t (*steps)[2], int64_t n);
  /** OPTIONAL, default a run from a checkpoint begins the traceback anew. Root only: the steps
   *  taken in so far, shape [*n], borrowed until the next; none: it cannot go on from there. */
  void (*traceback_so_far)(const tsl_problem *problem, const int64_t (**steps)[2], int64_t *n);
  /** REQUIRED with traceback_so_far. Root only, after traceback_begin: take in the steps of an
   *  earlier run, which had come to this cursor. Both are from a file.
   *  @return TSL_ERR_INPUT: they are no part of a solution of this problem */
  tsl_err (*traceback_resume)(tsl_problem *problem, const tsl_cursor *cursor,
                              const int64_t (*steps)[2], int64_t n);

  /** OPTIONAL, default nothing. Root only, after the last phase and before summary: derive fields
   *  that no unit fills, and write pictures or other files beside the output. */
  tsl_err (*finish)(tsl_problem *problem, const tsl_field_rows *store);

  /** OPTIONAL, default no lines and VALID. Root only, after finish. */
  tsl_err (*summary)(const tsl_problem *problem, tsl_summary *summary);

  /** OPTIONAL, default nothing. Root only: free problem->own. */
  void (*destroy)(tsl_problem *problem);
  const struct tsl_service *service; /**< OPTIONAL, default not served (service.h) */
} tsl_family;

/* ---------------------------------------------------------------- devices */

typedef enum tsl_device_kind { TSL_CPU, TSL_GPU } tsl_device_kind;

/** A device as found on this host: plain data, sent as bytes. */
typedef struct tsl_device {
  int32_t kind;        /**< tsl_device_kind */
  int32_t index;       /**< CUDA ordinal among the visible cards, or socket (package) number */
  char name[80];       /**< marketing name */
  char id[48];         /**< GPU UUID "GPU-...", or "socket 0" */
  char pci[24];        /**< PCI bus id of a GPU, "" for a socket */
  int32_t numa;        /**< nearest NUMA node, -1 unknown */
  int32_t threads;     /**< CPU: OpenMP threads this rank uses; GPU: 0 */
  int32_t processors;  /**< GPU: multiprocessors; CPU: cores of the socket */
  int32_t capability;  /**< GPU: 10*major+minor; CPU: SIMD level 2, 3, 4 (x86-64-v2..v4), 0 other */
  int64_t memory;      /**< bytes of device or host memory */
  int64_t memory_free; /**< bytes free when looked at */
  int64_t memory_limit; /**< bytes this rank may use on the device */
  double memory_share;  /**< of a card's free bytes; select makes the limit of it; 0: it does not */
  int64_t host_limit; /**< bytes of the host's memory this rank may use; 0: as many as there are */
  char driver[48];    /**< driver and runtime versions */
} tsl_device;

/** What select of a card does with its free memory. */
static inline void tsl_device_has_free(tsl_device *device, int64_t n_free) {
  device->memory_free = n_free;
  if (device->memory_share > 0)
    device->memory_limit = (int64_t)(device->memory_share * (double)n_free);
  else if (device->memory_limit == 0)
    device->memory_limit = n_free;
}

/* ---------------------------------------------------------------- backend */

/** Records of a LIST field produced by one unit. */
typedef struct tsl_list {
  void *data; /**< from malloc by the backend; the runtime frees it */
  int64_t n;  /**< records (of shape[1..] elements each) */
} tsl_list;

/** What one unit produced; entries of other fields than GATHER and LIST are unused. */
typedef struct tsl_part {
  void *slab[TSL_MAX_FIELDS];    /**< GATHER: the runtime's, of host_alloc, for family.region;
                                      row-major; filled whole by run */
  tsl_list list[TSL_MAX_FIELDS]; /**< LIST: set by run, records in the order the family documents */
  double seconds;                /**< set by run: device time of this unit, waiting not counted */
} tsl_part;

/** How many of n units, from the first on, are neighbours: together one range [lo[0], hi[0]), and
 *  slabs of theirs one. n >= 1 */
int64_t tsl_neighbours(const tsl_unit *units, int64_t n);

/** Spread the seconds of n units that ran together over them by their items. @param parts  [n] */
void tsl_seconds_spread(double seconds, const tsl_unit *units, int64_t n, tsl_part *parts);

/** Bytes of what a worker tells (tsl_backend.notes); most batches started and not finished. */
enum { TSL_NOTES = 256, TSL_MOST_STARTED = 2 };

/** A backend's state on one device for one problem; each backend defines its own. */
typedef struct tsl_worker tsl_worker;

/** Whom a long step tells how far it is, now and then; of the thread that calls the worker. */
typedef struct tsl_step {
  /** @param[in] done  0..1 of what it is likely to take
   *  @return false: it is to end with TSL_ERR_STOPPED */
  bool (*tell)(const struct tsl_step *step, double done);
  void *teller;
} tsl_step;

/** How a family is computed on one kind of device. Static storage.
 *  One thread calls for a worker: open, begin, run..., collect, begin, ..., close. */
typedef struct tsl_backend {
  const char *family; /**< REQUIRED, family name */

  /** OPTIONAL, default nothing. Root only, once, after family.create and before the fields are
   *  shared: set IN fields that depend on the devices of the job (compiled code). No device is
   *  selected and no worker is open. Called for each platform that has a device in the job.
   *  @param[in] devices  [n] of this platform, of all ranks */
  tsl_err (*prepare)(tsl_problem *problem, const tsl_device *devices, int n);

  /** REQUIRED. Upload IN fields and set up; device is already selected for the thread. */
  tsl_err (*open)(const tsl_problem *problem, const tsl_device *device, tsl_worker **worker);

  /** OPTIONAL, default none; of sockets. Root only, once before the first begin, in runs that begin
   *  anew, whatever device the root drives: this worker has the cores of its node. Find the results
   *  without units, where that takes at most the part `most` of its time for all units; *found: the
   *  family cuts none, and derives all in finish. */
  tsl_err (*shortcut)(tsl_worker *worker, tsl_problem *problem, double most, const tsl_step *step,
                      bool *found);
  /** REQUIRED with shortcut. The part that it is likely to take; 0: it would find nothing. */
  double (*shortcut_part)(const tsl_worker *worker, const tsl_problem *problem);

  /** REQUIRED. Start a phase: zero the accumulators of SUM/MIN/MAX fields (to 0, +max, -max) and
   *  upload IN fields that changed since open or the last begin (tsl_field.changes). Calibration
   *  runs before the first begin. */
  tsl_err (*begin)(tsl_worker *worker, int phase);

  /** REQUIRED. Compute n units, one after another or together. WAVE: to calibrate, before begin:
   *  edges of the backend's choice, no results; stages that overlap do, and times are as of finish.
   *  @param[in,out] parts  shape [n]; of each field the units' slabs follow one another in memory
   *                        without gaps, so that neighbours may be copied as one
   *  @return TSL_ERR_DEVICE_MEMORY when it does not fit even one unit at a time */
  tsl_err (*run)(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts);

  /** OPTIONAL, default run alone, WAVE tiles alone. The first half of run, WAVE of tiles: queue the
   *  work of n units and return without waiting; it begins where the one before leaves room. Up to
   *  TSL_MOST_STARTED are started and not finished; until they are, no call but start, ended,
   *  finish is made, WAVE: edge_in for the next start, edge_out after a finish.
   *  @param[in,out] units,parts  shape [n], as in run; borrowed until finish, which fills parts
   *  @return TSL_ERR_DEVICE_MEMORY when there is no room; with another started, it is called again
   *          when that is finished. After an error nothing of the batch is under way */
  tsl_err (*start)(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts);
  /** REQUIRED with start. Would finish not wait? True after an error of the device. */
  bool (*ended)(tsl_worker *worker);
  /** REQUIRED with start. Wait for the batch started first and not finished, finished then even
   *  after an error. Its seconds begin with its own begin on the device or with the end of the one
   *  before, if that is later: their sum is the time that the device was busy. */
  tsl_err (*finish)(tsl_worker *worker);
  /** OPTIONAL, default always. Does this worker gain by start and finish? Else they are unused.
   *  Asked by any thread, while nothing is queued; so is saturating_units. */
  bool (*overlaps)(const tsl_worker *worker);
  /** OPTIONAL (BAG), default 1. Units like this one that keep all of the device at work, as a
   *  thread computes each or a part of it: no batch, and no trial, holds fewer of as many. */
  int64_t (*saturating_units)(const tsl_worker *worker, const tsl_unit *unit);

  /** REQUIRED for WAVE. Compute the n tiles of one stage that belong to this worker, in order of
   *  lanes; neighbouring lanes are one wide tile to an engine. All edges they need are in.
   *  @param[in,out] parts  shape [n] */
  tsl_err (*tiles)(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_part *parts);
  /** OPTIONAL (WAVE), default 0. Root only, after create: what each stage costs a device of this
   *  platform besides its cells, such as a pipeline that fills and drains, as a part of what the
   *  cells of all stages cost a rank that has one n_ranks-th of the lanes. No device is selected.
   *  overlap: other cells are computed meanwhile (start, finish); it is then a delay only. */
  double (*pipeline_fill)(const tsl_problem *problem, const tsl_device *device, int n_ranks,
                          bool *overlap);
  /** OPTIONAL (WAVE), default all. How many neighbours of n lanes of a stage keep all of the device
   *  at work: a calibration tries no more of them, but longer. No device is selected.
   *  @param[in] lanes  [n] tiles of the stage
   *  @return 1..n */
  int64_t (*saturating_lanes)(const tsl_problem *problem, const tsl_device *device,
                              const tsl_unit *lanes, int64_t n);
  /** REQUIRED for WAVE. Copy the edge of a finished tile to bytes (family.edge_bytes). */
  tsl_err (*edge_out)(tsl_worker *worker, const tsl_unit *unit, void *bytes);
  /** REQUIRED for WAVE. Take in the edge of another rank's tile. */
  tsl_err (*edge_in)(tsl_worker *worker, const tsl_unit *unit, const void *bytes);
  /** REQUIRED when the family has traceback_begin. Walk on from the cursor through the lanes of
   *  this worker, to where another's lane or the end is reached, or some way towards it: then it is
   *  called again, and between the calls the run can stop. The cursor must move.
   *  @param[in]  units  all tiles, shape [n], to tell the lane of a place
   *  @param[out] steps  list.data [n][2] int64 from malloc, freed by the runtime */
  tsl_err (*traceback)(tsl_worker *worker, const tsl_unit *units, int64_t n, tsl_cursor *cursor,
                       tsl_list *steps);

  /** REQUIRED for WAVE: checkpoints. The tiles of all stages before `stage` are finished, none of
   *  it is begun, and all edges that the later ones need are in: bytes to be saved of a finished
   *  tile of this worker, 0 nothing. What is saved depends on no device, number of ranks or plan:
   *  workers that have loaded it go on to the same results. Stage INT64_MAX: all tiles are
   *  finished, and what the traceback needs is saved; its turns may have begun. */
  int64_t (*state_bytes)(const tsl_worker *worker, const tsl_unit *unit, int64_t stage);
  /** REQUIRED for WAVE. Copy what is saved of a tile to bytes (state_bytes). */
  tsl_err (*save)(tsl_worker *worker, const tsl_unit *unit, int64_t stage, void *bytes);
  /** REQUIRED for WAVE. After begin, for each tile that has saved something, in order of ids,
   *  on all workers.
   *  @param[in] own  [lanes] 1: the lane's tiles are this worker's from here on
   *  @return TSL_ERR_INPUT when the n bytes are not of this tile */
  tsl_err (*load)(tsl_worker *worker, const tsl_unit *unit, int64_t stage, const uint8_t *own,
                  int64_t lanes, const void *bytes, int64_t n);

  /** REQUIRED when the family has SUM, MIN or MAX fields: copy the phase's accumulators into
   *  problem->fields[].data of this rank; hidden ones may have another shape[0] in each phase. */
  tsl_err (*collect)(tsl_worker *worker, tsl_problem *problem);

  /** OPTIONAL, default nothing. After the last phase: what this worker did without, for lack of
   *  memory or of kernels, or as the deck says, and what it did again: "rank R" and this text;
   *  empty: nothing. */
  void (*notes)(const tsl_worker *worker, char text[TSL_NOTES]);

  /** REQUIRED. NULL accepted, sets NULL. */
  void (*close)(tsl_worker **worker);

  /** OPTIONAL, default tsl_alloc and tsl_free: host memory for slabs (pinned on a GPU). */
  tsl_err (*host_alloc)(int64_t bytes, void **out);
  void (*host_free)(void *memory);
} tsl_backend;

/** One kind of device of this build: the sockets or the cards. Static storage. */
typedef struct tsl_platform {
  tsl_device_kind kind;
  const char *name;                   /**< "cpu" or "gpu" */
  const tsl_backend *const *backends; /**< NULL-ended */
  const tsl_bench *benches;           /**< ends with a NULL name; may be NULL */
  /** REQUIRED. Number of visible devices; 0 with *why set (static text) when there is none. */
  int (*count)(const char **why);
  /** REQUIRED with devices. Fill kind, index, name, id, pci, numa, processors, capability, memory,
   *  driver. */
  tsl_err (*describe)(int index, tsl_device *device);
  /** REQUIRED with devices. Make a described device current for the calling thread. A card has then
   *  a context of this process, half a gigabyte; memory_free is set, and memory_limit by
   *  memory_share, or to all that is free where both are 0. Any thread, also at the same time. */
  tsl_err (*select)(tsl_device *device);
  void (*adopt)(const char *text, int n); /**< OPTIONAL. The host as hwloc's XML; not kept. */
  /** OPTIONAL, default no `tesela probe`. Measure the selected device; a few seconds. */
  tsl_err (*probe)(const tsl_device *device, tsl_figures *figures);
  /** OPTIONAL, default the host's threads. Dense algebra of the root there; starts nothing. A card
   *  need not be selected; the table does it when it is first used. */
  const tsl_linalg *(*linalg)(const tsl_device *device);
} tsl_platform;

extern const tsl_platform tsl_platform_cpu; /**< src/cpu/platform_cpu.c */
extern const tsl_platform tsl_platform_gpu; /**< src/gpu/platform_gpu.cu, or platform_none.c */

/** The backend of a family on a platform, or NULL. */
const tsl_backend *tsl_backend_find(const tsl_platform *platform, const char *family);

/** All families of families.def, NULL-ended. */
extern const tsl_family *const tsl_families[];

TSL_C_END
