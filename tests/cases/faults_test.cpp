// tests/cases/faults_test.cpp: faults in and out: clocks, files, names, and what we wrote read again.
//
// Goal:   a failure model does what its key says for every target, and every text that leaves us comes
//         back the same.
// Method: counts against the Poisson law of the exposure; availability against MTBF / (MTBF + MTTR);
//         diagnostics word for word; files of a run written, fed back, and compared byte by byte.
// Teeth:  seen failing before: 0 faults for an island by the stepping clock, 0.37 up, an empty date taken
//         as 0 s, "names nothing here; got syncer:learner-1", another scenario_hash on the second run.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>

#include "sim/experiment/experiment.h"
#include "sim/experiment/faults_never_met.h"
#include "sim/experiment/recorded_faults.h"
#include "sim/scenario/failure_warnings.h"
#include "tests/cases/case_run.h"

namespace tests_cases {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder that is gone afterwards.
struct Place {
  fs::path root = fs::temp_directory_path() / ("atoll-cases-" + std::to_string(getpid()));
  Place() { fs::create_directories(root); }
  ~Place() { fs::remove_all(root); }
};

// Every file of the results of one arm, by name.
std::map<std::string, std::string> files_of_run(const sim::scenario::Scenario& scenario,
                                                const std::string& arm, const fs::path& below) {
  sim::experiment::ExperimentOptions options{};
  options.runs = {{arm_of(scenario, arm), scenario.seed}};
  options.jobs = options.threads = 1;
  options.results_folder = below.string();
  options.overwrite = sim::experiment::Overwrite::kForce;
  const auto outcome = sim::experiment::run_experiment(scenario, options);
  INFO(outcome.message);
  REQUIRE(outcome.end == sim::experiment::ExperimentEnd::kDone);
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(below)) {
    if (entry.is_regular_file()) files[entry.path().filename().string()] = content_of(entry.path());
  }
  return files;
}

// The hash of the experiment names all arms that were run together; alone an arm is another experiment.
std::string without_set(const std::string& text) {
  const std::size_t at = text.find("\"set_hash\"");
  return at == std::string::npos ? text : text.substr(0, at) + text.substr(text.find('\n', at));
}

// `--faults` with this text: the scenario, or what is told.
std::string fed(sim::scenario::Scenario& scenario, const fs::path& file) {
  const auto recorded = sim::experiment::read_recorded_faults(file.string());
  if (!recorded.diagnostics.empty()) return sim::base::format(recorded.diagnostics);
  return sim::base::format(sim::experiment::replace_failures(scenario, recorded, "faults.csv"));
}

std::uint64_t faults_met(const nlohmann::json& summary) { return summary["faults_met"]; }

// Seeds 1 to 5 add up to about 5 x 20,000 s of exposure at a mean of 500 s. Exposure is what the arm
// stepped, undone steps included; the 99.9 % interval of a Poisson count near 200 is 3.29 sqrt(mean) to either side.
void check_poisson(const std::string& name, double step_s) {
  double exposure_s = 0, met = 0;
  for (int seed = 1; seed <= 5; ++seed) {
    const auto summary = run_case(name, "", {"seed=" + std::to_string(seed)});
    const double learners = summary["learners"].get<double>();
    exposure_s += summary["learner_steps"].get<double>() / learners * step_s;
    met += static_cast<double>(faults_met(summary));
  }
  const double mean = exposure_s / 500.0;
  INFO(name << ": " << met << " faults, " << mean << " due");
  CHECK(std::abs(met - mean) < 3.29 * std::sqrt(mean));
}

}  // namespace

// Four islands, the arm uses i3 alone, a quarter of the fleet for which a step of 1 s is given: 4 s a step.
// 20,000 s / 500 s = 40 less what it stands still, which is much: its one learner loses its state with its
// hosts, and no checkpoint is older than a fault for long.
TEST_CASE("cases: an island ages by the stepping clock of its own slices", "[cases]") {
  check_poisson("stepping-island", 4);
}

// A link ages while a learner at either end steps, here always.
TEST_CASE("cases: a link ages by the stepping clock of the learners at its ends", "[cases]") {
  check_poisson("stepping-link", 1);
}

// Uptime of an alternating renewal: mean life 1 h, repair 1 h. With exponential lives the interval is
// Student's over seeds (t of 0.975 with 31 degrees: 2.040), and the wall clock's 1/e = 0.37 lies outside.
TEST_CASE("cases: by the uptime clock a unit is up MTBF / (MTBF + MTTR)", "[cases]") {
  std::vector<double> up;
  for (int seed = 1; seed <= 32; ++seed) {
    up.push_back(run_case("d14_mtbf_mttr", "", {"failure.0.clock=uptime", "seed=" + std::to_string(seed)})["uptime"]);
  }
  double mean = 0, squares = 0;
  for (const double u : up) mean += u / 32;
  for (const double u : up) squares += (u - mean) * (u - mean) / 31;
  const double half_width = 2.040 * std::sqrt(squares / 32);
  INFO(mean << " +- " << half_width);
  CHECK(std::abs(mean - 0.5) < half_width);
  CHECK(half_width < 0.005);
  CHECK(std::abs(run_case("d14_mtbf_mttr")["uptime"].get<double>() - std::exp(-1.0)) < 0.03);
}

