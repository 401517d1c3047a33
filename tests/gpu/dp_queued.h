/**
 * @file dp_queued.h
 * The backend of dp on a socket with memory like a card's: not zeroed, apart from the host's, and
 * copied out of only when it is waited for.
 */
#pragma once

#include "contract.h"

/** Of sockets; the workers of a process share one queue. */
const tsl_backend *dp_queued_backend(const tsl_backend *socket);
