# The families: the names of src/core/families.def, which is read again when it changes. A family's files are
# src/fam/NAME, and src/cpu/NAME, src/gpu/NAME for the devices it runs on.
set(TSL_FAMILY_LIST ${PROJECT_SOURCE_DIR}/src/core/families.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TSL_FAMILY_LIST})
file(STRINGS ${TSL_FAMILY_LIST} TSL_FAMILIES REGEX "^TSL_FAMILY\\([a-z]")
list(TRANSFORM TSL_FAMILIES REPLACE "^TSL_FAMILY\\(([a-z0-9_]+)\\).*" "\\1")

# tsl_backends(DEVICE): in src/DEVICE, the folders of the families that run on it. Writes backends_DEVICE.def
# into the build, a line TSL_BACKEND(NAME) for each that is built (target tsl_DEVICE_NAME), from which
# platform_DEVICE makes its table.
function(tsl_backends device)
  set(lines "")
  foreach(family IN LISTS TSL_FAMILIES)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${family})
      add_subdirectory(${family})
    endif()
    if(TARGET tsl_${device}_${family})
      string(APPEND lines "TSL_BACKEND(${family})\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/backends_${device}.def CONTENT "${lines}" @ONLY)
endfunction()
