#include "runtime/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/error.h"
#include "runtime/io/slow_disk.h"
#include "runtime/progress.h"

namespace torus::io {
namespace {

// Small enough that a slow disk takes one within any sensible deadline, large enough for a fast
// one.
constexpr size_t kSlice = size_t{16} << 20;

[[noreturn]] void Fail(const std::string& path, const char* what) {
  const int reason = errno;
  Throw<BrokenEnvironment>(path, "cannot {}: {}", what, std::strerror(reason));
}

int FlagsFor(IfExists if_exists) {
  const int what = if_exists == IfExists::kRefuse   ? O_EXCL
                   : if_exists == IfExists::kAppend ? O_APPEND
                                                    : O_TRUNC;
  return O_WRONLY | O_CREAT | O_CLOEXEC | what;
}

// Moves a part of the file to the disk. Pipes, devices and some file systems cannot.
void SyncRange(int fd, uint64_t begin, uint64_t end, unsigned how, const std::string& path) {
  if (::sync_file_range(fd, static_cast<off64_t>(begin), static_cast<off64_t>(end - begin), how) ==
      0)
    return;
  if (errno != EINVAL && errno != ESPIPE && errno != ENOSYS) Fail(path, "write");
}

}  // namespace

OutputFile::OutputFile(std::string path, IfExists if_exists)
    : path_(std::move(path)), fd_(::open(path_.c_str(), FlagsFor(if_exists), 0666)) {
  if (fd_ < 0) Fail(path_, "create");
  const off_t end = if_exists == IfExists::kAppend ? ::lseek(fd_, 0, SEEK_END) : 0;
  written_ = begun_ = synced_ = static_cast<uint64_t>(std::max<off_t>(end, 0));
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::Write(const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd_, next, std::min(bytes, kSlice));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail(path_, "write");
    next += written;
    bytes -= static_cast<size_t>(written);
    written_ += static_cast<uint64_t>(written);
    WaitForEmulatedDisk(static_cast<size_t>(written));
    if (written_ - begun_ >= kSlice) StartSlice();
    TickProgress();
  }
}

// One slice is on its way while the next is written, so that little is left to wait for in the end.
void OutputFile::StartSlice() {
  SyncRange(fd_, begun_, written_, SYNC_FILE_RANGE_WRITE, path_);
  FinishSlices(begun_);
  begun_ = written_;
}

void OutputFile::FinishSlices(uint64_t end) {
  constexpr unsigned kAll =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  while (synced_ < end) {
    const uint64_t next = std::min(end, synced_ + kSlice);
    SyncRange(fd_, synced_, next, kAll, path_);
    synced_ = next;
    TickProgress();
  }
}

void OutputFile::Close(bool durable) {
  if (durable && written_ - synced_ > kSlice) FinishSlices(written_);
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
    const ssize_t got = ::pread(fd_, next, std::min(bytes, kSlice), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Fail(path_, "read");
    Require(got > 0, path_, "ends at byte {}, {} more were expected", offset, bytes);
    next += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
    TickProgress();
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
