#include "runtime/io/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "runtime/error.h"
#include "runtime/io/file.h"

namespace torus::io {
namespace {

namespace fs = std::filesystem;

std::string Fresh(const std::string& path) { return path + ".committing"; }
std::string Old(const std::string& path) { return path + ".replaced"; }
std::string Parent(const std::string& path) { return fs::path(path).parent_path().string(); }

void Check(const std::error_code& error, const std::string& path, const char* what) {
  if (error) Throw<BrokenEnvironment>(path, "cannot {}: {}", what, error.message());
}

// Absolute, links followed, no slash at the end: the siblings must lie on the same file system.
std::string Resolve(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(fs::absolute(path, error), error);
  Check(error, path, "resolve");
  return (resolved.has_filename() ? resolved : resolved.parent_path()).string();
}

bool Exists(const std::string& path) {
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(path, error));
  return exists;
}

void Remove(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  Check(error, path, "remove");
}

void Rename(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  Check(error, from, "rename");
}

// Both names change in one step, or false where this file system cannot.
bool Swap(const std::string& a, const std::string& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno == EINVAL || errno == ENOSYS) return false;
  const int reason = errno;
  Throw<BrokenEnvironment>(a, "cannot rename: {}", std::strerror(reason));
}

void SyncTree(const std::string& folder) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_directory() || entry.is_regular_file()) Sync(entry.path().string());
  Sync(folder);
}

bool RecoverResolved(const std::string& path) {
  // PATH.replaced without PATH is a commit that stopped between its two renames.
  if (Exists(Old(path)) && !Exists(path)) Rename(Old(path), path);
  Remove(Old(path));
  Remove(Fresh(path));
  return fs::is_directory(path);
}

}  // namespace

FolderWriter::FolderWriter(const std::string& path) : path_(Resolve(path)), fresh_(Fresh(path_)) {
  const bool folder = RecoverResolved(path_);
  Require(folder || !Exists(path_), path_, "is there already and is no folder");
  std::error_code error;
  fs::create_directories(fresh_, error);
  Check(error, fresh_, "create folder");
}

FolderWriter::~FolderWriter() {
  std::error_code ignored;
  fs::remove_all(fresh_, ignored);
}

void FolderWriter::Commit() {
  try {
    SyncTree(fresh_);
  } catch (const fs::filesystem_error& e) {
    Check(e.code(), fresh_, "read back");
  }
  if (!Exists(path_)) {
    Rename(fresh_, path_);
  } else if (!Swap(fresh_, path_)) {
    Rename(path_, Old(path_));
    Rename(fresh_, path_);
  }
  // The new names must be on the disk before the old files go.
  Sync(Parent(path_));
  Remove(Old(path_));
  Remove(fresh_);
}

bool RecoverFolder(const std::string& path) { return RecoverResolved(Resolve(path)); }

}  // namespace torus::io
