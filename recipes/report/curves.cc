#include "recipes/report/curves.h"

#include <algorithm>
#include <limits>

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

// More points than a chart has pixels only make the page larger.
constexpr size_t kMostPoints = 2000;

double NumberOf(const Json& line, const char* key) {
  const Json value = line.value(key, Json());
  return value.is_number() ? value.get<double>() : 0;
}

// Null if nothing was sent, or no step was counted.
Json BytesPerSample(const Json& summary) {
  double sent = 0;
  for (const Json& link : summary.at("links")) sent += link.at("sent_bytes").get<double>();
  const double samples = NumberOf(summary, "samples");
  return sent > 0 && samples > 0 ? Json(sent / samples) : Json();
}

// What a run has taken up to some line of its metrics.
struct Taken {
  double seconds = 0, samples = 0;
  Json Bytes(const Json& per_sample) const {
    return per_sample.is_null() ? Json() : Json(samples * per_sample.get<double>());
  }
};

// A run that validates is tested at its end alone.
std::string EvaluatedPart(const std::vector<Json>& metrics) {
  const auto validates = [](const Json& line) { return line.at("kind") == "validation"; };
  return std::ranges::any_of(metrics, validates) ? "validation" : "test";
}

Json Fewer(const Json& points) {
  const size_t stride = points.size() / kMostPoints + 1;
  if (stride == 1) return points;
  Json fewer = Json::array();
  for (size_t i = 0; i < points.size(); i += stride) fewer.push_back(points[i]);
  fewer.push_back(points.back());
  return fewer;
}

}  // namespace

double ScoreOf(const Json& test) {
  const bool accuracy = test.contains("accuracy");
  const Json& score = test.at(accuracy ? "accuracy" : "perplexity");
  if (!score.is_number()) return std::numeric_limits<double>::quiet_NaN();
  return (accuracy ? 100 : 1) * score.get<double>();
}

std::string ScoreName(const Json& test) {
  return test.is_null() || test.contains("accuracy") ? "accuracy" : "perplexity";
}

Json CurvesOf(const Json& summary, const std::vector<Json>& metrics) {
  const Json per_sample = BytesPerSample(summary);
  Json steps = Json::array(), evaluations = Json::array();
  const std::string part = EvaluatedPart(metrics);
  Taken taken;
  for (const Json& line : metrics) {
    if (line.at("kind") == part) {
      evaluations.push_back({{"step", line.at("step")},
                             {"seconds", taken.seconds},
                             {"bytes", taken.Bytes(per_sample)},
                             {"loss", line.at("loss")},
                             {"score", ScoreOf(line)}});
      continue;
    }
    taken.seconds += NumberOf(line, "seconds");
    taken.samples += NumberOf(line, "samples");
    if (line.at("kind") == "train" && line.at("loss").is_number())
      steps.push_back({line.at("step"), line.at("loss"), taken.seconds, taken.Bytes(per_sample)});
  }
  return {{"steps", Fewer(steps)}, {"evaluations", evaluations}, {"evaluated", part}};
}

}  // namespace torus::recipes
