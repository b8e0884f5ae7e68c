#include "runtime/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/error.h"

namespace torus::io {
namespace {

constexpr size_t kMostAtOnce = size_t{1} << 30;  // Linux writes at most 2 GiB per call

[[noreturn]] void Fail(const std::string& path, const char* what) {
  const int reason = errno;
  Throw<BrokenEnvironment>(path, "cannot {}: {}", what, std::strerror(reason));
}

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (fd_ < 0) Fail(path_, "create");
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::Write(const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd_, next, std::min(bytes, kMostAtOnce));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail(path_, "write");
    next += written;
    bytes -= static_cast<size_t>(written);
  }
}

void OutputFile::Close(bool durable) {
  // Pipes and devices have nothing to sync.
  if (durable && ::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) Fail(path_, "sync");
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) Fail(path_, "close");
}

InputFile::InputFile(std::string path) : InputFile(AT_FDCWD, path, path) {}

// Opens without blocking, so that a pipe is refused instead of waited for.
InputFile::InputFile(int folder, const std::string& name, std::string path)
    : path_(std::move(path)),
      fd_(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0) Throw<BadInput>(path_, "cannot open: {}", std::strerror(errno));
  struct stat status = {};
  const bool regular = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular) {
    ::close(fd_);
    Throw<BadInput>(path_, "is not a regular file");
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::ReadAt(uint64_t offset, void* data, size_t bytes) const {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got =
        ::pread(fd_, next, std::min(bytes, kMostAtOnce), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Fail(path_, "read");
    Require(got > 0, path_, "ends at byte {}, {} more were expected", offset, bytes);
    next += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
}

std::string InputFile::ReadAll() const {
  std::string bytes(size_, '\0');
  ReadAt(0, bytes.data(), bytes.size());
  return bytes;
}

void Sync(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) Fail(path, "open");
  // Some file systems cannot sync a folder and return EINVAL; they keep names consistent
  // themselves.
  const bool synced = ::fsync(fd) == 0 || errno == EINVAL;
  const int reason = errno;
  ::close(fd);
  errno = reason;
  if (!synced) Fail(path, "sync");
}

}  // namespace torus::io
