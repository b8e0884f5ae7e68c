#include "parallel/codec/sample_delta.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "parallel/codec/float_scratch.h"
#include "parallel/codec/sample_store.h"
#include "parallel/codec/value_range.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// Gradients have the scale of the loss, which may change from step to step. What is remembered has
// not. The scale is a power of two, so only denormals are rounded, and both ends round alike.
void Multiply(std::span<float> values, float by) {
  if (by == 1) return;
  for (float& value : values) value *= by;
}

// A tensor as rows of samples, with what is remembered of them.
class Rows {
 public:
  Rows(const CodecContext& context, int64_t values)
      : rows_(context.shape.rank() == 0 ? 1 : context.shape[0]),
        width_(rows_ == 0 ? 0 : values / rows_),
        remembers_(context.memory != nullptr && context.training &&
                   static_cast<int64_t>(context.samples.size()) == rows_),
        scale_(static_cast<float>(context.scale)),
        context_(context) {
    if (remembers_ && context.store != nullptr && !context.store->is_open()) OpenStore();
  }

  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }
  size_t MaskBytes() const { return (static_cast<size_t>(rows_) + 7) / 8; }

  template <class T>
  std::span<T> Of(std::span<T> all, int64_t row) const {
    return all.subspan(static_cast<size_t>(row * width_), static_cast<size_t>(width_));
  }
  // Returns false if nothing is remembered of the row's sample, or values of another size.
  bool Recall(int64_t row, std::span<float> values) const {
    if (!remembers_ || !Find(row, values)) return false;
    Multiply(values, scale_);
    return true;
  }
  void Remember(int64_t row, std::span<const float> values) const {
    if (!remembers_) return;
    if (context_.store != nullptr) return Write(row, values);
    std::vector<float>& kept = context_.memory->values[NameOf(row)];
    kept.assign(values.begin(), values.end());
    Multiply(kept, 1 / scale_);
  }
  // "sample 7 (row 0)".
  std::string Describe(int64_t row) const {
    return remembers_ ? fmt::format("{} (row {})", NameOf(row), row) : fmt::format("row {}", row);
  }
  // The inner codec's context for `count` differences, stored one after another.
  CodecContext ContextOf(int64_t count) const {
    CodecContext inside = context_.Inside("delta");
    inside.shape = context_.shape;
    if (inside.shape.rank() > 0) inside.shape[0] = count;
    inside.samples = {};
    return inside;
  }

 private:
  bool Find(int64_t row, std::span<float> values) const {
    if (context_.store != nullptr) return context_.store->Read(SampleOf(row), values);
    const auto at = context_.memory->values.find(NameOf(row));
    if (at == context_.memory->values.end() || at->second.size() != values.size()) return false;
    std::ranges::copy(at->second, values.begin());
    return true;
  }
  void Write(int64_t row, std::span<const float> values) const {
    FloatScratch unscaled(values.size());
    std::ranges::copy(values, unscaled.span().begin());
    Multiply(unscaled.span(), 1 / scale_);
    context_.store->Write(SampleOf(row), context_.step, unscaled.span());
  }
  // The memory then holds only the file's identity.
  void OpenStore() const {
    std::vector<float> identity = context_.memory->values["file"];
    context_.store->Open(identity, context_.step);
    context_.memory->values = {{"file", identity}};
  }
  int64_t SampleOf(int64_t row) const { return context_.samples[static_cast<size_t>(row)]; }
  std::string NameOf(int64_t row) const { return fmt::format("sample {}", SampleOf(row)); }

  int64_t rows_, width_;
  bool remembers_;
  float scale_;
  const CodecContext& context_;
};

bool IsSet(std::span<const std::byte> mask, int64_t row) {
  return (mask[row / 8] >> (row % 8) & std::byte{1}) != std::byte{0};
}

// The rows of a tensor that are sent as differences to what is remembered of them, stored one after
// another. A sample that occurs twice has two differences to the same remembered row.
struct Changes {
  explicit Changes(size_t values) : last(values), difference(values) {}

  std::vector<int64_t> rows;
  FloatScratch last, difference;

