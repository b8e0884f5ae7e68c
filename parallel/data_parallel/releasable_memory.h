// ReleasableMemory: memory that can be returned to the system and taken again at the same address.
// Tensors in it stay valid objects while the memory is released: a graph can keep the weights
// between forward and backward.
#pragma once

#include <cstddef>

namespace torus::parallel {

class ReleasableMemory {
 public:
  // Only reserves addresses. Throws BrokenEnvironment if the system has none.
  explicit ReleasableMemory(size_t bytes);
  ~ReleasableMemory();
  ReleasableMemory(const ReleasableMemory&) = delete;
  ReleasableMemory& operator=(const ReleasableMemory&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // Between Take and Release the bytes may be read and written; their initial values are undefined.
  // At other times a read or write ends the process. A second Take or Release does nothing.
  void Take();
  void Release();
  bool taken() const { return taken_; }

 private:
  void Protect(int protection) const;

  size_t bytes_;
  void* data_;
  bool taken_ = false;
};

}  // namespace torus::parallel
