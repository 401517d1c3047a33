/**
 * @file watchdog.h
 * The watchdog: a device that does not come back.
 */
#pragma once

#include "phase.h"

/**
 * Not collective: one rank ends all. End the job when the device has been computing units for
 * longer than phase->watchdog and 20 times the predicted seconds. The device's thread cannot be
 * ended, so neither can the program in good order: this is the one place besides main that ends it.
 * The last checkpoint stays.
 * @param[in] units      shape [n], n > 0, what it computes now
 * @param[in] waited     s since it began with them
 * @param[in] predicted  s
 */
void tsl_watchdog_check(const tsl_phase *phase, int rank, const tsl_unit *units, int64_t n,
                        double waited, double predicted);
