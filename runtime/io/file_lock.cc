#include "runtime/io/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace torus::io {
namespace {

constexpr std::string_view kMark = "locked by ";
constexpr int kMostTries = 1000;

std::string Self() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return fmt::format("process {} on host {}", ::getpid(), host.data());
}

// The first line of a lock file.
std::string LineOf(int fd) {
  std::array<char, 512> text{};
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  const std::string_view all(text.data(), got > 0 ? static_cast<size_t>(got) : 0);
  return std::string(all.substr(0, all.find('\n')));
}

// False if a holder removed the file after this process opened it and before it was locked.
bool StillNamed(int fd, const std::string& file) {
  struct stat open = {}, named = {};
  return ::fstat(fd, &open) == 0 && ::stat(file.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

class Closer {
 public:
  explicit Closer(int& fd) : fd_(fd) {}
  ~Closer() {
    if (armed) ::close(fd_), fd_ = -1;
  }
  bool armed = true;

 private:
  int& fd_;
};

}  // namespace

FileLock::FileLock(std::string file, std::string what)
    : file_(std::move(file)), what_(std::move(what)) {
  for (int i = 0; i < kMostTries; ++i) {
    if (!Open()) continue;
    Closer closer(fd_);
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK)
        Throw<BrokenEnvironment>(file_, "cannot lock: {}", std::strerror(errno));
      Refuse(LineOf(fd_));
    }
    if (!StillNamed(fd_, file_)) continue;
    Claim();
    closer.armed = false;
    return;
  }
  Throw<BrokenEnvironment>(file_, "was removed {} times while it was locked", kMostTries);
}

FileLock::~FileLock() {
  if (!leave_) ::unlink(file_.c_str());
  ::close(fd_);
}

// Returns false if the folder vanished meanwhile, because its last holder removed it.
bool FileLock::Open() {
  const std::string folder = std::filesystem::path(file_).parent_path().string();
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    Throw<BrokenEnvironment>(folder, "cannot create folder: {}", std::strerror(errno));
  fd_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd_ < 0 && errno != ENOENT)
    Throw<BrokenEnvironment>(file_, "cannot create: {}", std::strerror(errno));
  return fd_ >= 0;
}

void FileLock::Refuse(const std::string& holder) const {
  const bool known = holder.starts_with(kMark);
  Throw<LockHeld>(what_, "is in use by {}",
                  known ? holder.substr(kMark.size()) : std::string("another process"));
}

void FileLock::Claim() {
  const std::string before = LineOf(fd_);
  Require(before.empty() || before.starts_with(kMark), file_,
          "would be the lock of {}, but is a file of something else", what_);
  abandoned_ = !before.empty();
  const std::string line = fmt::format("{}{}\n", kMark, Self());
  const bool written =
      ::ftruncate(fd_, 0) == 0 &&
      ::pwrite(fd_, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()) &&
      ::fsync(fd_) == 0;
  if (!written) Throw<BrokenEnvironment>(file_, "cannot write: {}", std::strerror(errno));
}

}  // namespace torus::io
