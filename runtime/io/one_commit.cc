#include "runtime/io/one_commit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/io/folder_place.h"

namespace torus::io {

FolderIdentity::FolderIdentity(const std::string& path) : path_(path), folder_(path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  fd_ = ::open(path.c_str(), kFlags);
  if (fd_ >= 0) return;
  const std::string committed = CommittedFolder(path);
  if (committed.empty()) return;
  folder_ = committed;
  fd_ = ::open(committed.c_str(), kFlags);
}

FolderIdentity::~FolderIdentity() {
  if (fd_ >= 0) ::close(fd_);
}

bool FolderIdentity::StillNamed() const {
  struct stat open = {}, named = {};
  if (fd_ < 0) return CommittedFolder(path_).empty();
  return ::fstat(fd_, &open) == 0 && ::stat(folder_.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

}  // namespace torus::io
