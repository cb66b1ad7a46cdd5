# sim/experiment/write_version.cmake: writes atoll_version.h; run by every build.
#
# The file is touched only when its text changes, so that a build without a new commit compiles
# nothing. Needs SOURCE_DIR, OUTPUT, RELEASE, ISA and SIMGRID_VERSION.
execute_process(
  COMMAND git describe --always --dirty --abbrev=12 --match=
  WORKING_DIRECTORY ${SOURCE_DIR}
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR commit STREQUAL "")
  set(commit "unknown")
endif()
set(text "// atoll_version.h: made by sim/experiment/write_version.cmake.
#define ATOLL_RELEASE \"${RELEASE}\"
#define ATOLL_COMMIT \"${commit}\"
#define ATOLL_ISA_LEVEL \"${ISA}\"
#define ATOLL_SIMGRID_VERSION \"${SIMGRID_VERSION}\"
")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
