// sim/report/summary_json.cpp: the keys of summary.json, written and read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/report/summary.h"

namespace sim::report {
namespace {

using Json = nlohmann::ordered_json;
using readers::Bucket;

template <class Value>
Json maybe(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json seconds(const std::optional<Nanoseconds>& time) {
  return time ? Json(base::to_seconds(*time)) : Json(nullptr);
}

std::string hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

Json marks_json(const std::vector<MarkSummary>& marks) {
  Json json = Json::object();
  for (const MarkSummary& mark : marks) {
    json[mark.name] = {{"at_s", seconds(mark.at)},
                       {"loss", maybe(mark.loss)},
                       {"tokens", maybe(mark.tokens)},
                       {"merged_tokens", maybe(mark.merged_tokens)},
                       {"energy_kwh", maybe(mark.energy_kwh)},
                       {"energy_kwh_stall_low", maybe(mark.energy_kwh_stall_low)},
                       {"energy_kwh_stall_high", maybe(mark.energy_kwh_stall_high)},
                       {"cost_usd", maybe(mark.cost_usd)},
                       {"learning_rate_factor", maybe(mark.learning_rate_factor)}};
  }
  return json;
}

Json energy_json(const Summary& s) {
  Json json = Json::object();
  const auto put = [&](const char* key, double EnergySummary::* field) {
    json[key] = s.energy ? Json((*s.energy).*field) : Json(nullptr);
  };
  put("busy_kwh", &EnergySummary::busy);
  put("stalled_kwh", &EnergySummary::stalled);
  put("idle_kwh", &EnergySummary::idle);
  put("unused_kwh", &EnergySummary::unused);
  put("off_kwh", &EnergySummary::off);
  put("host_kwh", &EnergySummary::host);
  put("wan_kwh", &EnergySummary::wan);
  put("wasted_kwh", &EnergySummary::wasted);
  json["joules_per_token"] = s.energy ? maybe(s.energy->joules_per_token) : Json(nullptr);
  json["stall_share"] = s.power.stall;
  json["stall_share_low"] = s.power.stall_low;
  json["stall_share_high"] = s.power.stall_high;
  json["pue"] = s.power.pue;
  json["watts_assumed"] = s.power.watts_assumed;
  return json;
}

Json cost_json(const std::optional<CostSummary>& cost) {
  if (!cost) return {{"chips_usd", nullptr}, {"egress_usd", nullptr}, {"usd_per_billion_tokens", nullptr}};
  return {{"chips_usd", cost->chips},
          {"egress_usd", cost->egress},
          {"usd_per_billion_tokens", maybe(cost->per_billion_tokens)}};
}

Json activity_json(const Summary& summary) {
  Json json = Json::object();
  for (int b = 0; b < readers::kBucketCount; ++b) {
    json[std::string(readers::bucket_name(static_cast<Bucket>(b)))] =
        summary.activity_chip_seconds[static_cast<std::size_t>(b)];
  }
  return json;
}

Json token_json(const readers::TokenTotals& totals) {
  Json discarded = Json::object();
  for (int r = 0; r < readers::kDiscardReasonCount; ++r) {
    discarded[std::string(readers::discard_reason_name(static_cast<readers::DiscardReason>(r)))] =
        totals.discarded[static_cast<std::size_t>(r)];
  }
  return {{"processed", totals.processed},     {"merged", totals.merged},
          {"overwritten", totals.overwritten}, {"discarded", discarded},
          {"rolled_back", totals.rolled_back}, {"in_flight", totals.in_flight}};
}

Json reason_json(const std::array<std::uint64_t, readers::kLossReasonCount>& counts) {
  Json json = Json::object();
  for (int r = 0; r < readers::kLossReasonCount; ++r) {
    json[std::string(readers::loss_reason_name(static_cast<tape::LossReason>(r)))] =
        counts[static_cast<std::size_t>(r)];
  }
  return json;
}

Json sync_json(const readers::SyncTotals& syncs) {
  return {{"due", syncs.due},
          {"merged", syncs.merged},
          {"in_time", syncs.in_time},
          {"late", syncs.late()},
          {"lone", syncs.lone},
          {"contributions", syncs.contributions},
          {"skipped", syncs.skipped_count()},
          {"lost", syncs.lost_count()},
          {"late_adoptions", syncs.late_adoptions},
          {"grace_overruns", syncs.grace_overruns},
          {"rounds", syncs.rounds},
          {"skipped_by_reason", reason_json(syncs.skipped)},
          {"lost_by_reason", reason_json(syncs.lost)}};
}

Json divergence_json(const std::optional<DivergenceSummary>& diverged) {
  if (!diverged) return nullptr;
  return {{"at_s", base::to_seconds(diverged->at)}, {"step", diverged->step}};
}

Json liveness_json(const std::vector<readers::Stall>& stalls) {
  Json list = Json::array();
  for (const readers::Stall& stall : stalls) {
    list.push_back({{"who", stall.who},
                    {"since_s", base::to_seconds(stall.since)},
                    {"until_s", stall.until == base::kNever ? Json(nullptr)
                                                            : Json(base::to_seconds(stall.until))},
                    {"waits_for", stall.waits_for}});
  }
  return list;
}

Json nominal_json(const NominalSummary& nominal) {
  return {{"parameters", nominal.parameters},
          {"batch_tokens", nominal.batch_tokens},
          {"fragments", nominal.fragments},
          {"step_s", nominal.step_s},
          {"native_tokens_per_s", nominal.native_tokens_per_s}};
}

Json data_json(const std::optional<DataSummary>& data) {
  if (!data) return nullptr;
  return {{"file", data->file}, {"bytes", data->bytes}, {"checksum", data->checksum}};
}

Json proxy_json(const std::optional<ProxySummary>& proxy) {
  if (!proxy) return nullptr;
  return {{"model", proxy->model},
          {"task", proxy->task},
          {"optimizer", proxy->optimizer},
          {"parameters", proxy->parameters},
          {"batch", proxy->batch},
          {"data", data_json(proxy->data)}};
}

// Reading: names the key that is missing or of another type.
template <class Value>
Value value_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) throw SummaryError(fmt::format("{}: missing key", key));
  try {
    return found->get<Value>();
  } catch (const Json::exception&) {
    throw SummaryError(fmt::format("{}: value of another type; got {}", key, found->dump()));
  }
}

template <class Value>
std::optional<Value> maybe_of(const Json& json, const char* key) {
  const Json value = value_of<Json>(json, key);
  if (value.is_null()) return std::nullopt;
  return value_of<Value>(json, key);
}

std::optional<Nanoseconds> time_of(const Json& json, const char* key) {
  const auto time_s = maybe_of<double>(json, key);
  if (!time_s) return std::nullopt;
  return base::from_seconds(*time_s);
}

std::uint64_t hash_of(const Json& json, const char* key) {
  const auto text = value_of<std::string>(json, key);
  std::size_t used = 0;
  std::uint64_t value = 0;
  try {
    value = std::stoull(text, &used, 16);
  } catch (const std::exception&) {
  }
  if (text.size() != 16 || used != 16) {
    throw SummaryError(fmt::format("{}: must have 16 hexadecimal digits; got \"{}\"", key, text));
  }
  return value;
}

readers::TokenTotals read_tokens(const Json& json) {
  readers::TokenTotals totals;
  totals.processed = value_of<std::uint64_t>(json, "processed");
  totals.merged = value_of<std::uint64_t>(json, "merged");
  totals.overwritten = value_of<std::uint64_t>(json, "overwritten");
  totals.rolled_back = value_of<std::uint64_t>(json, "rolled_back");
  totals.in_flight = value_of<std::uint64_t>(json, "in_flight");
  const Json discarded = value_of<Json>(json, "discarded");
  for (int r = 0; r < readers::kDiscardReasonCount; ++r) {
    const std::string name(readers::discard_reason_name(static_cast<readers::DiscardReason>(r)));
    totals.discarded[static_cast<std::size_t>(r)] =
        value_of<std::uint64_t>(discarded, name.c_str());
  }
  return totals;
}

void read_reasons(const Json& json, std::array<std::uint64_t, readers::kLossReasonCount>& counts) {
  for (int r = 0; r < readers::kLossReasonCount; ++r) {
    const std::string name(readers::loss_reason_name(static_cast<tape::LossReason>(r)));
    counts[static_cast<std::size_t>(r)] = value_of<std::uint64_t>(json, name.c_str());
  }
}

readers::SyncTotals read_syncs(const Json& json) {
  readers::SyncTotals syncs;
  syncs.due = value_of<std::uint64_t>(json, "due");
  syncs.in_time = value_of<std::uint64_t>(json, "in_time");
  syncs.lone = value_of<std::uint64_t>(json, "lone");
  syncs.merged = value_of<std::uint64_t>(json, "merged");
  syncs.contributions = value_of<std::uint64_t>(json, "contributions");
  syncs.late_adoptions = value_of<std::uint64_t>(json, "late_adoptions");
  syncs.grace_overruns = value_of<std::uint64_t>(json, "grace_overruns");
  syncs.rounds = value_of<std::uint64_t>(json, "rounds");
  read_reasons(value_of<Json>(json, "skipped_by_reason"), syncs.skipped);
  read_reasons(value_of<Json>(json, "lost_by_reason"), syncs.lost);
  return syncs;
}

void read_marks(const Json& json, std::vector<MarkSummary>& marks) {
  for (const auto& [name, mark] : json.items()) {
    marks.push_back({name, time_of(mark, "at_s"), maybe_of<double>(mark, "loss"),
                     maybe_of<std::uint64_t>(mark, "tokens"), maybe_of<double>(mark, "energy_kwh"),
                     maybe_of<double>(mark, "energy_kwh_stall_low"),
                     maybe_of<double>(mark, "energy_kwh_stall_high"),
                     maybe_of<double>(mark, "cost_usd"), maybe_of<double>(mark, "learning_rate_factor"),
                     maybe_of<std::uint64_t>(mark, "merged_tokens")});
  }
}

void read_energy(const Json& json, Summary& summary) {
  const Json energy = value_of<Json>(json, "energy");
  summary.power = {value_of<double>(energy, "stall_share"), value_of<double>(energy, "stall_share_low"),
                   value_of<double>(energy, "stall_share_high"), value_of<double>(energy, "pue"),
                   value_of<bool>(energy, "watts_assumed")};
  const auto total = maybe_of<double>(json, "energy_kwh");
  if (!total) return;
  summary.energy = EnergySummary{.total = *total,
                                 .stall_low = value_of<double>(json, "energy_kwh_stall_low"),
                                 .stall_high = value_of<double>(json, "energy_kwh_stall_high"),
                                 .busy = value_of<double>(energy, "busy_kwh"),
                                 .stalled = value_of<double>(energy, "stalled_kwh"),
                                 .idle = value_of<double>(energy, "idle_kwh"),
                                 .unused = value_of<double>(energy, "unused_kwh"),
                                 .off = value_of<double>(energy, "off_kwh"),
                                 .host = value_of<double>(energy, "host_kwh"),
                                 .wan = value_of<double>(energy, "wan_kwh"),
                                 .wasted = value_of<double>(energy, "wasted_kwh"),
                                 .joules_per_token = maybe_of<double>(energy, "joules_per_token")};
}

void read_cost(const Json& json, Summary& summary) {
  const auto total = maybe_of<double>(json, "cost_usd");
  if (!total) return;
  const Json cost = value_of<Json>(json, "cost");
  summary.cost = CostSummary{*total, value_of<double>(cost, "chips_usd"),
                             value_of<double>(cost, "egress_usd"),
                             maybe_of<double>(cost, "usd_per_billion_tokens")};
}

void read_measures(const Json& json, Summary& summary) {
  const Json goodput = value_of<Json>(json, "goodput");
  summary.goodput.time = value_of<double>(goodput, "time");
  summary.goodput.stepping = value_of<double>(goodput, "stepping");
  summary.goodput.chip = value_of<double>(goodput, "chip");
  summary.goodput.token = value_of<double>(goodput, "token");
  summary.goodput.uptime = value_of<double>(json, "uptime");
  summary.goodput.compute_utilization = value_of<double>(json, "compute_utilization");
  summary.participation = maybe_of<double>(json, "participation");
  summary.step_median = time_of(json, "step_median_s");
  const Json wan = value_of<Json>(json, "wan");
  summary.wan = {value_of<std::int64_t>(wan, "bytes"), value_of<double>(wan, "mean_gbps"),
                 value_of<double>(wan, "peak_gbps"), value_of<double>(wan, "peak_window_s"),
                 maybe_of<double>(wan, "bytes_per_token")};
  const Json loss = value_of<Json>(json, "loss");
  summary.loss = {maybe_of<double>(loss, "initial"), maybe_of<double>(loss, "final"),
                  maybe_of<double>(loss, "floor")};
  if (const Json diverged = value_of<Json>(json, "diverged"); !diverged.is_null()) {
    summary.diverged = {base::from_seconds(value_of<double>(diverged, "at_s")),
                        value_of<std::uint32_t>(diverged, "step")};
  }
  const Json activity = value_of<Json>(json, "activity_chip_seconds");
  for (int b = 0; b < readers::kBucketCount; ++b) {
    const std::string name(readers::bucket_name(static_cast<Bucket>(b)));
    summary.activity_chip_seconds[static_cast<std::size_t>(b)] =
        value_of<double>(activity, name.c_str());
  }
}

void read_models(const Json& json, Summary& summary) {
  const Json nominal = value_of<Json>(json, "nominal");
  summary.nominal = {value_of<std::int64_t>(nominal, "parameters"),
                     value_of<std::uint64_t>(nominal, "batch_tokens"),
                     value_of<std::int64_t>(nominal, "fragments"),
                     value_of<double>(nominal, "step_s"),
                     value_of<double>(nominal, "native_tokens_per_s")};
  const Json proxy = value_of<Json>(json, "proxy");
  if (proxy.is_null()) return;
  summary.proxy = ProxySummary{
      value_of<std::string>(proxy, "model"), value_of<std::string>(proxy, "task"),
      value_of<std::string>(proxy, "optimizer"), value_of<std::int64_t>(proxy, "parameters"),
      value_of<std::int64_t>(proxy, "batch")};
  const Json data = value_of<Json>(proxy, "data");
  if (data.is_null()) return;
  summary.proxy->data = DataSummary{value_of<std::string>(data, "file"),
                                    value_of<std::int64_t>(data, "bytes"),
                                    value_of<std::string>(data, "checksum")};
}

Json parse(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    throw SummaryError("this is not JSON");
  }
}

