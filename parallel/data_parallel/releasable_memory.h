// ReleasableMemory: memory that is given back to the system and taken again at the same address, so
// that tensors of a graph may outlive their bytes: the weights between forward and backward.
#pragma once

#include <cstddef>

namespace torus::parallel {

class ReleasableMemory {
 public:
  // Reserves addresses alone. BrokenEnvironment where the system has none.
  explicit ReleasableMemory(size_t bytes);
  ~ReleasableMemory();
  ReleasableMemory(const ReleasableMemory&) = delete;
  ReleasableMemory& operator=(const ReleasableMemory&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // Between Take and Release the bytes may be read and written; they begin with any values. At
  // other times a read or write ends the process. Both do nothing where they are done.
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
