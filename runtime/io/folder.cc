#include "runtime/io/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/folder_names.h"

namespace torus::io {
namespace {

namespace fs = std::filesystem;

void Check(const std::error_code& error, const std::string& path, const char* what) {
  if (error) Throw<BrokenEnvironment>(path, "cannot {}: {}", what, error.message());
}

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

void CreateFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  Check(error, path, "create folder");
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

// Exchanges both names in one step. Returns false if this file system cannot.
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

constexpr std::string_view kNew = "new";  // what names of new commits begin with

std::string NewName() {
  std::random_device random;
  return fmt::format("{}-{:08x}{:08x}", kNew, random(), random());
}

// A file beside the lock; empty if there is none.
std::string OtherFile(const FolderPlace& place) {
  for (const std::string& name : NamesIn(place.work))
    if (place.fresh(name) != place.lock()) return name;
  return "";
}

// A reader may look for the old folder by its name, so the name is removed before the files.
void RemoveOld(const FolderPlace& place) {
  if (Exists(place.old())) Rename(place.old(), place.fresh(NewName()));
  for (const std::string& name : NamesIn(place.work))
    if (name.starts_with(kNew)) Remove(place.fresh(name));
}

// Undoes or finishes what a killed writer left.
void Recover(const FolderPlace& place) {
  // An old folder without PATH is a commit that stopped between its two renames.
  if (Exists(place.old()) && !Exists(place.path)) Rename(place.old(), place.path);
  RemoveOld(place);
}

}  // namespace

FolderWriter::Work::Work(const FolderPlace& at) : place(at) {
  CreateFolders(fs::path(place.path).parent_path().string());
  lock.emplace(place.lock(), place.path);
  if (lock->abandoned()) return;
  // A writer creates its lock first and removes it last, so files without a lock belong to
  // something else.
  const std::string other = OtherFile(place);
  Require(other.empty(), place.work,
          "would be where {} is written, but has a file {} of somebody else", place.path, other);
}

FolderWriter::Work::~Work() {
  bool clean = false;
  try {
    Recover(place);
    clean = OtherFile(place).empty();
  } catch (...) {
    // The lock file stays, so that the next writer recognises the other files as a writer's.
  }
  if (!clean) lock->LeaveFile();
  lock.reset();
  std::error_code ignored;
  fs::remove(place.work, ignored);
}

FolderWriter::FolderWriter(const std::string& path)
    : place_(PlaceOf(path)), name_(NewName()), fresh_(place_.fresh(name_)), work_(place_) {
  Recover(place_);
  Require(!Exists(place_.path) || fs::is_directory(place_.path), place_.path,
          "is there already and is no folder");
  CreateFolders(fresh_);
}

FolderWriter::~FolderWriter() = default;

void FolderWriter::Commit() {
  try {
    SyncTree(fresh_);
  } catch (const fs::filesystem_error& e) {
    Check(e.code(), fresh_, "read back");
  }
  if (!Exists(place_.path)) {
    Rename(fresh_, place_.path);
  } else if (!Swap(fresh_, place_.path)) {
    Rename(place_.path, place_.old());
    Rename(fresh_, place_.path);
  }
  // The new names must be on the disk before the old files are removed.
  Sync(fs::path(place_.path).parent_path().string());
  Sync(place_.work);
  RemoveOld(place_);
}

void RemoveFolder(const std::string& path) {
  if (CommittedFolder(path).empty()) return;
  FolderWriter writer(path);
  const std::string resolved = PlaceOf(path).path;
  if (!Exists(resolved)) return;
  Remove(writer.temporary());
  Rename(resolved, writer.temporary());
}

}  // namespace torus::io
