// Converts plain values to bytes and back, for control messages between ranks of one build.
// Internal to the trainer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/error.h"

namespace torus::parallel {

class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void Put(const T& value) {
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
  }
  template <class T>
  void PutAll(const T& values) {
    Put<uint64_t>(values.size());
    for (const auto& value : values) Put(value);
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Reads values in the order in which they were written.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T Get() {
    TORUS_CHECK(bytes_.size() >= sizeof(T), "message ends within a value");
    T value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return value;
  }
  template <class T>  // std::string or std::vector
  T GetAll() {
    T values;
    for (auto count = Get<uint64_t>(); count > 0; --count)
      values.push_back(Get<typename T::value_type>());
    return values;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace torus::parallel
