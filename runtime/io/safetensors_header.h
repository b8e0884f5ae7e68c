// The JSON header of a safetensors file (safetensors.h): names, dtypes, shapes and positions of
// tensors.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/io/stored_type.h"
#include "runtime/shape.h"

namespace torus::safetensors {

inline constexpr uint64_t kMaxHeader = 100'000'000;  // bytes; the reference implementation's limit
inline constexpr const char* kMetadata = "__metadata__";  // the name that is no tensor's

// A tensor's entry: it occupies bytes [begin, end) after the header.
struct Entry {
  std::string name;  // of the tensor
  DType dtype;       // of the tensor; `stored` is that of the file
  Shape shape;       // of the tensor
  uint64_t begin, end;
  const io::StoredType* stored = nullptr;  // the type in the file
  std::optional<uint32_t> checksum{};      // of its bytes, if the file has one (safetensors_sums.h)
};

// What a header says of its file.
struct Header {
  std::map<std::string, std::string> metadata;  // empty if it has none
  std::vector<Entry> entries;                   // by position, without hole or overlap
};

// Parses and checks the header of a file with `data_bytes` bytes after it, as strictly as
// ReadSafetensors documents. Throws BadInput naming `path` and the tensor if it is wrong.
Header ParseHeader(const std::string& path, const std::string& text, uint64_t data_bytes);

// A name from a file, for one line of a message: quoted, escaped and shortened. The text is built
// only if the message is.
struct Quote {
  explicit Quote(const std::string& name) : name(name) {}
  std::string text() const;
  const std::string& name;
};

}  // namespace torus::safetensors

template <>
struct fmt::formatter<torus::safetensors::Quote> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const torus::safetensors::Quote& quote, Context& context) const {
    return fmt::formatter<std::string>::format(quote.text(), context);
  }
};
