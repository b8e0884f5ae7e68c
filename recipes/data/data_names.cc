#include "recipes/data/data_names.h"

#include <algorithm>

#include "data/datasets/open_dataset.h"
#include "data/text/glue.h"

namespace torus::recipes {

std::vector<std::string> DataNames() {
  std::vector<std::string> names = data::DatasetNames();
  for (const std::string& task : data::GlueTasks()) names.push_back(task);
  names.push_back("text");
  return names;
}

std::string DataKind(const std::string& name) {
  if (name == "text") return "a long text";
  const std::vector<std::string> sentences = data::GlueTasks();
  return std::ranges::count(sentences, name) > 0 ? "sentences" : "images";
}

}  // namespace torus::recipes
