# version.h holds the version and the git hash; refreshed at each build, rewritten only on change.
add_custom_target(tsl_version
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
          -DOUT=${CMAKE_BINARY_DIR}/generated/version.h -P ${CMAKE_SOURCE_DIR}/tools/cmake/write_version.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/version.h
  COMMENT "version.h")