  size_t Values(const Rows& of) const { return rows.size() * static_cast<size_t>(of.width()); }
  std::span<float> Differences(const Rows& of) { return difference.span().first(Values(of)); }
  std::span<float> LastOf(const Rows& of, size_t i) {
    return of.Of(last.span(), static_cast<int64_t>(i));
  }
  std::span<float> DifferenceOf(const Rows& of, size_t i) {
    return of.Of(difference.span(), static_cast<int64_t>(i));
  }
  // Writes the values that follow from the received differences to their rows of `out`.
  void Apply(const Rows& of, std::span<float> out) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::span<float> before = LastOf(of, i), change = DifferenceOf(of, i);
      std::ranges::transform(before, change, of.Of(out, rows[i]).begin(), std::plus());
    }
  }
};

// If a sample occurs twice, its last row stays.
void RememberAll(const Rows& rows, std::span<const float> values) {
  for (int64_t row = 0; row < rows.rows(); ++row) rows.Remember(row, rows.Of(values, row));
}

}  // namespace

SampleDelta::SampleDelta(std::unique_ptr<Codec> inner) : inner_(std::move(inner)) {
  Require(!inner_->is_stateful(), "delta", "takes a codec that remembers nothing, got {}",
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
  FloatScratch unused(in.size());
  return EncodeAndDecode(context, in, out, unused.span());
}

size_t SampleDelta::EncodeAndDecode(const CodecContext& context, std::span<const float> in,
                                    std::span<std::byte> out, std::span<float> decoded) {
  const size_t most = MaxTensorBytes(context.shape);
  Require(out.size() >= most, name(), "{} values need {} bytes, got room for {}", in.size(), most,
          out.size());
  if (!RangeOf(in).finite) return 0;
  const Rows rows(context, static_cast<int64_t>(in.size()));
  std::ranges::fill(out.first(rows.MaskBytes()), std::byte{0});
  Changes changes(in.size());
  size_t at = rows.MaskBytes();
  for (int64_t row = 0; row < rows.rows(); ++row) {
    const std::span<const float> values = rows.Of(in, row);
    const size_t next = changes.rows.size();
    const std::span<float> last = changes.LastOf(rows, next);
    if (!rows.Recall(row, last)) {
      std::memcpy(out.data() + at, values.data(), values.size_bytes());
      std::ranges::copy(values, rows.Of(decoded, row).begin());
      at += values.size_bytes();
      continue;
    }
    const std::span<float> change = changes.DifferenceOf(rows, next);
    for (size_t j = 0; j < change.size(); ++j) change[j] = values[j] - last[j];
    out[row / 8] |= std::byte{1} << (row % 8);
    changes.rows.push_back(row);
  }
  if (!changes.rows.empty()) {
    const CodecContext inside = rows.ContextOf(static_cast<int64_t>(changes.rows.size()));
    const std::span<float> differences = changes.Differences(rows);
    const size_t bytes = inner_->EncodeTensor(inside, differences, out.subspan(at));
    if (bytes == 0) return 0;
    inner_->DecodeTensor(inside, out.subspan(at, bytes), differences);
    changes.Apply(rows, decoded);
    at += bytes;
  }
  RememberAll(rows, decoded);
  return at;
}

void SampleDelta::DecodeTensor(const CodecContext& context, std::span<const std::byte> in,
                               std::span<float> out) {
  const Rows rows(context, static_cast<int64_t>(out.size()));
  const size_t mask = rows.MaskBytes();
  Require(in.size() >= mask, name(), "needs {} bytes for {} rows, got {}", mask, rows.rows(),
          in.size());
  Changes changes(out.size());
  size_t at = mask;
  for (int64_t row = 0; row < rows.rows(); ++row) {
    if (IsSet(in, row)) {
      if (!rows.Recall(row, changes.LastOf(rows, changes.rows.size())))
        Throw<BadInput>(
            name(),
            "got the change of {}, of which this end remembers nothing; both ends must remember "
            "the same samples: where they lie in files (--codec-folder), remove those of both",
            rows.Describe(row));
      changes.rows.push_back(row);
      continue;
    }
    const std::span<float> values = rows.Of(out, row);
    Require(in.size() - at >= values.size_bytes(), name(), "row {} ends after {} of {} bytes", row,
            in.size() - at, values.size_bytes());
    std::memcpy(values.data(), in.data() + at, values.size_bytes());
    at += values.size_bytes();
  }
  Require(!changes.rows.empty() || at == in.size(), name(), "{} values are {} bytes, got {}",
          out.size(), at, in.size());
  if (!changes.rows.empty())
    inner_->DecodeTensor(rows.ContextOf(static_cast<int64_t>(changes.rows.size())), in.subspan(at),
                         changes.Differences(rows));
  changes.Apply(rows, out);
  RememberAll(rows, out);
}

}  // namespace torus::parallel