void read_liveness(const Json& json, Summary& s) {
  for (const Json& entry : value_of<Json>(json, "liveness")) {
    const Json& until = entry.at("until_s");
    s.liveness.push_back(
        {value_of<std::string>(entry, "who"),
         base::from_seconds(value_of<double>(entry, "since_s")),
         until.is_null() ? base::kNever : base::from_seconds(until.get<double>()),
         value_of<std::string>(entry, "waits_for")});
  }
  const Json& bound = json.at("liveness_bound_s");
  if (!bound.is_null()) s.liveness_bound = base::from_seconds(bound.get<double>());
}

}  // namespace

std::string to_json(const Summary& s) {
  const Json json = {
      {"format", kSummaryFormat},
      {"scenario", s.scenario},
      {"scenario_hash", hex(s.scenario_hash)},
      {"set_hash", hex(s.set_hash)},
      {"arm", s.arm},
      {"method", s.method},
      {"seed", s.seed},
      {"version", s.version},
      {"isa_level", s.isa_level},
      {"trace_hash", hex(s.trace_hash)},
      {"chips", s.chips},
      {"learners", s.learners},
      {"duration_s", base::to_seconds(s.duration)},
      {"accounted_until_s", base::to_seconds(s.accounted_until)},
      {"marks", marks_json(s.marks)},
      {"goodput",
       {{"time", s.goodput.time},
        {"stepping", s.goodput.stepping},
        {"chip", s.goodput.chip},
        {"token", s.goodput.token}}},
      {"uptime", s.goodput.uptime},
      {"compute_utilization", s.goodput.compute_utilization},
      {"participation", maybe(s.participation)},
      {"step_median_s", seconds(s.step_median)},
      {"wan",
       {{"bytes", s.wan.bytes},
        {"mean_gbps", s.wan.mean_gbps},
        {"peak_gbps", s.wan.peak_gbps},
        {"peak_window_s", s.wan.peak_window_s},
        {"bytes_per_token", maybe(s.wan.bytes_per_token)}}},
      {"steps", s.steps},
      {"learner_steps", s.learner_steps},
      {"tokens", s.tokens},
      {"merged_tokens", s.merged_tokens},
      {"loss",
       {{"initial", maybe(s.loss.initial)},
        {"final", maybe(s.loss.last)},
        {"floor", maybe(s.loss.floor)}}},
      {"diverged", divergence_json(s.diverged)},
      {"energy_kwh", s.energy ? Json(s.energy->total) : Json(nullptr)},
      {"energy_kwh_stall_low", s.energy ? Json(s.energy->stall_low) : Json(nullptr)},
      {"energy_kwh_stall_high", s.energy ? Json(s.energy->stall_high) : Json(nullptr)},
      {"energy", energy_json(s)},
      {"cost_usd", s.cost ? Json(s.cost->total) : Json(nullptr)},
      {"cost", cost_json(s.cost)},
      {"faults_met", s.faults_met},
      {"faults_met_scripted", s.faults_met_scripted},
      {"faults_met_arm_relative", s.faults_met_arm_relative},
      {"faults_never_met", s.faults_never_met},
      {"recoveries",
       {{"lives", s.recoveries},
        {"back_in_merges", s.recoveries_in_merges},
        {"bound_steps", maybe(s.recovery_times.bound_steps)},
        {"beyond_bound", s.recovery_times.beyond_bound},
        {"longest_steps", s.recovery_times.longest_steps}}},
      {"activity_chip_seconds", activity_json(s)},
      {"token_account", token_json(s.token_totals)},
      {"syncs", sync_json(s.syncs)},
      {"nominal", nominal_json(s.nominal)},
      {"proxy", proxy_json(s.proxy)},
      {"clock", s.clock},
      {"liveness", liveness_json(s.liveness)},
      {"liveness_bound_s",
       s.liveness_bound ? Json(base::to_seconds(*s.liveness_bound)) : Json(nullptr)},
      {"properties", {{"violation_count", s.violation_count}, {"violations", s.violations}}},
  };
  return json.dump(2) + "\n";
}

