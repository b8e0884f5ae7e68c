#include "parallel/codec/sample_delta.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "parallel/codec/float_scratch.h"
#include "parallel/codec/value_range.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// A tensor as samples, and what is remembered of them.
class Rows {
 public:
  Rows(const CodecContext& context, int64_t values)
      : rows_(context.shape.rank() == 0 ? 1 : context.shape[0]),
        width_(rows_ == 0 ? 0 : values / rows_),
        remembers_(context.memory != nullptr && context.training &&
                   static_cast<int64_t>(context.samples.size()) == rows_),
        context_(context) {}

  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }
  bool remembers() const { return remembers_; }
  size_t MaskBytes() const { return (static_cast<size_t>(rows_) + 7) / 8; }

  template <class T>
  std::span<T> Of(std::span<T> all, int64_t row) const {
    return all.subspan(static_cast<size_t>(row * width_), static_cast<size_t>(width_));
  }
  // Null where that is nothing, or of another size.
  std::vector<float>* Remembered(int64_t row) const {
    if (!remembers_) return nullptr;
    const auto at = context_.memory->values.find(NameOf(row));
    const bool fits =
        at != context_.memory->values.end() && static_cast<int64_t>(at->second.size()) == width_;
    return fits ? &at->second : nullptr;
  }
  void Remember(int64_t row, std::span<const float> values) const {
    if (remembers_) context_.memory->values[NameOf(row)].assign(values.begin(), values.end());
  }
  // Of `count` differences, one behind the other.
  CodecContext ContextOf(int64_t count) const {
    CodecContext inside = context_.Inside("delta");
    inside.shape = context_.shape;
    if (inside.shape.rank() > 0) inside.shape[0] = count;
    inside.samples = {};
    return inside;
  }

 private:
  std::string NameOf(int64_t row) const {
    return fmt::format("sample {}", context_.samples[static_cast<size_t>(row)]);
  }

  int64_t rows_, width_;
  bool remembers_;
  const CodecContext& context_;
};

bool IsSet(std::span<const std::byte> mask, int64_t row) {
  return (mask[row / 8] >> (row % 8) & std::byte{1}) != std::byte{0};
}

// Adds the received differences to what is remembered of their rows, which then is the values.
void Apply(const Rows& rows, std::span<const int64_t> changed, std::span<const float> differences) {
  for (size_t i = 0; i < changed.size(); ++i) {
    std::vector<float>& values = *rows.Remembered(changed[i]);
    const std::span<const float> change = rows.Of(differences, static_cast<int64_t>(i));
    for (size_t j = 0; j < values.size(); ++j) values[j] += change[j];
  }
}

}  // namespace

SampleDelta::SampleDelta(std::unique_ptr<Codec> inner) : inner_(std::move(inner)) {
  Require(!inner_->remembers(), "delta", "takes a codec that remembers nothing, got {}",
          inner_->name());
}

std::string SampleDelta::name() const { return fmt::format("delta({})", inner_->name()); }

size_t SampleDelta::MaxTensorBytes(const Shape& shape) const {
  const int64_t rows = shape.rank() == 0 ? 1 : shape[0];
  return (static_cast<size_t>(rows) + 7) / 8 + sizeof(float) * static_cast<size_t>(Numel(shape)) +
         inner_->MaxTensorBytes(shape);
}

size_t SampleDelta::EncodeTensor(const CodecContext& context, std::span<const float> in,
                                 std::span<std::byte> out) {
  const size_t most = MaxTensorBytes(context.shape);
  Require(out.size() >= most, name(), "{} values need {} bytes, got room for {}", in.size(), most,
          out.size());
  if (!RangeOf(in).finite) return 0;
  const Rows rows(context, static_cast<int64_t>(in.size()));
  std::ranges::fill(out.first(rows.MaskBytes()), std::byte{0});
  std::vector<int64_t> changed;
  FloatScratch scratch(in.size());
  size_t at = rows.MaskBytes();
  for (int64_t row = 0; row < rows.rows(); ++row) {
    const std::span<const float> values = rows.Of(in, row);
    const std::vector<float>* const last = rows.Remembered(row);
    if (last == nullptr) {
      std::memcpy(out.data() + at, values.data(), values.size_bytes());
      at += values.size_bytes();
      continue;
    }
    const std::span<float> change = rows.Of(scratch.span(), static_cast<int64_t>(changed.size()));
    for (size_t j = 0; j < change.size(); ++j) change[j] = values[j] - (*last)[j];
    out[row / 8] |= std::byte{1} << (row % 8);
    changed.push_back(row);
  }
  if (!changed.empty()) {
    const CodecContext inside = rows.ContextOf(static_cast<int64_t>(changed.size()));
    const std::span<float> differences =
        scratch.span().first(changed.size() * static_cast<size_t>(rows.width()));
    const size_t bytes = inner_->EncodeTensor(inside, differences, out.subspan(at));
    if (bytes == 0) return 0;
    inner_->DecodeTensor(inside, out.subspan(at, bytes), differences);
    Apply(rows, changed, differences);
    at += bytes;
  }
  for (int64_t row = 0; row < rows.rows(); ++row)
    if (!IsSet(out, row)) rows.Remember(row, rows.Of(in, row));
  return at;
}

void SampleDelta::DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                               std::span<float> out) {
  const Rows rows(context, static_cast<int64_t>(out.size()));
  const size_t mask = rows.MaskBytes();
  Require(in.size() >= mask, name(), "needs {} bytes for {} rows, got {}", mask, rows.rows(),
          in.size());
  std::vector<int64_t> changed;
  size_t at = mask;
  for (int64_t row = 0; row < rows.rows(); ++row) {
    if (IsSet(in, row)) {
      Require(rows.Remembered(row) != nullptr, name(), "got the change of row {}, which is new",
              row);
      changed.push_back(row);
      continue;
    }
    const std::span<float> values = rows.Of(out, row);
    Require(in.size() - at >= values.size_bytes(), name(), "row {} ends after {} of {} bytes", row,
            in.size() - at, values.size_bytes());
    std::memcpy(values.data(), in.data() + at, values.size_bytes());
    at += values.size_bytes();
  }
  Require(!changed.empty() || at == in.size(), name(), "{} values are {} bytes, got {}", out.size(),
          at, in.size());
  if (!changed.empty()) {
    FloatScratch differences(changed.size() * static_cast<size_t>(rows.width()));
    inner_->DecodeTensor(rows.ContextOf(static_cast<int64_t>(changed.size())), in.subspan(at),
                         differences.span());
    Apply(rows, changed, differences.span());
  }
  for (int64_t row = 0; row < rows.rows(); ++row)
    if (IsSet(in, row))
      std::ranges::copy(*rows.Remembered(row), rows.Of(out, row).begin());
    else
      rows.Remember(row, rows.Of(out, row));
}

}  // namespace torus::parallel
