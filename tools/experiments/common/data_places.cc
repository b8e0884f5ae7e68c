#include "tools/experiments/common/data_places.h"

#include <fmt/format.h>

#include <filesystem>

#include "recipes/data/data_places.h"
#include "recipes/model/model_of.h"
#include "runtime/error.h"

namespace torus::experiments {
namespace {

// A sample of Food-101 serves experiments as a folder of images.
std::string PlaceOf(const std::string& data) {
  return data == "image-folder" ? "food101_64/sample" : recipes::PlaceOf(data);
}

bool IsThere(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

std::optional<std::string> FindData(const std::string& data, Training& training) {
  recipes::Settings& s = training.settings;
  const auto take = [&](const std::string& place, std::string& path) {
    path = data + "/" + place;
    return !data.empty() && IsThere(path);
  };
  if (s.data == "fashion-mnist") {
    if (!IsThere("/usr/share/datasets/fashion-mnist"))
      return "/usr/share/datasets/fashion-mnist is not there (package dataset-fashion-mnist)";
  } else {
    const std::string place = PlaceOf(s.data);
    TORUS_CHECK(!place.empty(), "no place is known for the data {}", s.data);
    if (!take(place, s.data_dir))
      return fmt::format("{} is not below the data folder \"{}\"", place, data);
  }
  const std::string reads = recipes::ModelOf(s).tokenizer;
  if (!reads.empty() && (s.tokenizer.empty() || s.tokenizer == reads))
    if (!take(recipes::kVocabularyPlace, s.vocab_dir))
      return fmt::format("{} is not below the data folder \"{}\"", recipes::kVocabularyPlace, data);
  if (!training.weights.empty() && !take(training.weights, s.init))
    return fmt::format("{} is not below the data folder \"{}\"", training.weights, data);
  return std::nullopt;
}

}  // namespace torus::experiments
