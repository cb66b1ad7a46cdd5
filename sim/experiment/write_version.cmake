# sim/experiment/write_version.cmake: writes atoll_version.h; run by every build.
#
# The commit says which sources made a build only when nothing differs from it: changed or new
# sources, and a tree without git, add a hash of all sources ("2ebcca851e80-dirty.5f1d0c9a77e2", "nogit.5f1d0c9a77e2"), or two
# different builds would call themselves the same. A repository around the tree, which ignores it or has it
# as a folder, says nothing about it: its commit is another's.
# The file is touched only when its text changes, so that a build without a new commit compiles
# nothing. Needs SOURCE_DIR, OUTPUT, RELEASE, ISA and SIMGRID_VERSION.
# Only what is built counts: an edit of a README makes no other program.
set(built sim optim failure_models CMakeLists.txt)
execute_process(
  COMMAND git rev-parse --short=12 HEAD
  WORKING_DIRECTORY ${SOURCE_DIR}
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
execute_process(
  COMMAND git rev-parse --show-toplevel
  WORKING_DIRECTORY ${SOURCE_DIR}
  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
get_filename_component(top "${top}" REALPATH)
get_filename_component(source "${SOURCE_DIR}" REALPATH)
if(failed OR commit STREQUAL "" OR NOT top STREQUAL source)
  set(commit "nogit")
endif()
execute_process(
  COMMAND git status --porcelain -- ${built}
  WORKING_DIRECTORY ${SOURCE_DIR}
  OUTPUT_VARIABLE changed ERROR_QUIET)
if(NOT commit STREQUAL "nogit" AND NOT changed STREQUAL "")
  string(APPEND commit "-dirty")
endif()

if(commit STREQUAL "nogit" OR commit MATCHES "-dirty$")
  file(GLOB_RECURSE sources LIST_DIRECTORIES false RELATIVE ${SOURCE_DIR}
    ${SOURCE_DIR}/sim/* ${SOURCE_DIR}/optim/* ${SOURCE_DIR}/failure_models/* ${SOURCE_DIR}/CMakeLists.txt)
  list(SORT sources)
  set(hashes "")
  foreach(source ${sources})
    file(SHA256 ${SOURCE_DIR}/${source} hash)
    string(APPEND hashes "${source} ${hash}\n")
  endforeach()
  string(SHA256 hash "${hashes}")
  string(SUBSTRING ${hash} 0 12 hash)
  string(APPEND commit ".${hash}")
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
