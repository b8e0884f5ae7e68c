#include "data/datasets/image_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "data/datasets/class_folders.h"
#include "data/datasets/find_folder.h"
#include "data/files/lines.h"
#include "runtime/io/file.h"

namespace torus::data {
namespace {

namespace fs = std::filesystem;

const Normalization kImageNet{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

constexpr size_t kLongestName = 255;  // of a file or folder name

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// Class names and their numbers.
using Classes = std::map<std::string, int64_t, std::less<>>;

Classes Numbered(const std::vector<std::string>& names, const std::string& path) {
  Classes classes;
  for (const std::string& name : names) {
    Require(classes.emplace(name, static_cast<int64_t>(classes.size())).second, path,
            "requires each class once, got {} twice", std::string_view(name).substr(0, 80));
  }
  return classes;
}

std::string TrainFolder(const std::string& dir) {
  if (!IsFolder(dir + "/train"))
    Throw<BadInput>(dir,
                    "no image folder here: looked for train, with a folder for each class; got {}",
                    EntriesOf(dir));
  return dir + "/train";
}

std::string TestFolder(const std::string& dir) {
  if (IsFolder(dir + "/test")) return dir + "/test";
  std::vector<std::string> found;
  for (const char* name : {"val", "valid", "validation"})
    if (IsFolder(fmt::format("{}/{}", dir, name))) found.emplace_back(name);
  if (found.size() != 1)
    Throw<BadInput>(dir, "requires a folder test, or one of val, valid and validation; got {}",
                    found.empty() ? EntriesOf(dir) : fmt::format("{}", fmt::join(found, " and ")));
  return fmt::format("{}/{}", dir, found[0]);
}

// The file that a line CLASS/NAME of Food-101 names.
ImageFile FileOfLine(const std::string& dir, const std::string& list, const Line& line,
                     const Classes& classes) {
  const size_t slash = std::min(line.text.find('/'), line.text.size());
  const auto found = classes.find(line.text.substr(0, slash));
  const std::string_view name = line.text.substr(std::min(slash + 1, line.text.size()));
  const bool names_file =
      !name.empty() && name.size() + 4 <= kLongestName && name.find('/') == name.npos;
  Require(found != classes.end() && slash <= kLongestName && names_file, list,
          "line {}: requires CLASS/NAME with one of {} classes, got '{}'", line.number,
          classes.size(), line.text.substr(0, 80));
  return {fmt::format("{}/images/{}/{}.jpg", dir, found->first, name), found->second};
}

}  // namespace

std::unique_ptr<ImageFiles> OpenImageFolder(const std::string& dir, Split split) {
  const std::string train = TrainFolder(dir),
                    folder = split == Split::kTrain ? train : TestFolder(dir);
  std::vector<std::string> names;
  ClassFolders found = ListClassFolders(train);
  for (const ClassFolder& of : found.classes) names.push_back(of.name);
  if (names.empty())
    Throw<BadInput>(train, "requires a folder with images for each class, got {}",
                    EntriesOf(train));
  const Classes classes = Numbered(names, train);
  if (split == Split::kTest) found = ListClassFolders(folder);
  std::vector<ImageFile> files;
  for (ClassFolder& of : found.classes) {
    const auto known = classes.find(of.name);
    Require(known != classes.end(), folder, "requires the classes of train, got {}", of.name);
    for (std::string& path : of.images) files.push_back({std::move(path), known->second});
  }
  return std::make_unique<ImageFiles>(
      DatasetInfo{.name = folder, .classes = std::move(names), .normalization = kImageNet},
      std::move(files), std::move(found.passed_over));
}

std::unique_ptr<ImageFiles> OpenFood101(const std::string& given, Split split) {
  const std::string dir = FindFolder(
      given, {.title = "Food-101", .file = "meta/classes.txt", .inside = {"food-101"}, .hint = ""});
  std::vector<std::string> names;
  const std::string class_file = dir + "/meta/classes.txt",
                    class_text = io::InputFile(class_file).ReadAll();
  for (const Line& line : LinesOf(class_text)) names.emplace_back(line.text);
  const Classes classes = Numbered(names, class_file);
  const std::string list = fmt::format("{}/meta/{}.txt", dir, Name(split)),
                    text = io::InputFile(list).ReadAll();
  std::vector<ImageFile> files;
  for (const Line& line : LinesOf(text)) files.push_back(FileOfLine(dir, list, line, classes));
  return std::make_unique<ImageFiles>(DatasetInfo{.name = fmt::format("food101 {}", Name(split)),
                                                  .classes = std::move(names),
                                                  .normalization = kImageNet},
                                      std::move(files));
}

}  // namespace torus::data
