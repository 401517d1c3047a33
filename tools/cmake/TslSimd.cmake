# Kernels for each x86-64 level, chosen at run time.

# Value-safe: errno and floating-point traps are not observed, values stay the same.
set(TSL_KERNEL_FLAGS -fno-math-errno -fno-trapping-math)

# Where a kernel has many accesses, each is checked by a call: the same checks, compiled in a third of the time.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_FLAGS MATCHES "-fsanitize=address")
  list(APPEND TSL_KERNEL_FLAGS --param=asan-instrumentation-with-call-threshold=100)
endif()

# Behind all other flags of kernels: -O0 for builds whose speed does not matter.
set(TSL_KERNEL_OPTIMISATION "" CACHE STRING "Optimisation of the kernels where it is not the build type's")
mark_as_advanced(TSL_KERNEL_OPTIMISATION)

# What keeps a compiler from using vectors, to measure against.
set(TSL_SCALAR_FLAGS -fno-tree-loop-vectorize -fno-tree-slp-vectorize)
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  set(TSL_SCALAR_FLAGS -fno-vectorize -fno-slp-vectorize)
endif()

# Levels of this processor's family, the flags of each, and its number in the kernels' tables. With
# TSL_SIMD=native only the level of the machine that builds, for builds that run nowhere else.
set(TSL_SIMD all CACHE STRING "SIMD kernels for all x86-64 levels, or native: for this processor alone")
set_property(CACHE TSL_SIMD PROPERTY STRINGS all native)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TSL_SIMD_LEVELS v2 v3 v4)
  list(APPEND TSL_SCALAR_FLAGS -march=x86-64-v3)
  file(STRINGS /proc/cpuinfo TSL_CPU_FLAGS REGEX "^flags" LIMIT_COUNT 1)
  set(TSL_SIMD_NATIVE v2)
  if(TSL_CPU_FLAGS MATCHES " avx2 .*bmi2 | bmi2 .*avx2 ")
    set(TSL_SIMD_NATIVE v3)
  endif()
  if(TSL_CPU_FLAGS MATCHES " avx512vl( |$)")
    set(TSL_SIMD_NATIVE v4)
  endif()
  if(TSL_SIMD STREQUAL "native")
    set(TSL_SIMD_LEVELS ${TSL_SIMD_NATIVE})
  endif()
else()
  set(TSL_SIMD_LEVELS any)
  set(TSL_SIMD_NATIVE any)
endif()
set(TSL_SIMD_FLAGS_v2 -march=x86-64-v2)
set(TSL_SIMD_FLAGS_v3 -march=x86-64-v3)
set(TSL_SIMD_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
set(TSL_SIMD_NUMBER_v2 2)
set(TSL_SIMD_NUMBER_v3 3)
set(TSL_SIMD_NUMBER_v4 4)
set(TSL_SIMD_NUMBER_any 0)
set(TSL_SIMD_NUMBER_plain 1)

list(GET TSL_SIMD_LEVELS 0 TSL_SIMD_LOWEST)
set(TSL_SIMD_LOWEST ${TSL_SIMD_NUMBER_${TSL_SIMD_LOWEST}})

# tsl_simd(TARGET TYPE BODY HEADER [SCALAR] FLAGS flags...): compile BODY for each level. It defines the
# table TSL_SIMD_TABLE, a const TYPE; TSL_SIMD_LEVEL is 2, 3, 4, or 0. With SCALAR once more without vectors,
# level 1. The function `const TYPE *TYPE_at(int level)`, which HEADER declares, is made here, too: the table
# of the highest level that is not above the one asked for; of the lowest where none is.
function(tsl_simd target type body header)
  cmake_parse_arguments(SIMD "SCALAR" "" "FLAGS" ${ARGN})
  set(levels ${TSL_SIMD_LEVELS})
  if(SIMD_SCALAR)
    list(APPEND levels plain)
    set(TSL_SIMD_FLAGS_plain ${TSL_SCALAR_FLAGS})
  endif()
  set(declared)
  set(chosen)
  foreach(level IN LISTS levels)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${type}_${level}.c)
    set(number ${TSL_SIMD_NUMBER_${level}})
    file(GENERATE OUTPUT ${source} CONTENT
"#define TSL_SIMD_LEVEL ${number}
#define TSL_SIMD_TABLE ${type}_${level}
#include \"${body}\"
")
    target_sources(${target} PRIVATE ${source})
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${SIMD_FLAGS};${TSL_SIMD_FLAGS_${level}};${TSL_KERNEL_OPTIMISATION}")
    string(APPEND declared "extern const ${type} ${type}_${level};\n")
    if(level STREQUAL "plain")
      string(PREPEND chosen "  if (level == 1) return &${type}_plain;\n")
    else()
      string(PREPEND chosen "  if (level >= ${number}) return &${type}_${level};\n")
    endif()
  endforeach()
  list(GET levels 0 lowest)
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${type}_at.c CONTENT
"#include \"${header}\"
${declared}const ${type} *${type}_at(int level) {
${chosen}  return &${type}_${lowest};
}
")
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${type}_at.c)
endfunction()
