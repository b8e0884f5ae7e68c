#include "recipes/data/order_hash.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "data/datasets/image_files.h"

namespace torus::recipes {
namespace {

constexpr int64_t kMost = 65536;

// FNV-1a (Fowler, Noll, Vo), 64 bits.
class Hash {
 public:
  void Add(std::string_view bytes) {
    for (const char byte : bytes) value_ = (value_ ^ static_cast<uint8_t>(byte)) * 0x100000001b3u;
  }
  void Add(const void* data, size_t bytes) { Add({static_cast<const char*>(data), bytes}); }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

// "cats/1.png" of a longer path, since the dataset's folder may be moved.
std::string_view NameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos || slash == 0) return path;
  const size_t above = path.rfind('/', slash - 1);
  return above == path.npos ? path : path.substr(above + 1);
}

}  // namespace

uint64_t OrderHash(const data::Dataset& dataset) {
  Hash hash;
  const auto* const files = dynamic_cast<const data::ImageFiles*>(&dataset);
  const int64_t size = dataset.size(), count = files ? size : std::min(size, kMost);
  for (int64_t i = 0; i < count; ++i) {
    if (files != nullptr) {
      hash.Add(NameOf(files->path(i)));
      hash.Add("\n");
      continue;
    }
    const Tensor target = dataset.Get(i * size / count).target.Contiguous();
    hash.Add(target.raw(), target.bytes());
  }
  return hash.value();
}

uint64_t OrderHash(const data::Tokens& tokens) {
  constexpr int64_t kRun = 64;
  Hash hash;
  const int64_t size = tokens.size();
  hash.Add(&size, sizeof(size));
  std::array<int64_t, kRun> run{};
  const int64_t runs = std::min((size + kRun - 1) / kRun, kMost / kRun);
  for (int64_t i = 0; i < runs; ++i) {
    const int64_t length = std::min(size, kRun),
                  begin = (size - length) * i / std::max<int64_t>(1, runs - 1);
    tokens.Copy(begin, length, run.data());
    hash.Add(run.data(), static_cast<size_t>(length) * sizeof(int64_t));
  }
  return hash.value();
}

}  // namespace torus::recipes
