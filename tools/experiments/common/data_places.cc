#include "tools/experiments/common/data_places.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "recipes/model/model_of.h"
#include "runtime/error.h"

namespace torus::experiments {
namespace {

// The folder for each name of --data. Fashion-MNIST is missing: it is found where its package puts
// it.
const std::map<std::string, std::string>& Places() {
  static const std::map<std::string, std::string> places{{"cifar10", "cifar10"},
                                                         {"cifar100", "cifar100"},
                                                         {"food101", "food101"},
                                                         {"image-folder", "food101_64/sample"},
                                                         {"rte", "glue/RTE"},
                                                         {"cola", "glue/CoLA"},
                                                         {"text", "text/tinyshakespeare.txt"}};
  return places;
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
    const auto place = Places().find(s.data);
    TORUS_CHECK(place != Places().end(), "no place is known for the data {}", s.data);
    if (!take(place->second, s.data_dir))
      return fmt::format("{} is not below the data folder \"{}\"", place->second, data);
  }
  const std::string reads = recipes::ModelOf(s).tokenizer;
  if (!reads.empty() && (s.tokenizer.empty() || s.tokenizer == reads))
    if (!take("bpe_gpt2_roberta", s.vocab_dir))
      return fmt::format("bpe_gpt2_roberta is not below the data folder \"{}\"", data);
  if (!training.weights.empty() && !take(training.weights, s.init))
    return fmt::format("{} is not below the data folder \"{}\"", training.weights, data);
  return std::nullopt;
}

}  // namespace torus::experiments
