#include "tools/simulate/fit_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parallel/schedule/central_server.h"
#include "parallel/schedule/factory.h"
#include "runtime/error.h"
#include "runtime/io/json.h"
#include "tools/simulate/pipeline_file.h"

namespace torus::tools {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostRows = 1000;
constexpr int kMostReplicas = 4096;

void CheckKeys(const Json& json, std::initializer_list<std::string_view> known,
               const std::string& path) {
  Require(json.is_object(), path, "needs an object, got {}", io::Brief(json));
  for (const auto& [key, value] : json.items())
    Require(std::ranges::count(known, key) > 0, path, "has a key that is unknown here: {}",
            io::Printable(key));
}

double PositiveOf(const Json& value, const char* key, const std::string& path) {
  Require(value.is_number() && value > 0, path, "\"{}\" must be a number above 0, got {}", key,
          io::Brief(value));
  return value.get<double>();
}

parallel::FreeCosts FreeOf(const Json& names, const std::string& path) {
  Require(names.is_array() && !names.empty(), path,
          "\"free\" must have lists of costs such as [\"forward\", \"backward\"], got {}",
          io::Brief(names));
  parallel::FreeCosts free;
  for (const Json& name : names) {
    const std::string text = name.is_string() ? name.get<std::string>() : "";
    const parallel::CostList* const kind =
        std::ranges::find_if(parallel::kCostLists, [&](const auto& k) { return text == k.name; });
    Require(kind != std::end(parallel::kCostLists), path, "\"free\" names no cost: {}",
            io::Brief(name));
    free.push_back(kind);
  }
  return free;
}

FitRow RowOf(const Json& json, const std::string& path) {
  CheckKeys(json, {"links", "seconds", "fit"}, path);
  Require(json.contains("links"), path, "each row needs \"links\"");
  FitRow row{.links = LinksOf(json["links"], path)};
  row.name = json["links"].is_string() ? json["links"].get<std::string>() : json["links"].dump();
  if (json.contains("seconds")) row.seconds = PositiveOf(json["seconds"], "seconds", path);
  if (json.contains("fit")) {
    Require(json["fit"].is_boolean(), path, "\"fit\" must be true or false, got {}",
            io::Brief(json["fit"]));
    row.fit = json["fit"].get<bool>();
  }
  Require(!row.fit || row.seconds, path, "a row to fit needs its \"seconds\"");
  return row;
}

void ReadServer(const Json& json, const std::string& path, FitFile& file) {
  CheckKeys(json, {"replicas", "bytes"}, path);
  const Json& replicas = io::Member(json, "replicas");
  Require(replicas.is_number_integer() && replicas >= 1 && replicas <= kMostReplicas, path,
          "\"replicas\" must be a whole number from 1 to {}, got {}", kMostReplicas,
          io::Brief(replicas));
  file.replicas = replicas.get<int>();
  const Json& bytes = io::Member(json, "bytes");
  const auto ranks = static_cast<size_t>(file.pipeline.ranks);
  if (!bytes.is_array()) {
    file.server_bytes.assign(ranks, PositiveOf(bytes, "bytes", path));
    return;
  }
  Require(bytes.size() == ranks, path, "\"bytes\" must have a number for each of {} ranks, got {}",
          ranks, bytes.size());
  for (const Json& of_rank : bytes) file.server_bytes.push_back(PositiveOf(of_rank, "bytes", path));
}

// Divides a rank's bytes equally among its stages.
std::vector<double> WeightsOf(const FitFile& file, const parallel::Schedule& schedule) {
  std::vector<double> weights;
  if (file.replicas == 0) return weights;
  const std::vector<int> owners = parallel::StageOwners(schedule);
  for (const int rank : owners)
    weights.push_back(file.server_bytes[rank] /
                      static_cast<double>(std::ranges::count(owners, rank)));
  return weights;
}

const Json& ListOf(const Json& json, const char* key, const std::string& path) {
  const Json& list = io::Member(json, key);
  Require(list.is_array() && !list.empty() && list.size() <= kMostRows, path,
          "\"{}\" must be a list of 1 to {}, got {}", key, kMostRows, io::Brief(list));
  return list;
}

std::string ErrorOf(const FitRow& row, double seconds) {
  if (row.fit) return "fitted";
  return row.seconds ? fmt::format("{:+.1f} %", 100 * (seconds / *row.seconds - 1)) : "";
}

std::string FittedLine(const FitFile& file, const parallel::CostModel& costs) {
  std::string line = "fitted, of stage 0:";
  for (const parallel::FreeCosts& lists : file.free)
    for (const parallel::CostList* kind : lists)
      line += fmt::format(" {} {:.6g} {}", kind->name, (costs.*kind->list).front(),
                          kind->in_bytes ? "bytes" : "s");
  return line + "\n";
}

}  // namespace

