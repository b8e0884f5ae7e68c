#include "runtime/print_tensor.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels.h"

namespace torus {
namespace {

constexpr int64_t kMostElements = 1000, kEdge = 3, kLineWidth = 80;
constexpr std::string_view kPrefix = "tensor(";

// The tensor's first and last elements in each longer dimension, on the CPU.
Tensor EdgesOf(Tensor tensor) {
  for (int d = 0; d < tensor.rank(); ++d) {
    const int64_t size = tensor.dim(d);
    if (size <= 2 * kEdge) continue;
    Shape shape = tensor.shape();
    shape[d] = 2 * kEdge;
    Tensor edges(shape, tensor.dtype(), tensor.device());
    Tensor first = edges.Narrow(d, 0, kEdge), last = edges.Narrow(d, kEdge, kEdge);
    Copy(tensor.Narrow(d, 0, kEdge), first);
    Copy(tensor.Narrow(d, size - kEdge, kEdge), last);
    tensor = edges;
  }
  return tensor.To(Device{});
}

// How all numbers of one tensor are written: chosen by those that are finite and not 0.
class NumberFormat {
 public:
  explicit NumberFormat(const std::vector<double>& values) {
    double least = INFINITY, most = 0;
    for (double value : values) {
      if (!std::isfinite(value) || value == 0) continue;
      least = std::min(least, std::abs(value));
      most = std::max(most, std::abs(value));
      whole_ = whole_ && value == std::ceil(value);
    }
    if (most == 0) return;
    scientific_ = most / least > 1000 || most > 1e8 || (!whole_ && least < 1e-4);
    for (double value : values)
      if (std::isfinite(value) && value != 0) width_ = std::max(width_, Plain(value).size());
  }
  std::string operator()(double value) const { return fmt::format("{:>{}}", Plain(value), width_); }
  size_t width() const { return width_; }

 private:
  std::string Plain(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (scientific_) return fmt::format("{:.4e}", value);
    return whole_ ? fmt::format("{:.0f}.", value) : fmt::format("{:.4f}", value);
  }
  bool whole_ = true, scientific_ = false;
  size_t width_ = 1;
};

// The elements as text of one width, which all but 0, infinities and NaN keep.
struct Elements {
  std::vector<std::string> texts;
  size_t width = 0;
};

Elements FloatsOf(const Tensor& tensor) {
  const std::vector<double> values = ToVector<double>(tensor.To(DType::kF64));
  const NumberFormat format(values);
  Elements elements{.texts = {}, .width = format.width()};
  for (double value : values) elements.texts.push_back(format(value));
  return elements;
}

Elements IntegersOf(const Tensor& tensor) {
  const bool truth = tensor.dtype() == DType::kBool;
  Elements elements;
  for (int64_t value : ToVector<int64_t>(tensor.To(DType::kI64))) {
    elements.texts.push_back(!truth ? std::to_string(value) : value != 0 ? "True" : "False");
    elements.width = std::max(elements.width, elements.texts.back().size());
  }
  for (std::string& text : elements.texts) text = fmt::format("{:>{}}", text, elements.width);
  return elements;
}

// What stands before the next part, in column `indent` so many lines below.
std::string LineEnd(int lines, size_t indent) {
  return fmt::format(",{:\n>{}}{:{}}", "", lines, "", indent);
}

// The brackets around the elements of `shown`, of which dimensions were shortened from `shape`.
class Layout {
 public:
  Layout(const Shape& shape, const Tensor& shown, Elements elements)
      : shape_(shape), shown_(shown.shape()), elements_(std::move(elements)) {}

  // Of dimensions d and on, with elements from `first`; rows begin at column `indent`.
  std::string Text(int d, int64_t first, size_t indent) const {
    if (d == shape_.rank()) return elements_.texts[static_cast<size_t>(first)];
    if (d == shape_.rank() - 1) return Row(first, indent);
    int64_t step = 1;
    for (int i = d + 1; i < shown_.rank(); ++i) step *= shown_[i];
    std::vector<std::string> parts;
    for (int64_t i = 0; i < shown_[d]; ++i) {
      if (IsGap(d, i)) parts.emplace_back("...");
      parts.push_back(Text(d + 1, first + i * step, indent + 1));
    }
    return fmt::format("[{}]", fmt::join(parts, LineEnd(shape_.rank() - 1 - d, indent + 1)));
  }

 private:
  // Whether elements were left out before index i.
  bool IsGap(int d, int64_t i) const { return shown_[d] < shape_[d] && i == kEdge; }

  std::string Row(int64_t first, size_t indent) const {
    const int d = shape_.rank() - 1;
    std::vector<std::string> parts;
    for (int64_t i = 0; i < shown_[d]; ++i) {
      if (IsGap(d, i)) parts.emplace_back(" ...");
      parts.push_back(elements_.texts[static_cast<size_t>(first + i)]);
    }
    const size_t left = indent < kLineWidth ? kLineWidth - indent : 0;
    const size_t in_a_line = std::max<size_t>(left / (elements_.width + 2), 1);
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) text += i % in_a_line == 0 ? LineEnd(1, indent + 1) : ", ";
      text += parts[i];
    }
    return fmt::format("[{}]", text);
  }

  Shape shape_, shown_;
  Elements elements_;
};

std::string ValuesOf(const Tensor& tensor) {
  if (tensor.device() == kMetaDevice) return "...";
  if (tensor.numel() == 0) return "[]";
  const Tensor shown = tensor.numel() > kMostElements ? EdgesOf(tensor) : tensor.To(Device{});
  const bool floats = IsFloating(tensor.dtype());
  const Layout layout(tensor.shape(), shown, floats ? FloatsOf(shown) : IntegersOf(shown));
  return layout.Text(0, 0, kPrefix.size());
}

// What the values do not tell.
std::vector<std::string> SuffixesOf(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  const bool meta = tensor.device() == kMetaDevice, empty = tensor.numel() == 0;
  const bool told =
      dtype == DType::kF32 || (!meta && !empty && (dtype == DType::kI64 || dtype == DType::kBool));
  std::vector<std::string> suffixes;
  if (tensor.device() != Device{}) suffixes.push_back(fmt::format("device='{}'", tensor.device()));
  if (meta || (empty && tensor.rank() != 1))
    suffixes.push_back(fmt::format("size={}", tensor.shape()));
  if (!told) suffixes.push_back(fmt::format("dtype={}", Name(dtype)));
  return suffixes;
}

}  // namespace

std::string ToString(const Tensor& tensor, std::vector<std::string> suffixes) {
  if (!tensor.defined()) return tensor.Describe();
  std::vector<std::string> all = SuffixesOf(tensor);
  all.insert(all.end(), suffixes.begin(), suffixes.end());
  std::string text = std::string(kPrefix) + ValuesOf(tensor);
  // A suffix that the line has no room for begins a new one. PyTorch takes the elements' line for
  // two columns longer than it is.
  size_t line = text.size() - (text.rfind('\n') + 1) + 2;
  for (const std::string& suffix : all) {
    const bool fits = line + suffix.size() + 2 <= kLineWidth;
    text += fits ? ", " : LineEnd(1, kPrefix.size());
    text += suffix;
    line = fits ? line + suffix.size() + 2 : kPrefix.size() + suffix.size();
  }
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << tensor.Describe();
  return out << ToString(tensor) << fmt::format("  [{}]", tensor);
}

}  // namespace torus
