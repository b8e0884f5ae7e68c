#include "tools/simulate/pipeline_file.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "recipes/report/read_trace.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::tools {
namespace {

using Json = nlohmann::json;
using parallel::Pipeline;

constexpr int kMost = 4096;          // ranks, chunks, micro-batches
constexpr double kMostCost = 1e18;   // of which no sum overflows
constexpr int kMostParts = 1 << 20;  // their product: what a schedule's lists hold

class Reader {
 public:
  Reader(const Json& json, const std::string& path) : path_(path), json_(json) {}

  Pipeline Run() {
    Pipeline pipeline;
    Require(json_.contains("ranks"), path_, "needs the number of \"ranks\"");
    pipeline.ranks = Count("ranks", 1);
    pipeline.micro_batches = Count("micro-batches", kDefaultMicroBatches);
    pipeline.chunks = Count("chunks", pipeline.chunks);
    parallel::CostModel& costs = pipeline.costs;
    costs.backward_input_share = Share("backward-input-share", costs.backward_input_share);
    for (const parallel::CostList& kind : parallel::kCostLists)
      costs.*kind.list = List(kind.name, pipeline.ranks);
    if (costs.forward.empty()) costs.forward.assign(pipeline.ranks, kDefaultForward);
    if (costs.backward.empty()) costs.backward.assign(pipeline.ranks, kDefaultBackward);
    if (const Json* links = Take("links")) costs.links = LinksOf(*links, path_);
    for (const auto& [key, value] : json_.items())
      Require(taken_.contains(key), path_, "has a key that is unknown here: {}",
              io::Printable(key));
    return pipeline;
  }

 private:
  // Null if the file has no such key.
  const Json* Take(const char* key) {
    taken_.insert(key);
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  int Count(const char* key, int otherwise) {
    const Json* value = Take(key);
    if (value == nullptr) return otherwise;
    Require(value->is_number_integer() && *value >= 1 && *value <= kMost, path_,
            "\"{}\" must be a whole number from 1 to {}, got {}", key, kMost, io::Brief(*value));
    return value->get<int>();
  }

  double Share(const char* key, double otherwise) {
    const Json* value = Take(key);
    if (value == nullptr) return otherwise;
    Require(value->is_number() && *value >= 0 && *value <= 1, path_,
            "\"{}\" must be a number from 0 to 1, got {}", key, io::Brief(*value));
    return value->get<double>();
  }

  double Number(const char* key, const Json& value) const {
    Require(value.is_number() && value >= 0 && value <= kMostCost, path_,
            "\"{}\" must be a number from 0 to {}, or a list of them, got {}", key, kMostCost,
            io::Brief(value));
    return value.get<double>();
  }

  std::vector<double> List(const char* key, int ranks) {
    const Json* value = Take(key);
    if (value == nullptr) return {};
    if (!value->is_array()) return std::vector<double>(ranks, Number(key, *value));
    Require(std::ssize(*value) == ranks, path_,
            "\"{}\" must have one number for each of {} ranks, got {}", key, ranks, value->size());
    std::vector<double> list;
    for (const Json& entry : *value) list.push_back(Number(key, entry));
    return list;
  }

  const std::string& path_;
  const Json& json_;
  std::set<std::string> taken_;
};

double Median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void CheckSize(const Pipeline& pipeline) {
  const int64_t parts = int64_t{1} * pipeline.ranks * pipeline.chunks * pipeline.micro_batches;
  Require(parts <= kMostParts, "simulate",
          "ranks x chunks x micro-batches must be at most {}, got {} x {} x {} = {}", kMostParts,
          pipeline.ranks, pipeline.chunks, pipeline.micro_batches, parts);
}

parallel::LinkTable LinksOf(const Json& value, const std::string& path) {
  std::vector<std::string> specs;
  for (const Json& spec : value.is_array() ? value : Json::array({value})) {
    Require(spec.is_string(), path, "\"links\" must be texts such as \"0-1:10ms,1Gbps\", got {}",
            io::Brief(spec));
    specs.push_back(spec.get<std::string>());
  }
  return parallel::ParseLinks(specs);
}

Pipeline PipelineOf(const Json& json, const std::string& path) { return Reader(json, path).Run(); }

Pipeline ReadPipeline(const std::string& path) {
  return PipelineOf(io::ReadJsonObject(path), path);
}

void FitTimes(const std::string& path, Pipeline& pipeline) {
  // Sums over both halves of a backward and over a rank's stages.
  std::map<std::tuple<int, bool, int64_t, int64_t>, double> sums;  // rank, forward?, step, part
  for (const trace::Event& event : recipes::ReadChromeTrace(path)) {
    const bool forward = event.category == "forward";
    if (!forward && event.category != "backward") continue;
    Require(event.rank < pipeline.ranks, path, "is of rank {} too, but the pipeline has {} ranks",
            event.rank, pipeline.ranks);
    sums[{event.rank, forward, event.step, event.micro_batch}] +=
        1e-9 * static_cast<double>(event.end_ns - event.begin_ns);
  }
  std::map<std::pair<int, bool>, std::vector<double>> times;  // rank, forward?
  for (const auto& [key, seconds] : sums)
    times[{std::get<0>(key), std::get<1>(key)}].push_back(seconds);
  for (const bool forward : {true, false}) {
    std::vector<double>& list = forward ? pipeline.costs.forward : pipeline.costs.backward;
    list.clear();
    for (int rank = 0; rank < pipeline.ranks; ++rank) {
      const auto found = times.find({rank, forward});
      Require(found != times.end(), path, "has no {} of rank {}, but the pipeline has {} ranks",
              forward ? "forward" : "backward", rank, pipeline.ranks);
      list.push_back(Median(found->second));
    }
  }
}

}  // namespace torus::tools
