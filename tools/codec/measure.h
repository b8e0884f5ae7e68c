// Measures a codec on given tensors: bytes, errors and time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus::tools {

// Sums over all tensors.
struct CodecMeasurement {
  std::string codec;
  int64_t values = 0;
  int64_t refused = 0;  // of these, values in tensors that the codec refused; counted only here
  uint64_t bytes = 0;   // encoded
  double encode_seconds = 0, decode_seconds = 0;
  double largest_error = 0;  // largest |decoded - given|
  double error_sum = 0, squared_error_sum = 0, squared_sum = 0;

  double bits_per_value() const { return 8.0 * static_cast<double>(bytes) / carried(); }
  // The bytes in float32, divided by the encoded bytes.
  double ratio() const { return 4 * carried() / static_cast<double>(bytes); }
  double mean_error() const { return error_sum / carried(); }
  // 10 log10 (sum of squared values / sum of squared errors); infinite if the codec is lossless.
  double signal_to_noise_db() const;
  // In bytes of float32 per second.
  double encode_rate() const { return 4 * carried() / encode_seconds; }
  double decode_rate() const { return 4 * carried() / decode_seconds; }
  // The link speed, in bits per second, below which encoding, sending and decoding, one after the
  // other, take less time than sending float32. 0 if the codec saves no bytes.
  double pays_below() const;

 private:
  double carried() const { return static_cast<double>(values - refused); }
};

// Encodes and decodes each tensor (converted to f32 if necessary) by a codec that keeps no state
// from one tensor to the next. The times are the least of `repeats` runs after a warm-up run.
CodecMeasurement MeasureCodec(const std::string& codec, const std::vector<NamedTensor>& tensors,
                              int repeats);

}  // namespace torus::tools
