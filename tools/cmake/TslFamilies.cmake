# The families: the names of src/core/families.def, which is read again when it changes. A family's files are
# src/fam/NAME, and src/cpu/NAME, src/gpu/NAME for the devices it runs on.
set(TSL_FAMILY_LIST ${PROJECT_SOURCE_DIR}/src/core/families.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TSL_FAMILY_LIST})
file(STRINGS ${TSL_FAMILY_LIST} TSL_FAMILIES REGEX "^TSL_FAMILY\\([a-z]")
list(TRANSFORM TSL_FAMILIES REPLACE "^TSL_FAMILY\\(([a-z0-9_]+)\\).*" "\\1")

# tsl_backends(DEVICE): in src/DEVICE, the folders of the families that run on it. Writes backends_DEVICE.h
# into the build: TSL_BACKENDS, the NULL-ended list of the backends that are built (target tsl_DEVICE_NAME).
function(tsl_backends device)
  set(declared "/* Written by tsl_backends. */\n#pragma once\n#include \"contract.h\"\n")
  set(list "")
  foreach(family IN LISTS TSL_FAMILIES)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${family})
      add_subdirectory(${family})
    endif()
    if(TARGET tsl_${device}_${family})
      string(APPEND declared "extern const tsl_backend ${family}_backend_${device};\n")
      string(APPEND list "&${family}_backend_${device}, ")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/backends_${device}.h
       CONTENT "${declared}#define TSL_BACKENDS ${list}NULL\n" @ONLY)
endfunction()
