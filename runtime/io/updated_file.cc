#include "runtime/io/updated_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "runtime/error.h"

namespace torus::io {
namespace {

[[noreturn]] void Fail(const std::string& path, const char* what) {
  const int reason = errno;
  Throw<BrokenEnvironment>(path, "cannot {}: {}", what, std::strerror(reason));
}

int Open(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) Throw<BrokenEnvironment>(path, "cannot make its folder: {}", failed.message());
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) Fail(path, "open for writing");
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  const bool taken = errno == EWOULDBLOCK;
  ::close(fd);
  Require(!taken, path, "is in use by another run");
  Fail(path, "lock");
}

}  // namespace

UpdatedFile::UpdatedFile(std::string path) : path_(std::move(path)), fd_(Open(path_)) {}

UpdatedFile::~UpdatedFile() { ::close(fd_); }

uint64_t UpdatedFile::size() const {
  struct stat status = {};
  if (::fstat(fd_, &status) != 0) Fail(path_, "look at");
  return static_cast<uint64_t>(status.st_size);
}

bool UpdatedFile::ReadAt(uint64_t offset, void* data, size_t bytes) const {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd_, next, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Fail(path_, "read");
    if (got == 0) return false;
    next += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

void UpdatedFile::WriteAt(uint64_t offset, const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = ::pwrite(fd_, next, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) Fail(path_, "write");
    next += put;
    offset += static_cast<uint64_t>(put);
    bytes -= static_cast<size_t>(put);
  }
}

void UpdatedFile::Truncate(uint64_t size) {
  if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) Fail(path_, "shorten");
}

void UpdatedFile::Sync() {
  if (::fdatasync(fd_) != 0) Fail(path_, "sync");
}

}  // namespace torus::io
