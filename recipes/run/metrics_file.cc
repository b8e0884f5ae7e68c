#include "recipes/run/metrics_file.h"

#include <algorithm>
#include <fstream>

#include "runtime/io/replaced_file.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

bool IsEvaluation(const Json& line) {
  const Json kind = line.value("kind", Json());
  return kind == "test" || kind == "validation";
}

// Leaves out a line that is damaged, or incomplete because the process was killed. JSON has no
// infinity and no NaN: they are null.
bool IsWhole(const Json& line) {
  const auto number = [&](const char* key) {
    return line.contains(key) && (line[key].is_number() || line[key].is_null());
  };
  if (!line.is_object() || !line.contains("step") || !line["step"].is_number_integer())
    return false;
  const bool evaluation = IsEvaluation(line) && (number("accuracy") || number("perplexity"));
  return number("loss") && (evaluation || line.value("kind", Json()) == "train");
}

}  // namespace

MetricsFile::MetricsFile(const std::string& path, int64_t step) {
  std::ifstream old(path);
  io::ReplaceFile(path, [&](const std::string& fresh) {
    io::OutputFile file(fresh);
    for (std::string text; step > 0 && std::getline(old, text);) {
      const Json line = Json::parse(text, nullptr, false);
      if (!IsWhole(line) || line["step"] > step) continue;
      file.Write(line.dump() + "\n");
      Keep(line);
    }
    file.Close(true);
  });
  file_ = std::make_unique<io::OutputFile>(path, io::IfExists::kAppend);
}

void MetricsFile::Add(const Json& line) {
  file_->Write(line.dump() + "\n");
  Keep(line);
}

void MetricsFile::Keep(const Json& line) {
  const std::scoped_lock lock(mutex_);
  if (IsEvaluation(line)) {
    evaluations_.push_back(line);
    return;
  }
  last_ = line;
  if (steps_seen_++ % every_ != 0) return;
  steps_.push_back(line);
  if (steps_.size() > kMostSteps) Thin();
}

// Leaves the first, third, fifth, ...
void MetricsFile::Thin() {
  size_t kept = 0;
  for (size_t i = 0; i < steps_.size(); i += 2) steps_[kept++] = std::move(steps_[i]);
  steps_.resize(kept);
  every_ *= 2;
}

std::vector<Json> MetricsFile::lines() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Json> all = steps_;
  if (!last_.is_null() && all.back()["step"] != last_["step"]) all.push_back(last_);
  all.insert(all.end(), evaluations_.begin(), evaluations_.end());
  std::ranges::stable_sort(all, {}, [](const Json& line) { return line["step"].get<int64_t>(); });
  return all;
}

bool MetricsFile::HasEvaluation(const std::string& kind, int64_t step) const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(
      evaluations_, [&](const Json& line) { return line["kind"] == kind && line["step"] == step; });
}

int64_t MetricsFile::EvaluationsAfter(const std::string& kind, int64_t step) const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::count_if(
      evaluations_, [&](const Json& line) { return line["kind"] == kind && line["step"] > step; });
}

}  // namespace torus::recipes
