// The formulas that the labs' questions ask for. The pages put measured numbers into them.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::labs {

// Seconds of one rank / seconds of several. Throws BadInput unless both are above 0.
double SpeedUp(double one, double many);

// Bytes that each rank sends, and also receives, in a ring all-reduce of S = `bytes` over n =
// `ranks`: 2 (n - 1) / n S, the minimum for any all-reduce (Patarasuk and Yuan 2009, "Bandwidth
// optimal all-reduce algorithms for clusters of workstations", section 3). Throws BadInput if
// `ranks` is below 1.
double RingBytes(int64_t ranks, double bytes);

// RingBytes / seconds: the bytes per second over a rank's link. Throws BadInput unless `seconds` is
// above 0.
double RingBandwidth(int64_t ranks, double bytes, double seconds);

// Seconds of an epoch that n ranks do not spend computing: many - one / n, where `one` is the epoch
// on one rank with the same batch per rank. Below 0 if the ranks computed faster than the single
// one.
double CommunicationBySubtraction(double many, double one, int64_t ranks);

// The expected share of all samples that a rank has seen after e = `epochs` epochs, if each epoch
// deals all samples evenly and at random to n = `ranks`: 1 - (1 - 1/n)^e.
double SharesMet(int64_t ranks, int64_t epochs);

// A strong-scaling point found among the weak-scaling runs: a global batch on one rank, and the
// same global batch divided among n ranks.
struct StrongPoint {
  int64_t global_batch = 0, ranks = 1, batch = 0;  // batch: of a rank, global_batch / ranks
};
// All such points, given that each of `batches` was run on one rank and on each n > 1 of `ranks`.
std::vector<StrongPoint> StrongPoints(const std::vector<int64_t>& batches,
                                      const std::vector<int64_t>& ranks);

// The learning rate of large batches (Goyal et al. 2017, "Accurate, large minibatch SGD: training
// ImageNet in 1 hour", sections 2.1 and 2.2).
struct LargeBatchRate {
  double base = 0.1;         // of the small batch
  double scale = 1;          // k = large batch / small batch: linear scaling
  int64_t warmup_steps = 0;  // in which the rate rises linearly from base to k base
  double At(int64_t step) const;
};

// How the distance of two replicas that started with different weights develops if gradients are
// averaged. Averaged gradients do not change it; only weight decay shrinks it, by the same factor d
// in every element. d follows from momentum SGD on the gradient of the decay: v <- m v + decay d, d
// <- d - rate v, starting with d = 1 and v = 0. Returns d after 0, 1, ..., steps steps.
std::vector<double> DistanceFactors(int64_t steps, double rate, double momentum, double decay);

}  // namespace torus::labs
