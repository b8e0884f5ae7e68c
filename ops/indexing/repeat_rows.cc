#include "ops/indexing/repeat_rows.h"

#include "autograd/undefined_input.h"
#include "ops/indexing/indexing.h"
#include "ops/view/repeat.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::ops {
namespace {

std::vector<int64_t> CountsOf(const Tensor& repeats) {
  Require(repeats.rank() <= 1 && (repeats.dtype() == DType::kI64 || repeats.dtype() == DType::kI32),
          "repeat_interleave", "needs a vector of i64 or i32 repeats, got {}", repeats);
  Require(repeats.device() != kMetaDevice, "repeat_interleave",
          "the size of the result depends on repeats, which are not known on meta, got {}",
          repeats);
  return ToVector<int64_t>(repeats.To(DType::kI64));
}

}  // namespace

Variable RepeatInterleave(const Variable& input, const Tensor& repeats,
                          std::optional<int64_t> dim) {
  RequireDefined("repeat_interleave", input);
  const std::vector<int64_t> counts = CountsOf(repeats);
  if (counts.size() == 1) return RepeatInterleave(input, counts[0], dim);
  if (!dim) return RepeatInterleave(Reshape(input, {input.numel()}), repeats, 0);
  const int d = NormalizeDim("repeat_interleave", *dim, input.rank());
  const int64_t size = input.rank() == 0 ? 1 : input.dim(d);
  Require(std::ssize(counts) == size, "repeat_interleave", "{} repeats for {} slices",
          counts.size(), size);
  std::vector<int64_t> rows;
  for (size_t i = 0; i < counts.size(); ++i) {
    Require(counts[i] >= 0, "repeat_interleave", "needs repeats of at least 0, got {}", counts[i]);
    rows.insert(rows.end(), static_cast<size_t>(counts[i]), static_cast<int64_t>(i));
  }
  const Tensor index = FromVector(rows, {std::ssize(rows)}).To(repeats.device());
  return IndexSelect(input, d, Variable(index));
}

}  // namespace torus::ops
