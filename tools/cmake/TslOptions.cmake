# Language standards, warnings and the switches every target shares.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_FLAGS_RELEASE "-O3")

# CUDA: found or not, said once.
set(TSL_HAVE_CUDA OFF)
if(NOT TSL_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90) # a preset names more
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(TSL_HAVE_CUDA ON)
  elseif(TSL_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TSL_CUDA=ON but no nvcc was found; set CMAKE_CUDA_COMPILER or use the preset cpu")
  endif()
endif()
message(STATUS "CUDA backends: ${TSL_HAVE_CUDA}")

option(TSL_LINEINFO "Line numbers in device code, for profilers and sanitizers" OFF)
option(TSL_CUDA_TOGETHER "Compile the CUDA files of a target as one, where names allow it" OFF)

# Flags of every C target. No contraction: CPU and GPU must agree bit for bit (src/core/fn.h).
# Clang warns of each loop that it does not vectorise as asked: slower, not wrong.
add_library(tsl_flags INTERFACE)
target_compile_options(tsl_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-ffp-contract=off;-Wall;-Wextra;-Wshadow;-Wstrict-prototypes;-Wmissing-prototypes;-Wpointer-arith;-Wvla>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${TSL_WERROR}>>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<C_COMPILER_ID:Clang>>:-Wno-pass-failed>
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xfatbin=-compress-all;-Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers,-ffp-contract=off>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${TSL_LINEINFO}>>:-lineinfo>)
target_compile_definitions(tsl_flags INTERFACE _GNU_SOURCE)

# tsl_objects(NAME sources...): an OBJECT target that sees only its own folder and what it links. Programs
# are made of all of them.
function(tsl_objects name)
  tsl_objects_apart(${name} ${ARGN})
  tsl_add_to_programs(${name})
endfunction()

# The same, of which programs are made only where one says so.
function(tsl_objects_apart name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC tsl_flags)
endfunction()

# tsl_cuda_together(NAMES...): with TSL_CUDA_TOGETHER the CUDA files of a target are compiled as one, in the order of
# their list. Without optimisation most of the time is that of CUDA's headers, once for each file.
function(tsl_cuda_together)
  if(NOT TSL_CUDA_TOGETHER)
    return()
  endif()
  foreach(name IN LISTS ARGN)
    if(NOT TARGET ${name}) # of a family that is left out
      continue()
    endif()
    get_target_property(sources ${name} SOURCES)
    get_target_property(folder ${name} SOURCE_DIR)
    list(FILTER sources INCLUDE REGEX "[.]cu$")
    set(text "")
    foreach(source IN LISTS sources)
      get_filename_component(path ${source} ABSOLUTE BASE_DIR ${folder})
      set_source_files_properties(${path} DIRECTORY ${folder} PROPERTIES HEADER_FILE_ONLY ON)
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}.cu CONTENT "${text}" @ONLY)
    target_sources(${name} PRIVATE ${CMAKE_BINARY_DIR}/generated/${name}.cu)
  endforeach()
endfunction()

# Add an OBJECT target to the list TSL_OBJECT_LIST of what programs are made of: TSL_HOST_OBJECTS, or in
# src/gpu TSL_CARD_OBJECTS.
set(TSL_OBJECT_LIST TSL_HOST_OBJECTS)
function(tsl_add_to_programs name)
  set_property(GLOBAL APPEND PROPERTY ${TSL_OBJECT_LIST} ${name})
endfunction()
