#include "recipes/report/report_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "recipes/report/timeline.h"
#include "recipes/report/units.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

// More points than a chart has pixels only make the page heavy.
constexpr size_t kMostPoints = 2000;

std::string LaneName(const Json& rank, bool replicas) {
  const std::string stage =
      fmt::format("stage {}", fmt::join(rank.at("stages").get<std::vector<int>>(), ", "));
  return replicas ? fmt::format("rank {} · replica {}, {}", rank.at("rank").get<int>(),
                                rank.at("replica").get<int>(), stage)
                  : fmt::format("rank {} · {}", rank.at("rank").get<int>(), stage);
}

std::vector<std::string> LaneNames(const Json& summary) {
  const bool replicas = summary.at("settings").at("replicas") > 1;
  std::vector<std::string> names;
  for (const Json& rank : summary.at("ranks")) names.push_back(LaneName(rank, replicas));
  return names;
}

// [step, loss] of the training steps, every n-th where there are too many.
Json StepPoints(const std::vector<Json>& metrics) {
  Json points = Json::array();
  for (const Json& line : metrics)
    if (line.at("kind") == "train" && line.at("loss").is_number())
      points.push_back({line.at("step"), line.at("loss")});
  const size_t stride = points.size() / kMostPoints + 1;
  if (stride == 1) return points;
  Json fewer = Json::array();
  for (size_t i = 0; i < points.size(); i += stride) fewer.push_back(points[i]);
  fewer.push_back(points.back());
  return fewer;
}

// A percentage, or a language model's perplexity; not a number where that was not finite.
double Score(const Json& test) {
  const bool accuracy = test.contains("accuracy");
  const Json& score = test.at(accuracy ? "accuracy" : "perplexity");
  if (!score.is_number()) return std::numeric_limits<double>::quiet_NaN();
  return (accuracy ? 100 : 1) * score.get<double>();
}

std::string ScoreName(const Json& test) {
  return test.is_null() || test.contains("accuracy") ? "accuracy" : "perplexity";
}

Json Evaluations(const std::vector<Json>& metrics) {
  Json found = Json::array();
  for (const Json& line : metrics)
    if (line.at("kind") == "test")
      found.push_back(
          {{"step", line.at("step")}, {"loss", line.at("loss")}, {"score", Score(line)}});
  return found;
}

Json TestCard(const Json& summary) {
  const Json& test = summary.at("test");
  if (test.is_null()) return {"Test", "–", "not evaluated"};
  const bool accuracy = test.contains("accuracy");
  return {accuracy ? "Test accuracy" : "Test perplexity",
          fmt::format("{:.2f}{}", Score(test), accuracy ? " %" : ""),
          fmt::format("after {:.3g} epochs", summary.at("epochs_done").get<double>())};
}

// "Images per second".
std::string SpeedName(std::string unit) {
  unit[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0])));
  return unit + " per second";
}

Json BytesCard(const Json& summary) {
  uint64_t sent = 0, raw = 0;
  for (const Json& link : summary.at("links")) {
    if (link.at("what") == "all-reduce") continue;
    sent += link.at("sent_bytes").get<uint64_t>();
    raw += link.at("float32_bytes").get<uint64_t>();
  }
  if (sent == 0) return {"On the cuts", "–", "one rank"};
  return {"On the cuts", FormatBytes(sent), fmt::format("float32: {}", FormatBytes(raw))};
}

Json Cards(const Json& summary) {
  const Json& bubble = summary.at("bubble");
  return {
      TestCard(summary),
      {SpeedName(summary.at("unit")), FormatCount(summary.at("samples_per_second").get<double>()),
       fmt::format("{} threads", summary.at("settings").at("threads").get<int64_t>())},
      {"Training time", FormatSeconds(summary.at("seconds").get<double>()),
       fmt::format("{} steps", FormatCount(summary.at("steps_here").get<double>()))},
      {"Bubble", fmt::format("{:.1f} %", 100 * bubble.at("measured").get<double>()),
       fmt::format("ideal {:.1f} %", 100 * bubble.at("ideal").get<double>())},
      BytesCard(summary),
      {"Peak memory", FormatBytes(summary.at("memory").at("peak_bytes").get<uint64_t>()),
       "all ranks together"}};
}

std::string Lead(const Json& settings) {
  const auto many = [&](const char* key, const char* one, const char* several) {
    const auto n = settings[key].get<int64_t>();
    return fmt::format("{} {}", n, n == 1 ? one : several);
  };
  return fmt::format("{}, {}, {}, {} schedule, codec {}", many("stages", "stage", "stages"),
                     many("replicas", "replica", "replicas"),
                     many("micro-batches", "micro-batch", "micro-batches"),
                     settings.at("schedule").get<std::string>(),
                     settings.at("codec").get<std::string>());
}

// Flags that were left empty say nothing.
Json ShownSettings(const Json& summary) {
  Json shown = Json::object();
  for (const auto& [name, value] : summary.at("settings").items())
    if (value != "") shown[name] = value.is_string() ? value : Json(value.dump());
  if (!summary.at("cuts").empty())
    shown["cut"] = fmt::format("{}", fmt::join(summary.at("cuts").get<std::vector<int>>(), ","));
  return shown;
}