Summary from_json(std::string_view text) {
  const Json json = parse(text);
  const int format = value_of<int>(json, "format");
  if (format != kSummaryFormat) {
    throw SummaryError(fmt::format("format: must be {}; got {}", kSummaryFormat, format));
  }
  Summary s;
  s.scenario = value_of<std::string>(json, "scenario");
  s.scenario_hash = hash_of(json, "scenario_hash");
  s.set_hash = hash_of(json, "set_hash");
  s.arm = value_of<std::string>(json, "arm");
  s.method = value_of<std::string>(json, "method");
  s.seed = value_of<std::uint64_t>(json, "seed");
  s.version = value_of<std::string>(json, "version");
  s.isa_level = value_of<std::string>(json, "isa_level");
  s.trace_hash = hash_of(json, "trace_hash");
  s.chips = value_of<std::int64_t>(json, "chips");
  s.learners = value_of<std::int64_t>(json, "learners");
  s.duration = base::from_seconds(value_of<double>(json, "duration_s"));
  s.accounted_until = base::from_seconds(value_of<double>(json, "accounted_until_s"));
  read_marks(value_of<Json>(json, "marks"), s.marks);
  read_measures(json, s);
  read_energy(json, s);
  read_cost(json, s);
  s.steps = value_of<std::uint64_t>(json, "steps");
  s.learner_steps = value_of<std::uint64_t>(json, "learner_steps");
  s.tokens = value_of<std::uint64_t>(json, "tokens");
  s.merged_tokens = value_of<std::uint64_t>(json, "merged_tokens");
  s.faults_met = value_of<std::uint64_t>(json, "faults_met");
  s.faults_met_scripted = value_of<std::uint64_t>(json, "faults_met_scripted");
  s.faults_met_arm_relative = value_of<std::uint64_t>(json, "faults_met_arm_relative");
  s.faults_never_met = value_of<std::vector<std::string>>(json, "faults_never_met");
  const Json recoveries = value_of<Json>(json, "recoveries");
  s.recoveries = value_of<std::uint64_t>(recoveries, "lives");
  s.recoveries_in_merges = value_of<std::uint64_t>(recoveries, "back_in_merges");
  s.recovery_times = {maybe_of<std::int64_t>(recoveries, "bound_steps"),
                      value_of<std::uint64_t>(recoveries, "beyond_bound"),
                      value_of<double>(recoveries, "longest_steps")};
  s.token_totals = read_tokens(value_of<Json>(json, "token_account"));
  s.syncs = read_syncs(value_of<Json>(json, "syncs"));
  s.syncs.learner_steps = s.learner_steps;
  s.syncs.last_step = s.steps;
  read_models(json, s);
  s.clock = value_of<std::string>(json, "clock");
  if (json.contains("liveness")) read_liveness(json, s);
  const Json properties = value_of<Json>(json, "properties");
  s.violation_count = value_of<std::uint64_t>(properties, "violation_count");
  s.violations = value_of<std::vector<std::string>>(properties, "violations");
  return s;
}

}  // namespace sim::report
