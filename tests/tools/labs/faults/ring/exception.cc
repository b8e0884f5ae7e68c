// Fault: throws for tensors with fewer elements than ranks.
#include <stdexcept>
#include <vector>

#include "lab_ring.h"

namespace lab {
namespace {

std::span<float> Chunk(std::span<float> data, int n, int number) {
  const int c = (number + 2 * n) % n;
  const size_t begin = ChunkBegin(data.size(), n, c);
  return data.subspan(begin, ChunkBegin(data.size(), n, c + 1) - begin);
}

}  // namespace

void AllReduceMean(Wire& wire, std::span<float> data) {
  const int n = wire.size(), rank = wire.rank();
  const int right = (rank + 1) % n, left = (rank + n - 1) % n;
  if (data.size() < static_cast<size_t>(n)) throw std::invalid_argument("too few elements");
  std::vector<float> in(ChunkBegin(data.size(), n, 1));
  for (int step = 0; step < n - 1; ++step) {
    wire.Send(right, Chunk(data, n, rank - 1 - step));
    const std::span<float> own = Chunk(data, n, rank - 2 - step);
    wire.Recv(left, std::span(in).first(own.size()));
    for (size_t i = 0; i < own.size(); ++i) own[i] += in[i];
  }
  for (float& value : Chunk(data, n, rank)) value /= static_cast<float>(n);
  for (int step = 0; step < n - 1; ++step) {
    wire.Send(right, Chunk(data, n, rank - step));
    wire.Recv(left, Chunk(data, n, rank - 1 - step));
  }
}

}  // namespace lab
