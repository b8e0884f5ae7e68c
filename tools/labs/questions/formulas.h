// The formulae that the labs' questions ask for. A page puts measured numbers into them.
#pragma once

#include <cstdint>
#include <vector>

namespace torus::labs {

// Seconds of one rank over those of several. BadInput unless both are above 0.
double SpeedUp(double one, double many);

// Bytes that each rank sends, and receives, in a ring all-reduce of `bytes` over `ranks`:
// 2 (n - 1) / n S, the least that any all-reduce can do (Patarasuk and Yuan 2009, "Bandwidth
// optimal all-reduce algorithms for clusters of workstations", section 3). BadInput without a rank.
double RingBytes(int64_t ranks, double bytes);

// Of those bytes, what went over a rank's link in a second. BadInput unless `seconds` are above 0.
double RingBandwidth(int64_t ranks, double bytes, double seconds);

// Seconds of an epoch that n ranks do not compute: theirs, less the n-th part of the epoch of one
// rank with the same batch a rank. Below 0 where the ranks computed faster than the one.
double CommunicationBySubtraction(double many, double one, int64_t ranks);

// The expected share of the samples that a rank has met after so many epochs, each of which deals
// all samples out to `ranks` anew and evenly: 1 - (1 - 1/n)^e.
double SharesMet(int64_t ranks, int64_t epochs);

// A strong-scaling point that weak scaling's runs hold already: a global batch on one rank, and the
// same batch dealt out to n ranks.
struct StrongPoint {
  int64_t global_batch = 0, ranks = 1, batch = 0;  // batch: of a rank, global_batch / ranks
};
// Those whose two runs are among one rank with each of `batches` and n ranks with each of them;
// n from `ranks`, above 1.
std::vector<StrongPoint> StrongPoints(const std::vector<int64_t>& batches,
                                      const std::vector<int64_t>& ranks);

// The learning rate of large batches (Goyal et al. 2017, "Accurate, large minibatch SGD: training
// ImageNet in 1 hour", sections 2.1 and 2.2).
struct LargeBatchRate {
  double base = 0.1;         // of the small batch
  double scale = 1;          // k, the large batch over the small one: linear scaling
  int64_t warmup_steps = 0;  // in which the rate rises from base to k base, by equal amounts
  double At(int64_t step) const;
};

// What gradients that are averaged do to the distance of two replicas that began with different
// weights: nothing. Weight decay alone shrinks it, for each element by the same factor, which
// follows from momentum SGD on the decay's own gradient: v <- m v + decay d, d <- d - rate v, from
// d = 1 and v = 0. Returns d after 0, 1, ..., steps steps.
std::vector<double> DistanceFactors(int64_t steps, double rate, double momentum, double decay);

}  // namespace torus::labs
