#include "data/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "runtime/error.h"

namespace torus::data {
namespace {

std::string Reason() { return std::generic_category().message(errno); }

// Closes on every way out: a mapping outlives its descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  const Descriptor file{open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) Throw<BadInput>(path_, "cannot be opened: {}", Reason());
  struct stat status {};
  Require(fstat(file.fd, &status) == 0 && S_ISREG(status.st_mode), path_,
          "requires a regular file");
  size_ = static_cast<size_t>(status.st_size);
  if (size_ == 0) return;  // nothing can be mapped
  void* const data = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) Throw<BrokenEnvironment>(path_, "cannot be mapped: {}", Reason());
  data_ = data;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace torus::data
