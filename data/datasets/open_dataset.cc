#include "data/datasets/open_dataset.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>

#include "data/datasets/cifar10.h"
#include "data/datasets/cifar100.h"
#include "data/datasets/fashion_mnist.h"
#include "data/datasets/image_folder.h"

namespace torus::data {
namespace {

struct Entry {
  std::string name;
  std::string usual_dir;  // empty: none
  bool of_files;          // the images are ImageFiles
  std::function<std::unique_ptr<Dataset>(const std::string&, Split)> open;
};

const std::vector<Entry>& Entries() {
  static const std::vector<Entry> entries = {
      {"fashion-mnist", kFashionMnistDir, false, OpenFashionMnist},
      {"cifar10", "", false, OpenCifar10},
      {"cifar100", "", false, OpenCifar100},
      {"image-folder", "", true, OpenImageFolder},
      {"food101", "", true, OpenFood101},
  };
  return entries;
}

void CheckFolder(const std::string& name, const std::string& dir) {
  Require(
      !dir.empty(), name,
      "has no usual place: give its folder as --data-dir, or set TORUS_DATA to the folder above");
  std::error_code error;
  const auto status = std::filesystem::status(dir, error);
  if (!std::filesystem::exists(status))
    Throw<BadInput>(dir, "must be the folder of {} (--data-dir): {}", name,
                    error ? error.message() : "No such file or directory");
  Require(std::filesystem::is_directory(status), dir,
          "must be the folder of {} (--data-dir), got a file", name);
}

}  // namespace

std::vector<std::string> DatasetNames() {
  std::vector<std::string> names;
  for (const Entry& entry : Entries()) names.push_back(entry.name);
  return names;
}

bool IsOfImageFiles(const std::string& name) {
  return std::ranges::any_of(
      Entries(), [&](const Entry& entry) { return entry.name == name && entry.of_files; });
}

std::unique_ptr<Dataset> OpenDataset(const std::string& name, const std::string& dir, Split split) {
  for (const Entry& entry : Entries()) {
    if (entry.name != name) continue;
    const std::string& folder = dir.empty() ? entry.usual_dir : dir;
    CheckFolder(name, folder);
    return entry.open(folder, split);
  }
  Throw<BadInput>("data", "requires one of {}, got '{}'", fmt::join(DatasetNames(), ", "), name);
}

}  // namespace torus::data
