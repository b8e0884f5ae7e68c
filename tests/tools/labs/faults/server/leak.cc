// Fault: the room for gradients is never given back.
#include <algorithm>
#include <vector>

#include "lab_server.h"

namespace lab {

void Serve(Wire& wire, std::span<float> weights, int steps, float rate) {
  std::vector<float> sum(weights.size()), in(weights.size());
  const float workers = static_cast<float>(wire.size() - 1);
  for (int step = 0; step < steps; ++step) {
    for (int rank = 1; rank < wire.size(); ++rank) wire.Send(rank, weights);
    std::ranges::fill(sum, 0.0F);
    for (int rank = 1; rank < wire.size(); ++rank) {
      wire.Recv(rank, in);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += in[i];
    }
    for (size_t i = 0; i < sum.size(); ++i) weights[i] -= rate * (sum[i] / workers);
  }
}

void Work(Wire& wire, Worker& worker, int steps) {
  std::vector<float>& weights = *new std::vector<float>(worker.width());
  std::vector<float> gradient(worker.width());
  for (int step = 0; step < steps; ++step) {
    wire.Recv(0, weights);
    worker.Gradient(weights, gradient);
    wire.Send(0, gradient);
  }
}

}  // namespace lab
