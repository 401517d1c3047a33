/**
 * @file clock.h
 * The clock of everything that is measured or limited.
 */
#ifndef TSL_CORE_CLOCK_H
#define TSL_CORE_CLOCK_H

/** Seconds of the monotonic clock of this host; any thread. */
double tsl_now(void);

#endif
