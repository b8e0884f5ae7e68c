#include "data/datasets/image_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "data/files/file.h"
#include "data/files/lines.h"

namespace torus::data {
namespace {

namespace fs = std::filesystem;

const Normalization kImageNet{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

constexpr size_t kLongestName = 255;  // of a file or folder name

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool IsImageName(const fs::path& path) {
  static const std::vector<std::string> endings{".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm"};
  std::string ending = path.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(endings, ending) != endings.end();
}

// Calls visit(entry) for everything in a folder. Throws BadInput with the system's reason.
template <class Iterator, class Visit>
void ForEachEntry(const std::string& dir, const Visit& visit) {
  try {
    for (const fs::directory_entry& entry : Iterator(dir)) visit(entry);
  } catch (const fs::filesystem_error& e) {
    Throw<BadInput>(dir, "cannot be listed: {}", e.code().message());
  }
}

// The names of the folders in `dir`, sorted.
std::vector<std::string> FoldersIn(const std::string& dir) {
  std::vector<std::string> names;
  ForEachEntry<fs::directory_iterator>(dir, [&](const fs::directory_entry& entry) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  });
  std::ranges::sort(names);
  Require(!names.empty(), dir, "requires a folder for each class, got none");
  return names;
}

void AddImages(const std::string& dir, int64_t label, std::vector<ImageFile>* files) {
  std::vector<std::string> paths;
  ForEachEntry<fs::recursive_directory_iterator>(dir, [&](const fs::directory_entry& entry) {
    if (IsImageName(entry.path()) && entry.is_regular_file()) paths.push_back(entry.path());
  });
  std::ranges::sort(paths);
  for (std::string& path : paths) files->push_back({std::move(path), label});
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

std::string FolderOf(const std::string& dir, Split split) {
  if (split == Split::kTrain) return dir + "/train";
  return IsFolder(dir + "/test") ? dir + "/test" : dir + "/val";
}

std::string TextOf(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadFile(path);
  return std::string(bytes.begin(), bytes.end());
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
  const std::string folder = FolderOf(dir, split);
  std::vector<std::string> names = FoldersIn(FolderOf(dir, Split::kTrain));
  const Classes classes = Numbered(names, dir);
  std::vector<ImageFile> files;
  for (const std::string& name : FoldersIn(folder)) {
    const auto found = classes.find(name);
    Require(found != classes.end(), folder, "requires the classes of train, got {}", name);
    AddImages(fmt::format("{}/{}", folder, name), found->second, &files);
  }
  return std::make_unique<ImageFiles>(
      DatasetInfo{.name = folder, .classes = std::move(names), .normalization = kImageNet},
      std::move(files));
}

std::unique_ptr<ImageFiles> OpenFood101(const std::string& dir, Split split) {
  std::vector<std::string> names;
  const std::string class_file = dir + "/meta/classes.txt", class_text = TextOf(class_file);
  for (const Line& line : LinesOf(class_text)) names.emplace_back(line.text);
  const Classes classes = Numbered(names, class_file);
  const std::string list = fmt::format("{}/meta/{}.txt", dir, Name(split)), text = TextOf(list);
  std::vector<ImageFile> files;
  for (const Line& line : LinesOf(text)) files.push_back(FileOfLine(dir, list, line, classes));
  return std::make_unique<ImageFiles>(DatasetInfo{.name = fmt::format("food101 {}", Name(split)),
                                                  .classes = std::move(names),
                                                  .normalization = kImageNet},
                                      std::move(files));
}

}  // namespace torus::data
