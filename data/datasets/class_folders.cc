#include "data/datasets/class_folders.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/error.h"

namespace torus::data {
namespace {

namespace fs = std::filesystem;

bool IsImageName(const std::string& name) {
  static constexpr std::array<std::string_view, 9> kEndings{
      ".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", ".tif", ".tiff", ".webp"};
  std::string ending = fs::path(name).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return !name.starts_with("._") && std::ranges::find(kEndings, ending) != kEndings.end();
}

bool IsHidden(const std::string& name) { return name.starts_with(".") || name == "__MACOSX"; }

std::string Files(size_t count) { return fmt::format("{} file{}", count, count == 1 ? "" : "s"); }

// Everything in a folder. Throws BadInput with the system's reason.
std::vector<fs::directory_entry> EntriesIn(const std::string& dir) {
  try {
    return {fs::directory_iterator(dir), fs::directory_iterator()};
  } catch (const fs::filesystem_error& e) {
    Throw<BadInput>(dir, "cannot be listed: {}", e.code().message());
  }
}

// Without links. Throws BadInput with the system's reason.
fs::path Canonical(const std::string& dir) {
  std::error_code error;
  fs::path path = fs::canonical(dir, error);
  Require(!error, dir, "cannot be listed: {}", error.message());
  return path;
}

// How many files are in a folder that is passed over; links are not followed.
size_t CountFiles(const std::string& dir) {
  std::error_code error;
  size_t count = 0;
  for (fs::recursive_directory_iterator at(dir, error), end; !error && at != end;
       at.increment(error))
    count += !fs::is_directory(at->symlink_status());
  return count;
}

// A walk through all folders below one.
class Walk {
 public:
  // `above`: folders that no link may lead back to.
  explicit Walk(std::vector<fs::path> above) : above_(std::move(above)) {}

  void Enter(const std::string& dir) {
    above_.push_back(Canonical(dir));
    for (const fs::directory_entry& entry : EntriesIn(dir)) Visit(entry);
    above_.pop_back();
  }

  std::vector<std::string> images;
  std::vector<LeftOut> passed_over;

 private:
  void Visit(const fs::directory_entry& entry) {
    std::error_code error;
    const fs::file_status status = entry.status(error);
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    if (fs::is_directory(status)) return VisitFolder(path, name);
    if (!fs::exists(status))
      return PassOver(path, entry.is_symlink() ? "a link to nothing" : error.message());
    if (!fs::is_regular_file(status)) return PassOver(path, "no regular file");
    if (!IsImageName(name)) return PassOver(path, "not named as an image");
    images.push_back(path);
  }

  void VisitFolder(const std::string& path, const std::string& name) {
    if (IsHidden(name))
      return PassOver(path, fmt::format("a hidden folder of {}", Files(CountFiles(path))));
    if (std::ranges::find(above_, Canonical(path)) != above_.end())
      return PassOver(path, "a link back to a folder that it is in");
    Enter(path);
  }

  void PassOver(const std::string& path, std::string reason) {
    passed_over.push_back({path, std::move(reason)});
  }

  std::vector<fs::path> above_;
};

// A folder in the folder of classes.
void AddClass(const fs::directory_entry& entry, const std::string& dir, ClassFolders* all) {
  const std::string path = entry.path().string(), name = entry.path().filename().string();
  if (IsHidden(name)) {
    all->passed_over.push_back(
        {path, fmt::format("a hidden folder of {}", Files(CountFiles(path)))});
    return;
  }
  Walk walk({Canonical(dir)});
  walk.Enter(path);
  if (walk.images.empty()) {
    all->passed_over.push_back(
        {path, fmt::format("a folder of {} without images", Files(CountFiles(path)))});
    return;
  }
  std::ranges::sort(walk.images);
  all->classes.push_back({name, std::move(walk.images)});
  std::ranges::move(walk.passed_over, std::back_inserter(all->passed_over));
}

}  // namespace

ClassFolders ListClassFolders(const std::string& dir) {
  ClassFolders all;
  for (const fs::directory_entry& entry : EntriesIn(dir)) {
    std::error_code error;
    const fs::file_status status = entry.status(error);
    if (fs::is_directory(status))
      AddClass(entry, dir, &all);
    else
      all.passed_over.push_back({entry.path().string(), fs::exists(status)
                                                            ? "in no folder of a class"
                                                            : "a link to nothing"});
  }
  std::ranges::sort(all.classes, {}, &ClassFolder::name);
  std::ranges::sort(all.passed_over, {}, &LeftOut::where);
  return all;
}

std::string EntriesOf(const std::string& dir) {
  constexpr size_t kMost = 5;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : EntriesIn(dir))
    names.push_back(entry.path().filename().string());
  if (names.empty()) return "nothing";
  std::ranges::sort(names);
  const size_t more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace torus::data
