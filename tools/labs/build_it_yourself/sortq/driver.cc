// Encodes on rank 0 and decodes on rank 1. Numbers of the task: bits, how many values, how often.
// Values on rank 0: those to encode. Result on rank 1: the values; zeros if there are no bytes.
// Fact "bytes": the size of the encoding.
#include <cstring>

#include "lab_rank.h"
#include "lab_sortq.h"

namespace lab {
namespace {

// Sends bytes as floats: the wire does not interpret their bits.
void SendBytes(Rank& rank, std::span<const uint8_t> bytes) {
  const float size = static_cast<float>(bytes.size());  // below 2^24
  rank.Send(1, {&size, 1});
  std::vector<float> words((bytes.size() + 3) / 4);
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  rank.Send(1, words);
}

std::vector<uint8_t> RecvBytes(Rank& rank) {
  float size = 0;
  rank.Recv(0, {&size, 1});
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  std::vector<float> words((bytes.size() + 3) / 4);
  rank.Recv(0, words);
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

}  // namespace

std::vector<float> Perform(Rank& rank, const Task& task) {
  const int bits = static_cast<int>(task.numbers.at(0));
  const size_t count = static_cast<size_t>(task.numbers.at(1));
  if (rank.rank() == 0) {
    std::vector<uint8_t> bytes;
    Metered(rank, task.numbers.at(2), [&](int64_t) { bytes = Encode(task.values, bits); });
    rank.Fact("bytes", static_cast<double>(bytes.size()));
    SendBytes(rank, bytes);
    return {};
  }
  const std::vector<uint8_t> bytes = RecvBytes(rank);
  std::vector<float> values(count);
  if (bytes.empty()) return values;
  Metered(rank, task.numbers.at(2), [&](int64_t) { Decode(bytes, bits, values); });
  return values;
}

}  // namespace lab
