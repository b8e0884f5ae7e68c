#include "parallel/transport/mpi/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>

namespace torus::parallel {
namespace {

uint64_t RandomToken() {
  std::random_device random;
  return (uint64_t{random()} << 32 | random()) | 1;  // not 0, which fresh memory holds
}

}  // namespace

SharedMemory::SharedMemory(int descriptor, size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) return;
  bytes_ = {static_cast<std::byte*>(data), bytes};
}

SharedMemory SharedMemory::Make(size_t bytes) {
  const int descriptor = memfd_create("torus", MFD_CLOEXEC);
  if (descriptor < 0) return {};
  SharedMemory made;
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) == 0) made = SharedMemory(descriptor, bytes);
  if (made.empty()) {
    close(descriptor);
    return {};
  }
  made.address_ = {getpid(), descriptor, RandomToken()};
  std::memcpy(made.bytes_.data(), &made.address_.token, sizeof made.address_.token);
  return made;
}

SharedMemory SharedMemory::Open(const Address& address, size_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", address.process, address.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return {};
  struct stat is = {};
  SharedMemory opened;
  if (fstat(descriptor, &is) == 0 && is.st_size == static_cast<off_t>(bytes))
    opened = SharedMemory(descriptor, bytes);
  close(descriptor);
  uint64_t token = 0;
  if (!opened.empty()) std::memcpy(&token, opened.bytes_.data(), sizeof token);
  return token == address.token && token != 0 ? std::move(opened) : SharedMemory();
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  if (address_.descriptor >= 0) close(address_.descriptor);
}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(address_, other.address_);
  return *this;
}

}  // namespace torus::parallel
