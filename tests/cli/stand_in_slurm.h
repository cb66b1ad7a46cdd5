// tests/cli/stand_in_slurm.h: Slurm's commands as scripts: a queue is a folder, a task a file in it.
//
// cluster/queue/JOB/TASK   a task in the queue; sbatch runs it at once and takes it out at its end
// cluster/scripts/JOB      what sbatch got
// cluster/log              every command
// cluster/hold             while it exists, tasks are queued and not run
// cluster/silent           so many answers squeue will not give
// cluster/answer           what sbatch says in place of a number
// cluster/refuse           while it exists, sbatch refuses
// All of them talk on stderr, and sbatch greets on stdout, as sites' own do.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/small_sweep.h"

namespace tests_cli {

class StandInSlurm {
 public:
  explicit StandInSlurm(const Place& place) : place_(place) {
    fs::create_directories(place.root / "cluster/queue");
    fs::create_directories(place.root / "cluster/scripts");
    set("silent", "0");
    write("sbatch", R"sh(
[ -e refuse ] && { echo "sbatch: error: invalid partition specified: fast" >&2; exit 1; }
[ -e answer ] && { cat answer; exit 0; }
for word; do
  case $word in --array=*) list=${word#--array=};; esac
  script=$word
done
job=$((4242 + $(ls queue | wc -l)))
cp "$from/$script" scripts/$job
mkdir queue/$job
for task in ${list//,/ }; do touch queue/$job/$task; done
echo "Welcome to cluster 9"
echo $job
[ -e hold ] && exit 0
for task in ${list//,/ }; do
  (SLURM_ARRAY_TASK_ID=$task sh scripts/$job; rm -f queue/$job/$task) >/dev/null 2>&1 </dev/null &
done
)sh");
    write("squeue", R"sh(
for word; do
  case $word in --jobs=*) job=${word#--jobs=};; esac
done
left=$(cat silent)
if [ ${left:-0} -gt 0 ]; then
  echo $((left - 1)) >silent
  echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2
  exit 1
fi
[ -d queue/$job ] || { echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1; }
ls queue/$job
)sh");
    write("scancel", "rm -f queue/$1/*\n");
    write("scontrol", "exit 1\n");  // it has forgotten every task
  }

  // atoll sweep small.toml --executor slurm WORDS..., with looks every 20 ms.
  std::vector<std::string> command(const std::string& words = "") const {
    return {"/bin/bash", "-c",
            "PATH=" + place_.path("bin") + ":$PATH; exec " + program() +
                " sweep small.toml --executor slurm --test-slurm-look 0.02 " + words};
  }
  Outcome sweep(const std::string& words = "") const { return Started(command(words), place_.root).wait(); }

  void set(const std::string& name, const std::string& content = "") const { place_.write("cluster/" + name, content); }
  void unset(const std::string& name) const { fs::remove(place_.root / "cluster" / name); }
  std::string log() const { return text_of(place_.root / "cluster/log"); }
  std::size_t count(const std::string& words) const {
    std::size_t found = 0;
    const std::string all = log();
    for (std::size_t at = all.find(words); at != std::string::npos; at = all.find(words, at + 1)) ++found;
    return found;
  }
  void wait_for(const std::string& words, std::size_t times = 1) const {
    while (count(words) < times) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // A task that is on hold.
  void run_task(const std::string& job, int task) const {
    const std::string number = std::to_string(task);
    shell("SLURM_ARRAY_TASK_ID=" + number + " sh cluster/scripts/" + job + "; rm -f cluster/queue/" + job + "/" + number,
          place_.root);
  }

 private:
  void write(const std::string& name, const std::string& body) const {
    const std::string head = "#!/bin/bash\n[ \"$1\" = --version ] && { echo stand-in; exit 0; }\nfrom=$PWD\ncd " +
                             place_.path("cluster") + "\necho \"" + name +
                             " $*\" >>log\necho \"" + name + ": warning: line 3 of this site's greeting\" >&2\n";
    fs::permissions(place_.write("bin/" + name, head + body), fs::perms::owner_all);
  }

  const Place& place_;
};

}  // namespace tests_cli
