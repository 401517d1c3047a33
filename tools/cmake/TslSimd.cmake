# Kernels for each x86-64 level, chosen at run time.

# Value-safe: errno and floating-point traps are not observed, values stay the same.
set(TSL_KERNEL_FLAGS -fno-math-errno -fno-trapping-math)

# What keeps a compiler from using vectors, to measure against.
set(TSL_SCALAR_FLAGS -fno-tree-loop-vectorize -fno-tree-slp-vectorize)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  set(TSL_SCALAR_FLAGS -fno-vectorize -fno-slp-vectorize)
endif()

# Levels of this processor's family, the flags of each, and its number in the kernels' tables.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TSL_SIMD_LEVELS v2 v3 v4)
  list(APPEND TSL_SCALAR_FLAGS -march=x86-64-v3)
else()
  set(TSL_SIMD_LEVELS any)
endif()
set(TSL_SIMD_FLAGS_v2 -march=x86-64-v2)
set(TSL_SIMD_FLAGS_v3 -march=x86-64-v3)
set(TSL_SIMD_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
set(TSL_SIMD_NUMBER_v2 2)
set(TSL_SIMD_NUMBER_v3 3)
set(TSL_SIMD_NUMBER_v4 4)
set(TSL_SIMD_NUMBER_any 0)
set(TSL_SIMD_NUMBER_plain 1)

# tsl_simd(TARGET TABLE BODY [SCALAR] FLAGS flags...): compile BODY for each level. It defines the table
# TSL_SIMD_TABLE, which becomes TABLE_v2, _v3 and _v4, or TABLE_any; TSL_SIMD_LEVEL is 2, 3, 4, or 0. With
# SCALAR also TABLE_plain, built without vectors, level 1.
function(tsl_simd target table body)
  cmake_parse_arguments(SIMD "SCALAR" "" "FLAGS" ${ARGN})
  set(levels ${TSL_SIMD_LEVELS})
  if(SIMD_SCALAR)
    list(APPEND levels plain)
    set(TSL_SIMD_FLAGS_plain ${TSL_SCALAR_FLAGS})
  endif()
  foreach(level IN LISTS levels)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${table}_${level}.c)
    file(GENERATE OUTPUT ${source} CONTENT
"#define TSL_SIMD_LEVEL ${TSL_SIMD_NUMBER_${level}}
#define TSL_SIMD_TABLE ${table}_${level}
#include \"${body}\"
")
    target_sources(${target} PRIVATE ${source})
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${SIMD_FLAGS};${TSL_SIMD_FLAGS_${level}}")
  endforeach()
endfunction()
