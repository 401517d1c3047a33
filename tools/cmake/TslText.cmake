# tsl_text(OUT SYMBOL FILE): write OUT, C that defines `const char SYMBOL[]`, the text of FILE: source that is
# compiled while the program runs.
function(tsl_text out symbol file)
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n\"" text "${text}")
  file(CONFIGURE OUTPUT ${out} CONTENT
"/* Written by CMake from @file@. */
extern const char @symbol@[];
const char @symbol@[] = \"@text@\";
" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
endfunction()
