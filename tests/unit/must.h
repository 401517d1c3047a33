/* cmocka with the headers that it wants, and calls of a test that have to succeed. */
#pragma once

#include "error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MUST(call)                       \
  do {                                   \
    if ((call) != TSL_OK) {              \
      fail_msg("%s", tsl_err_message()); \
      return;                            \
    }                                    \
  } while (0)
