// sim/cli/verbs.h: one function per verb; each returns the exit code of the program.
//
//   0 done   1 an expectation is not met   2 wrong usage or scenario   3 a file cannot be read or
//   written   4 finished with failed runs   70 a bug of ours   130, 143 after SIGINT, SIGTERM
#pragma once

#include "sim/cli/command_line.h"

namespace sim::cli {

constexpr int kDone = 0, kUnmet = 1, kMistake = 2, kFileTrouble = 3, kFailedRuns = 4, kBug = 70;

int run(const CommandLine& line);
int compare(const CommandLine& line);
int replay(const CommandLine& line);
int validate(const CommandLine& line);
int schema(const CommandLine& line);
int catalogue();
int sweep(const CommandLine& line);
int merge(const CommandLine& line);
int baseline(const CommandLine& line);
int check(const CommandLine& line);

}  // namespace sim::cli