FitFile ReadFitFile(const std::string& path) {
  const Json json = io::ReadJsonObject(path);
  CheckKeys(json, {"pipeline", "schedule", "free", "server", "rows"}, path);
  Require(io::Member(json, "pipeline").is_object(), path, "needs a \"pipeline\"");
  FitFile file{.pipeline = PipelineOf(json["pipeline"], path)};
  CheckSize(file.pipeline);
  if (json.contains("schedule")) {
    Require(json["schedule"].is_string(), path, "\"schedule\" must be a name, got {}",
            io::Brief(json["schedule"]));
    file.schedule = json["schedule"].get<std::string>();
  }
  for (const Json& names : ListOf(json, "free", path)) file.free.push_back(FreeOf(names, path));
  if (json.contains("server")) ReadServer(json["server"], path, file);
  for (const Json& row : ListOf(json, "rows", path)) file.rows.push_back(RowOf(row, path));
  return file;
}

FitPrediction Predict(const FitFile& file) {
  const int chunks = parallel::ChunksOf(file.schedule, file.pipeline);
  const parallel::Schedule schedule =
      parallel::MakeSchedule(file.schedule, {.ranks = file.pipeline.ranks,
                                             .micro_batches = file.pipeline.micro_batches,
                                             .chunks = chunks});
  std::vector<parallel::MeasuredRun> runs;
  for (const FitRow& row : file.rows)
    if (row.fit) runs.push_back({row.links, *row.seconds});
  FitPrediction prediction{
      .costs = parallel::FitCosts(schedule, parallel::StageCosts(file.pipeline, schedule),
                                  file.free, runs)};
  const std::vector<double> weights = WeightsOf(file, schedule);
  for (const FitRow& row : file.rows) {
    prediction.costs.links = row.links;
    const parallel::Simulation run = parallel::Simulate(schedule, prediction.costs);
    prediction.seconds.push_back(run.makespan);
    if (file.replicas > 0)
      prediction.with_server.push_back(parallel::SecondsWithServer(
          schedule, run, file.replicas, weights, row.links.Get(0, file.pipeline.ranks)));
  }
  return prediction;
}

std::string ToTable(const FitFile& file, const FitPrediction& prediction) {
  std::string table = fmt::format("{:<26} {:>9} {:>9} {:>8}{}\n", "links", "measured", "predicted",
                                  "error", file.replicas > 0 ? "  with server" : "");
  for (size_t i = 0; i < file.rows.size(); ++i) {
    const FitRow& row = file.rows[i];
    table += fmt::format("{:<26} {:>9} {:>9.2f} {:>8}", row.name,
                         row.seconds ? fmt::format("{:.2f}", *row.seconds) : "",
                         prediction.seconds[i], ErrorOf(row, prediction.seconds[i]));
    if (file.replicas > 0) table += fmt::format(" {:>12.2f}", prediction.with_server[i]);
    table.erase(table.find_last_not_of(' ') + 1);
    table += "\n";
  }
  return table + FittedLine(file, prediction.costs);
}

nlohmann::json ToJson(const FitFile& file, const FitPrediction& prediction) {
  nlohmann::json rows = nlohmann::json::array(), costs = nlohmann::json::object();
  for (size_t i = 0; i < file.rows.size(); ++i) {
    nlohmann::json& row = rows.emplace_back();
    row = {{"links", file.rows[i].name}, {"predicted", prediction.seconds[i]}};
    if (file.rows[i].seconds) row["measured"] = *file.rows[i].seconds;
    if (file.replicas > 0) row["with_server"] = prediction.with_server[i];
  }
  for (const parallel::FreeCosts& together : file.free)
    for (const parallel::CostList* kind : together)
      costs[kind->name] = prediction.costs.*kind->list;
  return {{"rows", rows}, {"costs", costs}};
}

}  // namespace torus::tools
