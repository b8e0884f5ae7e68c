#include "tools/codec/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/codec/make_codec.h"
#include "runtime/trace.h"

namespace torus::tools {
namespace {

template <class Work>
double LeastSeconds(int repeats, const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  work();
  for (int i = 0; i < repeats; ++i) {
    const int64_t begin = trace::Now();
    work();
    least = std::min(least, static_cast<double>(trace::Now() - begin) * 1e-9);
  }
  return least;
}

void AddErrors(std::span<const float> given, std::span<const float> decoded, CodecMeasurement& to) {
  for (size_t i = 0; i < given.size(); ++i) {
    const double error = std::fabs(double{decoded[i]} - double{given[i]});
    to.largest_error = std::max(to.largest_error, error);
    to.error_sum += error;
    to.squared_error_sum += error * error;
    to.squared_sum += double{given[i]} * given[i];
  }
}

void AddTensor(parallel::Codec& codec, const Tensor& tensor, int repeats, CodecMeasurement& to) {
  const Tensor values = tensor.To(DType::kF32).Contiguous();
  const std::span<const float> in(values.data<float>(), static_cast<size_t>(values.numel()));
  const parallel::CodecContext context{.shape = values.shape()};
  std::vector<std::byte> bytes(codec.MaxTensorBytes(values.shape()));
  size_t written = 0;
  const double encode =
      LeastSeconds(repeats, [&] { written = parallel::EncodeWithin(codec, context, in, bytes); });
  to.values += values.numel();
  if (written == 0) {
    to.refused += values.numel();
    return;
  }
  bytes.resize(written);
  std::vector<float> decoded(in.size());
  to.bytes += written;
  to.encode_seconds += encode;
  to.decode_seconds += LeastSeconds(repeats, [&] { codec.DecodeTensor(context, bytes, decoded); });
  AddErrors(in, decoded, to);
}

}  // namespace

double CodecMeasurement::signal_to_noise_db() const {
  return squared_error_sum == 0 ? std::numeric_limits<double>::infinity()
                                : 10 * std::log10(squared_sum / squared_error_sum);
}

double CodecMeasurement::pays_below() const {
  const double saved = 4 * carried() - static_cast<double>(bytes);
  return saved <= 0 ? 0 : 8 * saved / (encode_seconds + decode_seconds);
}

CodecMeasurement MeasureCodec(const std::string& codec, const std::vector<NamedTensor>& tensors,
                              int repeats) {
  const auto made = parallel::MakeCodec(codec);
  CodecMeasurement measured{.codec = made->name()};
  for (const NamedTensor& tensor : tensors)
    if (tensor.value.numel() > 0) AddTensor(*made, tensor.value, repeats, measured);
  return measured;
}

}  // namespace torus::tools
