#include "recipes/data/data_places.h"

#include <cstdlib>
#include <filesystem>
#include <map>

#include "recipes/data/data_names.h"

namespace torus::recipes {

std::string PlaceOf(const std::string& data) {
  static const std::map<std::string, std::string> places{{"fashion-mnist", "fashion-mnist"},
                                                         {"cifar10", "cifar10"},
                                                         {"cifar100", "cifar100"},
                                                         {"food101", "food101"},
                                                         {"rte", "glue/RTE"},
                                                         {"cola", "glue/CoLA"},
                                                         {"mrpc", "glue/MRPC"},
                                                         {"qqp", "glue/QQP"},
                                                         {"sst2", "glue/SST-2"},
                                                         {"wnli", "glue/WNLI"},
                                                         {"text", "text/tinyshakespeare.txt"}};
  const auto found = places.find(data);
  return found == places.end() ? "" : found->second;
}

// A GPT on a text takes bytes unless it is told otherwise.
bool NeedsPublishedVocabulary(const std::string& tokenizer, const std::string& data) {
  return tokenizer == "gpt2" || tokenizer == "roberta" ||
         (tokenizer.empty() && !data.empty() && DataKind(data) == "sentences");
}

std::string InCommonFolder(const std::string& place) {
  const char* const common = std::getenv("TORUS_DATA");
  if (common == nullptr || *common == 0 || place.empty()) return "";
  const std::string path = std::string(common) + "/" + place;
  std::error_code none;
  return std::filesystem::exists(path, none) ? path : "";
}

void UseCommonFolder(Settings& settings) {
  if (settings.data_dir.empty()) settings.data_dir = InCommonFolder(PlaceOf(settings.data));
  if (settings.vocab_dir.empty() && NeedsPublishedVocabulary(settings.tokenizer, settings.data))
    settings.vocab_dir = InCommonFolder(kVocabularyPlace);
}

}  // namespace torus::recipes
