#include "recipes/model/output_order.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <numeric>

#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::recipes {
namespace {

using Names = std::vector<std::string>;

std::string Folded(std::string name) {
  for (char& c : name) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == '-' || c == ' ') c = '_';
  }
  return name;
}

// By output; empty where the config does not name them all.
Names LabelsOf(const nlohmann::json& config) {
  const nlohmann::json& map = io::Member(config, "id2label");
  Names labels;
  for (size_t i = 0; i < map.size(); ++i) {
    const nlohmann::json& label = io::Member(map, std::to_string(i).c_str());
    if (!label.is_string()) return {};
    labels.push_back(label.get<std::string>());
  }
  return labels;
}

bool SaysNothing(const Names& labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::string number = std::to_string(i), label = Folded(labels[i]);
    if (label != number && label != "label_" + number) return false;
  }
  return true;
}

}  // namespace

std::vector<int64_t> OutputOrder(const nlohmann::json& config, const Names& classes,
                                 const std::string& where) {
  std::vector<int64_t> outputs(classes.size());
  std::iota(outputs.begin(), outputs.end(), 0);
  Names labels = LabelsOf(config);
  if (SaysNothing(labels)) return outputs;
  std::ranges::transform(labels, labels.begin(), Folded);
  for (size_t c = 0; c < classes.size(); ++c) {
    const auto found = std::ranges::find(labels, Folded(classes[c]));
    Require(found != labels.end() && labels.size() == classes.size(), where,
            "config.json's id2label must name the classes {}, got {}", fmt::join(classes, ", "),
            fmt::join(labels, ", "));
    outputs[c] = found - labels.begin();
  }
  return outputs;
}

bool IsInOrder(const std::vector<int64_t>& outputs) { return std::ranges::is_sorted(outputs); }

}  // namespace torus::recipes
