// Lab "sortq": sort quantization, which sends each float32 value in b = 4, 8, 12 or 16 bits. You
// write Encode and Decode. They run in two processes, and only the encoded bytes pass between them.
//
// A code has S = b / 4 bits for the number of a bucket and Q = b - S bits for a point in that
// bucket. The n values are sorted and cut into B = 2^S buckets of equal counts: bucket k holds the
// sorted positions from floor(k n / B) up to, but not including, floor((k + 1) n / B). Each bucket
// has 2^Q evenly spaced points, from its least value to its greatest, both included:
//   step = (greatest - least) / (2^Q - 1), point p = least + p step
// A value is sent as the number of its bucket and of the nearest point in it. The sort is stable:
// equal values keep the order of their indices. You choose how the bytes are laid out. What is
// graded:
//   error    each value comes back within half a step of its bucket, up to float32 rounding
//   bytes    at most 8 for each bucket, and ceil(n b / 8) for all codes together
//   refusal  Encode returns no bytes at all if any value is infinite or NaN
//   memory   Encode and Decode each need at most four times the bytes of the values
//   leak     nothing stays allocated from one call to the next
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lab {

std::vector<uint8_t> Encode(std::span<const float> values, int bits);

// Decodes the bytes that Encode returned into `values`, which has as many values as Encode was
// given.
void Decode(std::span<const uint8_t> bytes, int bits, std::span<float> values);

}  // namespace lab