Json Ranks(const Json& summary, const std::vector<std::string>& names) {
  Json ranks = Json::array();
  for (size_t r = 0; r < names.size(); ++r) {
    Json seconds = summary.at("ranks").at(r).at("seconds");
    seconds["data"] = seconds["data_wait"];
    ranks.push_back({{"name", names[r]}, {"seconds", seconds}});
  }
  return ranks;
}

Json Links(const Json& summary) {
  Json links = Json::array();
  for (const Json& link : summary.at("links"))
    links.push_back({{"from", link.at("from")},
                     {"to", link.at("to")},
                     {"what", link.at("what")},
                     {"sent", link.at("sent_bytes")},
                     {"float32", link.at("float32_bytes")}});
  return links;
}

Json Memory(const Json& memory) {
  const auto row = [&](const char* name, const char* key, const char* kind) {
    return Json{{"name", name}, {"bytes", memory.at(key)}, {"kind", kind}};
  };
  return {row("Most tensors alive at once", "peak_bytes", "forward"),
          row("Held from the system", "held_bytes", "other"),
          row("Weights and running statistics", "weights_bytes", "optimizer"),
          row("Optimizer state", "optimizer_bytes", "backward")};
}

// Mean time of one kind that a stage takes for a micro-batch, both halves of a backward together;
// `otherwise` where the picture has none. `count`: stages x micro-batches x replicas.
double MeanTime(const Json& picture, const char* kind, int64_t count, double otherwise) {
  double sum = 0;
  for (const Json& lane : picture.at("lanes"))
    for (const Json& span : lane.at("spans"))
      if (span[2] == kind) sum += span[1].get<double>() - span[0].get<double>();
  return sum > 0 ? sum / static_cast<double>(count) : otherwise;
}

int64_t StageTimes(const Json& settings) {
  int64_t count = settings.value("accumulate", int64_t{1});
  for (const char* key : {"stages", "micro-batches", "replicas"})
    count *= settings.at(key).get<int64_t>();
  return count;
}

Json Measured(const ReportInput& input, const std::vector<std::string>& names) {
  Json measured = MeasuredTimeline(input.events, names);
  measured["label"] = "The ranks of one step, as measured";
  measured["note"] =
      measured["step"].is_null()
          ? std::string("No whole step was traced.")
          : fmt::format(
                "Step {}, {}. Over all steps the ranks wait {:.1f} % of their time in the "
                "pipeline.",
                measured["step"].get<int64_t>(), FormatSeconds(measured["seconds"].get<double>()),
                100 * input.summary.at("bubble").at("measured").get<double>());
  return measured;
}

// `measured`: its forwards and backwards are as long on average.
Json Ideal(const ReportInput& input, const std::vector<std::string>& names, const Json& measured) {
  const Json& bubble = input.summary.at("bubble");
  const std::string bubbles = fmt::format("{:.1f} % bubble. With these stages: {:.1f} %.",
                                          100 * bubble.at("ideal").get<double>(),
                                          100 * bubble.at("balanced").get<double>());
  if (!input.schedule)
    return {
        {"seconds", 0},
        {"lanes", Json::array()},
        {"note", fmt::format("The run left no schedule that can be drawn here: in equal stages {}",
                             bubbles)}};
  const int64_t count = StageTimes(input.summary.at("settings"));
  Json ideal = IdealTimeline(*input.schedule, MeanTime(measured, "forward", count, 1),
                             MeanTime(measured, "backward", count, 2), names);
  ideal["label"] = "The ranks of one step, ideally";
  ideal["note"] = fmt::format(
      "The same forwards and backwards in equal stages, nothing to transfer: {}", bubbles);
  return ideal;
}

void AddTimelines(const ReportInput& input, const std::vector<std::string>& names, Json& data) {
  data["measured"] = Measured(input, names);
  data["ideal"] = Ideal(input, names, data["measured"]);
  const double axis =
      std::max(data["measured"]["seconds"].get<double>(), data["ideal"]["seconds"].get<double>());
  data["measured"]["axis"] = data["ideal"]["axis"] = axis;
}

}  // namespace

Json ReportData(const ReportInput& input) {
  const Json& summary = input.summary;
  const std::vector<std::string> names = LaneNames(summary);
  Json data = {
      {"title", summary.at("title")},
      {"lead", Lead(summary.at("settings"))},
      {"cards", Cards(summary)},
      {"settings", ShownSettings(summary)},
      {"steps", StepPoints(input.metrics)},
      {"evaluations", Evaluations(input.metrics)},
      {"lossNote", "Cross entropy: of each step, their running mean, and of the test set."},
      {"scoreName", ScoreName(summary.at("test"))},
      {"scoreNote", summary.at("test").is_null()
                        ? std::string("The run was not evaluated.")
                        : fmt::format("On the {} test {}.",
                                      FormatCount(summary.at("test").at("samples").get<double>()),
                                      summary.at("unit").get<std::string>())},
      {"ranks", Ranks(summary, names)},
      {"links", Links(summary)},
      {"memory", Memory(summary.at("memory"))}};
  AddTimelines(input, names, data);
  return data;
}

}  // namespace torus::recipes
