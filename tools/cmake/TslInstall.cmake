# cmake --install: the program, what it reads at run time, what people read, and what finds it.
#
#   bin/tesela                             share/man/man1, share/bash-completion/completions
#   share/tesela/{inputs,jobs,tools}       share/modulefiles/tesela/VERSION
#   share/doc/tesela                       lib/cmake/tesela, lib/pkgconfig (where is it, which version)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(TSL_SHARE ${CMAKE_INSTALL_DATADIR}/tesela)
set(packaging ${PROJECT_SOURCE_DIR}/tools/packaging)
set(generated ${PROJECT_BINARY_DIR}/packaging)

install(TARGETS tesela EXPORT teselaTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY inputs jobs DESTINATION ${TSL_SHARE})
install(PROGRAMS tools/compare tools/optimise tools/report tools/scaling DESTINATION ${TSL_SHARE}/tools)
install(FILES tools/tesela_ase.py tools/tesela_lammps.py DESTINATION ${TSL_SHARE}/tools)
install(DIRECTORY tools/pages DESTINATION ${TSL_SHARE}/tools PATTERN __pycache__ EXCLUDE)
install(FILES README.md LICENSE CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)
install(FILES docs/man/tesela.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${packaging}/tesela.bash RENAME tesela
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

# find_package(tesela) gives the imported executable tesela::tesela.
install(EXPORT teselaTargets NAMESPACE tesela:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)
configure_package_config_file(${packaging}/teselaConfig.cmake.in ${generated}/teselaConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela PATH_VARS TSL_SHARE)
write_basic_package_version_file(${generated}/teselaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${generated}/teselaConfig.cmake ${generated}/teselaConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tesela)

# These say where they are relative to themselves, so that the tree may be moved.
configure_file(${packaging}/tesela.pc.in ${generated}/tesela.pc @ONLY)
install(FILES ${generated}/tesela.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(${packaging}/modulefile.in ${generated}/modulefile @ONLY)
install(FILES ${generated}/modulefile RENAME ${PROJECT_VERSION}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/tesela)
