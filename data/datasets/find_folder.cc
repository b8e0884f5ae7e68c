#include "data/datasets/find_folder.h"

#include <filesystem>
#include <system_error>

#include "data/datasets/class_folders.h"
#include "runtime/error.h"

namespace torus::data {

std::string FindFolder(const std::string& dir, const PublishedFolder& published) {
  std::vector<std::string> places{dir};
  for (const std::string& folder : published.inside) places.push_back(dir + "/" + folder);
  for (const std::string& place : places) {
    std::error_code error;
    if (std::filesystem::is_regular_file(place + "/" + published.file, error)) return place;
  }
  Throw<BadInput>(dir, "no {} here: looked for {}, also in {}; got {}{}", published.title,
                  published.file, fmt::join(published.inside, " and "), EntriesOf(dir),
                  published.hint);
}

}  // namespace torus::data
