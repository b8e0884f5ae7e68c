#include "data/text/windows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/progress.h"
#include "runtime/rng.h"

namespace torus::data {
namespace {

void CheckLength(const Tokens& tokens, int64_t length) {
  Require(length >= 1, tokens.name(), "requires windows of at least 1 token, got {}", length);
  Require(length < tokens.size(), tokens.name(),
          "requires {} tokens or more for windows of {} (--length), got {}", length + 1, length,
          tokens.size());
}

// Writes the window at `begin` and its targets.
void CopyWindow(const Tokens& tokens, int64_t begin, int64_t length, int64_t* window,
                int64_t* target) {
  tokens.Copy(begin, length, window);
  std::copy(window + 1, window + length, target);
  tokens.Copy(begin + length, 1, target + length - 1);
}

}  // namespace

DisjointWindows::DisjointWindows(const Tokens& tokens, int64_t length)
    : tokens_(tokens), length_(length) {
  CheckLength(tokens, length);
  info_.name = tokens.name();
}

Sample DisjointWindows::Get(int64_t index) const {
  Require(index >= 0 && index < size(), info_.name, "requires an example of 0 to {}, got {}",
          size() - 1, index);
  Tensor window({length_}, DType::kI64), target({length_}, DType::kI64);
  CopyWindow(tokens_, index * length_, length_, window.mutable_data<int64_t>(),
             target.mutable_data<int64_t>());
  return {{std::move(window)}, std::move(target)};
}

int64_t RandomWindowBegin(const Tokens& tokens, const RandomWindowOptions& options, int64_t epoch,
                          int64_t index) {
  const RandomStream random({.seed = options.seed,
                             .step = static_cast<uint64_t>(epoch),
                             .layer = HashName("data.window"),
                             .sample = static_cast<uint64_t>(index)});
  const auto begins = static_cast<uint64_t>(tokens.size() - options.length);
  return static_cast<int64_t>(random.Below(0, begins));
}

MakeBatch RandomWindows(const Tokens& tokens, const RandomWindowOptions& options) {
  CheckLength(tokens, options.length);
  return [&tokens, options](const MicroBatch& part) -> Batch {
    const Shape shape{static_cast<int64_t>(part.indices.size()), options.length};
    Tensor windows = EmptyIn(options.memory, shape, DType::kI64);
    Tensor targets = EmptyIn(options.memory, shape, DType::kI64);
    int64_t* window = windows.mutable_data<int64_t>();
    int64_t* target = targets.mutable_data<int64_t>();
    for (const int64_t index : part.indices) {
      const int64_t begin = RandomWindowBegin(tokens, options, part.epoch, index);
      CopyWindow(tokens, begin, options.length, window, target);
      window += options.length, target += options.length;
      TickProgress();
    }
    return {{std::move(windows)}, std::move(targets), part.samples};
  };
}

}  // namespace torus::data
