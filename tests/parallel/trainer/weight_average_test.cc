#include "parallel/trainer/weight_average.h"

#include <gtest/gtest.h>

#include "runtime/parallel_for.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

// Tensors that the threads of a team share move as one thread alone would move them.
TEST(WeightAverage, IsTheSameForEveryTeam) {
  const int before = TeamSize();
  std::vector<std::vector<float>> seen;
  for (const int team : {1, 4}) {
    SetTeamSize(team);
    Variable small(Zeros({5}), true), large(Zeros({200001}), true);
    WeightAverage average({{"small", small}, {"large", large}}, 0.75);
    for (uint64_t step = 0; step < 3; ++step) {
      FillUniform(small.mutable_data(), -1, 1, RandomStream({.seed = 1, .step = step}));
      FillUniform(large.mutable_data(), -1, 1, RandomStream({.seed = 2, .step = step}));
      average.Update();
    }
    seen.push_back(ToVector<float>(average.State()[1].value));
  }
  SetTeamSize(before);
  EXPECT_EQ(seen[0], seen[1]);
}

}  // namespace
}  // namespace torus::parallel