// Constant laws: up from 0 h to 1 h, down to 2 h, and so on: 720 of 1,440 hours.
TEST_CASE("cases: with constant lives and repairs the uptime clock is exact", "[cases]") {
  const std::vector<std::string> constant = {"failure.0.kind=constant", "failure.0.age=new"};
  auto with = [&](const std::string& set) {
    std::vector<std::string> sets = constant;
    sets.push_back(set);
    return run_case("d14_mtbf_mttr", "", sets);
  };
  CHECK(with("failure.0.clock=uptime")["uptime"] == 0.5);
  CHECK(faults_met(with("failure.0.clock=uptime")) == 720);
  CHECK(with("failure.0.clock=uptime")["clock"] == "uptime");
  // By the wall each repair ends as the next failure strikes: up in the first hour only.
  CHECK(with("failure.0.clock=wall")["uptime"].get<double>() == Approx(1.0 / 1440).epsilon(1e-9));
}

TEST_CASE("cases: a repair that is not far below the mean life is warned of by the wall clock", "[cases]") {
  const auto told = [](const std::vector<std::string>& sets) {
    return sim::base::format(sim::scenario::failure_warnings(loaded_case("d14_mtbf_mttr", sets), "f.toml"));
  };
  CHECK(told({}) ==
        "f.toml: warning: failure[0].repair: should be far below mtbi (1 h) with clock \"wall\", where "
        "\"island\" fails also while it is down; got \"1 h\"\n"
        "  hint: clock = \"uptime\" is up mtbi / (mtbi + repair) = 0.5 of the time\n");
  CHECK(told({"failure.0.clock=uptime"}).empty());
  CHECK(told({"failure.0.repair=6 min"}).empty());
  CHECK_FALSE(told({"failure.0.repair=361 s"}).empty());
}

TEST_CASE("cases: fault files: what is missing is refused at its cell, what spreadsheets add is taken",
          "[cases]") {
  const auto told = [](const std::string& name) {
    auto scenario = loaded_case("d11_base");
    std::string text = fed(scenario, case_path(name));
    const std::size_t file = text.rfind('/');
    return file == std::string::npos ? text : text.substr(file + 1);
  };
  CHECK(told("d11_no_date.csv") == "d11_no_date.csv:2:1: error: at_s: must be seconds from 0 to 7776000; got \"\"\n");
  CHECK(told("d11_no_factor.csv") ==
        "d11_no_factor.csv:2:29: error: rate_factor: must be a number from 0 to 1; got \"\"\n"
        "  hint: 0 leaves nothing of the rate\n");
  for (const char* accepted : {"d11_bom.csv", "d11_quoted.csv"}) {
    auto scenario = loaded_case("d11_base");
    CHECK(fed(scenario, case_path(accepted)).empty());
    REQUIRE(scenario.arms[0].faults.size() == 1);
    const auto& fault = scenario.arms[0].faults[0];
    CHECK(fault.at == 140 * sim::base::kSecond);
    CHECK(fault.lasts == 40 * sim::base::kSecond);
    CHECK(fault.rate_factor == 0.5);
    CHECK(fault.target == "r0--r1");
  }
}

TEST_CASE("cases: a run's own faults, fed back, give the same trace", "[cases]") {
  const Place place;
  for (const char* arm : {"second", "decoupled-diloco"}) {
    const auto scenario = loaded_case("faults-fed-back");
    auto first = files_of_run(scenario, arm, place.root / arm / "first");
    const fs::path recorded = place.root / arm / "faults.csv";
    std::ofstream(recorded) << first["faults.csv"];
    auto again = loaded_case("faults-fed-back");
    REQUIRE(fed(again, recorded) == "");
    auto second = files_of_run(again, arm, place.root / arm / "second");
    for (const char* file : {"faults.csv", "steps.csv", "traffic.csv", "activity.csv", "timeline.json"}) {
      INFO(arm << " " << file);
      CHECK(second[file] == first[file]);
    }
    const auto json = [](const std::string& text) { return nlohmann::json::parse(text); };
    CHECK(json(first["summary.json"])["trace_hash"] == json(second["summary.json"])["trace_hash"]);
  }
}

// `second` is one streaming job: it has no syncer, so the two faults of syncer:central strike nothing.
TEST_CASE("cases: a fault of a syncer that the arm does not have is told as never met", "[cases]") {
  const auto summary = run_case("faults-fed-back", "second");
  REQUIRE(summary["faults_never_met"].size() == 2);
  CHECK(summary["faults_never_met"][0] == "fault 1 (kill syncer:central at 1 min): it has no such syncer");
}

// scenarios/minimal.toml ends at 10 min: its region west is killed at 20 min never.
TEST_CASE("cases: a scripted fault after the end is told", "[cases]") {
  const auto summary = run_case("../../scenarios/minimal", "", {"fault.0.at=20 min"});
  REQUIRE(summary["faults_never_met"].size() == 1);
  CHECK(summary["faults_never_met"][0] == "fault 1 (kill region:west at 20 min): it ended at 10 min");
  CHECK(run_case("../../scenarios/minimal")["faults_never_met"].empty());
}

TEST_CASE("cases: a written scenario, run again, writes the same files", "[cases]") {
  const Place place;
  for (const char* arm : {"decoupled-diloco", "second"}) {
    const auto first = files_of_run(loaded_case("resolved-differs"), arm, place.root / arm / "first");
    const fs::path written = place.root / (std::string(arm) + ".toml");
    std::ofstream(written) << first.at("scenario.toml");
    auto loaded = sim::scenario::load_file(written.string());
    INFO(sim::base::format(loaded.diagnostics));
    REQUIRE(loaded.scenario);
    const auto second = files_of_run(*loaded.scenario, arm, place.root / arm / "second");
    CHECK(first.size() > 5);
    for (const auto& [name, text] : first) {
      INFO(arm << " " << name);
      CHECK(without_set(second.at(name)) == without_set(text));
    }
  }
}

}  // namespace tests_cases
