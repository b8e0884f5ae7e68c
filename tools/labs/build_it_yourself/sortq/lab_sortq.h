// Lab "sortq": sort quantization, which sends float32 values in b = 4, 8, 12 or 16 bits each. You
// write Encode and Decode; they run in two processes, and only the bytes go from one to the other.
//
// S = b / 4 bits of a code number a bucket, the other Q = b - S bits a point within it. Sorted, the
// n values are cut into B = 2^S buckets of equal counts: bucket k has the ranks floor(k n / B) up
// to floor((k + 1) n / B), that one not included. In each bucket stand 2^Q points, evenly spaced
// from its own least value to its own greatest, both included:
//   step = (greatest - least) / (2^Q - 1), point p is least + p step
// A value is sent as its bucket and the nearest point of it. Equal values keep the order of their
// indices when sorted. How the bytes are arranged is up to you. What is graded:
//   error    a value comes back within half a step of its bucket, but for float32 rounding
//   bytes    8 for each bucket, and ceil(n b / 8) for all codes: at most
//   refusal  where a value is infinite or NaN, Encode returns no bytes at all
//   memory   each of the two needs at most four times the bytes of the values
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lab {

std::vector<uint8_t> Encode(std::span<const float> values, int bits);

// Writes the values that the bytes of Encode stand for; values.size() is what Encode was given.
void Decode(std::span<const uint8_t> bytes, int bits, std::span<float> values);

}  // namespace lab
