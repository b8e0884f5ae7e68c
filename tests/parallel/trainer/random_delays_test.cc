// A thousand repetitions of steps of four ranks that dawdle at random: none hangs, and none changes
// a bit.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "parallel/transport/decorated_transport.h"
#include "tests/parallel/trainer/toy_model.h"
#include "tests/testing/deadline.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

constexpr int kSteps = 2;
constexpr uint64_t kRepetitions = 1000, kMostMicroseconds = 60;

// Waits for a random time before each message, half of the time for none.
class Dawdling : public DecoratedTransport {
 public:
  Dawdling(Transport& inner, uint64_t repetition)
      : DecoratedTransport(inner),
        random_({.seed = repetition, .layer = static_cast<uint64_t>(inner.world_rank())}) {}

  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    Dawdle();
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override {
    Dawdle();
    return DecoratedTransport::Recv(peer, tag, buffer, std::move(what));
  }

 private:
  void Dawdle() {
    const uint64_t time = random_.Below(calls_++, 2 * kMostMicroseconds);
    if (time < kMostMicroseconds) std::this_thread::sleep_for(std::chrono::microseconds(time));
  }
  const RandomStream random_;
  uint64_t calls_ = 0;
};

struct Outcome {
  std::vector<std::vector<double>> tensors;
  std::vector<double> losses;
  bool operator==(const Outcome&) const = default;
};

Outcome TrainOnce(const std::string& schedule, uint64_t repetition) {
  ToyRun run;
  run.options = {.stages = 2, .replicas = 2, .micro_batches = 3, .schedule = schedule};
  run.options.wrap_transport = [&](Transport& transport) {
    return std::make_unique<Dawdling>(transport, repetition);
  };
  Outcome outcome;
  Trainer trainer(run.options, run.Parts());
  trainer.Train(kSteps, run.Batches(),
                {.on_step = [&](const StepReport& step) { outcome.losses.push_back(step.loss); }});
  const TrainState state = trainer.State();
  for (const auto* tensors : {&state.weights, &state.optimizer})
    for (const NamedTensor& tensor : *tensors) {
      const double* values = tensor.value.data<double>();
      outcome.tensors.emplace_back(values, values + tensor.value.numel());
    }
  return outcome;
}

// The first repetition that differs from the first of all; kRepetitions if none does.
uint64_t FirstThatDiffers(const std::string& schedule) {
  const Outcome first = TrainOnce(schedule, 0);
  EXPECT_FALSE(first.tensors.empty());
  uint64_t repetition = 1;
  while (repetition < kRepetitions && TrainOnce(schedule, repetition) == first) ++repetition;
  return repetition;
}

// The schedules at the same time, since ranks mostly wait.
TEST(RandomDelays, NoneHangsOrChangesABit) {
  const std::vector<std::string> schedules{"gpipe", "1f1b", "zb-h1"};
  const auto differing = torus::testing::StartAll(schedules, FirstThatDiffers);
  for (size_t i = 0; i < schedules.size(); ++i)
    EXPECT_EQ(differing[i].get(), kRepetitions) << schedules[i];
}

}  // namespace
}  // namespace torus::parallel
