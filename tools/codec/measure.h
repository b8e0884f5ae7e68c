// What a codec does to given tensors: bytes, errors and time.
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
  int64_t refused = 0;  // of those: in tensors that the codec could not carry; counted nowhere else
  uint64_t bytes = 0;   // encoded
  double encode_seconds = 0, decode_seconds = 0;
  double largest_error = 0;  // of |decoded - given|
  double error_sum = 0, squared_error_sum = 0, squared_sum = 0;

  double bits_per_value() const { return 8.0 * static_cast<double>(bytes) / carried(); }
  // float32's bytes over the encoded.
  double ratio() const { return 4 * carried() / static_cast<double>(bytes); }
  double mean_error() const { return error_sum / carried(); }
  // 10 log10 of the squared values over the squared errors; infinite where nothing is lost.
  double signal_to_noise_db() const;
  // In bytes of float32 a second.
  double encode_rate() const { return 4 * carried() / encode_seconds; }
  double decode_rate() const { return 4 * carried() / decode_seconds; }
  // The link's bits a second below which encoding, sending and decoding, one after the other, take
  // less time than float32 as it is. 0 where the encoded bytes are as many.
  double pays_below() const;

 private:
  double carried() const { return static_cast<double>(values - refused); }
};

// Encodes and decodes each tensor (f32, or others as their values in f32) by a codec that remembers
// nothing from one to the next. The times are the least of `repeats` runs, after one that warms up.
CodecMeasurement MeasureCodec(const std::string& codec, const std::vector<NamedTensor>& tensors,
                              int repeats);

}  // namespace torus::tools
