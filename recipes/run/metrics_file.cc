#include "recipes/run/metrics_file.h"

#include <algorithm>
#include <fstream>

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

// Leaves out a line that is damaged, or incomplete because the process was killed. JSON has no
// infinity and no NaN: they are null.
bool IsWhole(const Json& line) {
  const auto number = [&](const char* key) {
    return line.contains(key) && (line[key].is_number() || line[key].is_null());
  };
  if (!line.is_object() || !line.contains("step") || !line["step"].is_number_integer())
    return false;
  const Json kind = line.value("kind", Json());
  const bool test = kind == "test" && (number("accuracy") || number("perplexity"));
  return number("loss") && (test || kind == "train");
}

std::vector<Json> LinesUpTo(const std::string& path, int64_t step) {
  std::vector<Json> lines;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const Json line = Json::parse(text, nullptr, false);
    if (IsWhole(line) && line["step"] <= step) lines.push_back(line);
  }
  return lines;
}

}  // namespace

MetricsFile::MetricsFile(std::string path, int64_t step) {
  const std::vector<Json> kept = step > 0 ? LinesUpTo(path, step) : std::vector<Json>();
  file_ = std::make_unique<io::OutputFile>(std::move(path));
  for (const Json& line : kept) Add(line);
}

void MetricsFile::Add(const Json& line) {
  file_->Write(line.dump() + "\n");
  lines_.push_back(line);
}

bool MetricsFile::HasTest(int64_t step) const {
  return std::ranges::any_of(lines_, [&](const Json& line) {
    return line.value("kind", Json()) == "test" && line["step"] == step;
  });
}

}  // namespace torus::recipes
