/**
 * @file wave.h
 * One phase of a WAVE family: tiles in the order of their stages, edges between their owners.
 */
#pragma once

#include "phase.h"

/**
 * Collective on phase->comm. Run the phase; like tsl_bag_run, which see.
 *
 * Each rank runs its tiles group by group: its neighbouring tiles of one stage. A group waits for
 * the edges it needs of other ranks; receives are posted some groups ahead, and finished edges
 * leave while the next group is computed. Where the backend has start, the device begins a group as
 * soon as its edges are there, while the group before ends. When it is to pause, all ranks finish
 * the same stages and the workers take in all edges that later stages need. phase->plan must own
 * every tile and give all tiles of a lane to one rank.
 */
tsl_err tsl_wave_run(tsl_phase *phase);
