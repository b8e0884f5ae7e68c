#include "runtime/io/folder_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "runtime/error.h"
#include "runtime/io/folder_place.h"

namespace torus::io {
namespace {

constexpr int kMostTries = 1000;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

// Returns null if it is not a folder.
OpenFolder Open(const std::string& path) {
  OpenFolder folder(::opendir(path.c_str()));
  if (!folder && errno != ENOENT && errno != ENOTDIR)
    Throw<BrokenEnvironment>(path, "cannot open folder: {}", std::strerror(errno));
  return folder;
}

bool IsRegular(int folder, const char* name) {
  struct stat status = {};
  return ::fstatat(folder, name, &status, 0) == 0 && S_ISREG(status.st_mode);
}

// An open folder keeps its inode number, so an equal number means the same folder.
bool StillNamed(int folder, const std::string& path) {
  struct stat open = {}, named = {};
  return ::fstat(folder, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace

FolderReader::FolderReader(const std::string& path) : path_(path) {
  for (int i = 0; i < kMostTries; ++i) {
    const std::string folder = CommittedFolder(path);
    Require(!folder.empty(), path, "must be a folder, got no such folder");
    if (TryOpen(folder)) return;
  }
  Throw<BrokenEnvironment>(path, "was replaced {} times while it was opened", kMostTries);
}

const InputFile& FolderReader::File(const std::string& name) const {
  const auto found = files_.find(name);
  if (found == files_.end())
    Throw<BadInput>(path_ + "/" + name, "cannot open: there is no such file");
  return found->second;
}

// Returns false if a writer replaced the folder meanwhile; files disappear only in that case.
bool FolderReader::TryOpen(const std::string& folder) {
  files_.clear();
  const OpenFolder open = Open(folder);
  if (!open) return false;
  const int fd = ::dirfd(open.get());
  try {
    while (const dirent* entry = ::readdir(open.get())) {
      const std::string name = entry->d_name;
      if (IsRegular(fd, entry->d_name)) files_.try_emplace(name, fd, name, path_ + "/" + name);
    }
  } catch (const BadInput&) {
    if (StillNamed(fd, folder)) throw;
  }
  return StillNamed(fd, folder);
}

}  // namespace torus::io
