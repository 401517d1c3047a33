execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE HASH OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT HASH)
  set(HASH unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT
"#pragma once\n#define TSL_VERSION \"@VERSION@\"\n#define TSL_GIT_HASH \"@HASH@\"\n" @ONLY)
