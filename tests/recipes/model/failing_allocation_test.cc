// Each allocation of one training step on two ranks fails once: every time the run ends with one
// line that names rank and stage, and leaves neither memory nor threads behind.
//
// This program has an allocator of its own in the place of runtime/allocator.cc: the linker takes
// the definitions of AllocatorFor and PinnedAllocator below.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "models/gpt2/gpt2.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "models/nn/activation_layers.h"
#include "models/nn/conv_relu.h"
#include "models/nn/dropout.h"
#include "models/nn/flatten_images.h"
#include "models/nn/linear.h"
#include "models/nn/loss.h"
#include "models/nn/pooling.h"
#include "models/nn/sequential.h"
#include "parallel/optim/sgd.h"
#include "parallel/trainer/trainer.h"
#include "recipes/model/model_blocks.h"
#include "runtime/caching_allocator.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus {
namespace {

class Heap : public MemorySource {
 public:
  std::string Name() const override { return "cpu"; }
  void* Take(size_t bytes) override {
    void* block = nullptr;
    return posix_memalign(&block, 64, bytes) == 0 ? block : nullptr;
  }
  void Give(void* block, size_t) noexcept override { std::free(block); }
};

class FailingAllocator : public CachingAllocator {
 public:
  FailingAllocator() : CachingAllocator(std::make_unique<Heap>(), false) {}

  // The `number`-th allocation from now on fails, from 1; 0: none.
  void FailAt(int number) { left_ = number; }
  // Whether that allocation has been asked for.
  bool failed() const { return left_ <= 0; }

  void* Allocate(size_t bytes, bool* zeros) override {
    if (left_.load() > 0 && --left_ == 0)
      Throw<BrokenEnvironment>("allocator", "out of memory on cpu: asked for {} bytes", bytes);
    return CachingAllocator::Allocate(bytes, zeros);
  }

 private:
  std::atomic<int> left_{0};
};

FailingAllocator& TheAllocator() {
  static auto* const allocator = new FailingAllocator;
  return *allocator;
}

}  // namespace

Allocator& AllocatorFor(Device) { return TheAllocator(); }
Allocator& PinnedAllocator() { return TheAllocator(); }

namespace parallel {
namespace {

using Model = std::shared_ptr<nn::Sequential>;

struct Case {
  std::string name;
  std::function<Model()> make;
  Tensor input, target;
  std::function<Variable(const std::vector<Variable>&, const Tensor&)> loss;
};

Case Images(std::string name, std::function<Model()> make) {
  Tensor x({2, 32, 32, 3}, DType::kF32);
  FillNormal(x, 0, 1, RandomStream({.seed = 2}));
  return {std::move(name), std::move(make), x, FromVector<int64_t>({0, 1}, {2}), nn::ClassLoss};
}

// VGG's layers, fewer and narrower. The second convolution runs by Winograd's products, the others
// do not.
Model SmallVgg() {
  auto model = std::make_shared<nn::Sequential>();
  const int64_t channels[] = {3, 32, 32, 64};
  for (int i = 0; i < 3; ++i) {
    const nn::Conv2dOptions convolution{
        .in = channels[i], .out = channels[i + 1], .kernel = 3, .padding = 1, .bias = true};
    model->Add(std::make_shared<nn::ConvRelu>(convolution, /*batch_norm=*/false, /*first=*/0));
    model->Add(std::make_shared<nn::MaxPool2d>(nn::PoolOptions{.kernel = 2, .stride = 2}));
  }
  model->Add(std::make_shared<nn::AdaptiveAvgPool2d>(7));
  model->Add(std::make_shared<nn::FlattenImages>());
  model->Add(std::make_shared<nn::Linear>(nn::LinearOptions{.in = 64 * 7 * 7, .out = 8}));
  model->Add(std::make_shared<nn::Relu>());
  model->Add(std::make_shared<nn::Dropout>(0.5, /*layer=*/0));
  model->Add(std::make_shared<nn::Linear>(nn::LinearOptions{.in = 8, .out = 3}));
  return model;
}

Case Text() {
  const auto ids = FromVector<int64_t>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  return {
      "gpt2",
      [] {
        return Gpt2({.vocab_size = 11, .n_positions = 8, .n_embd = 12, .n_layer = 1, .n_head = 3});
      },
      ids, ids, nn::NextTokenLoss};
}

// A made trainer of two stages, one thread each, and two micro-batches of one row.
class Run {
 public:
  explicit Run(const Case& one) {
    TrainingParts parts;
    parts.model = [&one] {
      const Model model = one.make();
      model->Initialize(1);
      return recipes::ModelBlocks(*model);
    };
    parts.loss = [&one](const auto& outputs, const auto& targets) {
      return one.loss(outputs, targets[0]);
    };
    parts.optimizer = [](std::vector<NamedVariable> parameters) {
      return std::make_unique<Sgd>(std::move(parameters), SgdOptions{.momentum = 0.9});
    };
    parts.learning_rate = [](int64_t) { return 0.01; };
    parts.largest_inputs = {{Row(one.input, 0).shape(), one.input.dtype()}};
    for (int64_t row = 0; row < 2; ++row)
      batch_.micro_batches.push_back({{Row(one.input, row)}, {Row(one.target, row)}, {row}});
    batch_.global_samples = 2;
    trainer_ = std::make_unique<Trainer>(
        TrainerOptions{.stages = 2, .micro_batches = 2, .threads = 2, .clip_norm = 1}, parts);
  }
  void Step() {
    trainer_->Train(1, [this](int64_t, const RankPlace&) { return batch_; });
  }

 private:
  static Tensor Row(const Tensor& all, int64_t row) { return all.Narrow(0, row, 1).Clone(); }
  MiniBatch batch_;
  std::unique_ptr<Trainer> trainer_;
};

size_t Threads() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

// Whether no more threads are left than `threads`. A joined thread may be listed a moment longer.
bool OnlyThreads(size_t threads) {
  for (int i = 0; i < 10'000 && Threads() > threads; ++i) usleep(1000);
  return Threads() <= threads;
}

// The message of the step whose `number`-th allocation fails; empty where it has fewer.
std::string MessageOf(const Case& one, int number) {
  Run run(one);
  TheAllocator().FailAt(number);
  std::string message;
  try {
    run.Step();
  } catch (const BrokenEnvironment& error) {
    message = error.what();
  }
  EXPECT_EQ(TheAllocator().failed(), !message.empty()) << "allocation " << number;
  TheAllocator().FailAt(0);
  return message;
}

void ExpectEachFailureIsOneLine(const Case& one) {
  MessageOf(one, 0x7fffffff);  // what is made once stays
  const size_t live = TheAllocator().stats().live_bytes, threads = Threads();
  int number = 1;
  for (;; ++number) {
    const std::string message = MessageOf(one, number);
    ASSERT_EQ(TheAllocator().stats().live_bytes, live) << "allocation " << number;
    ASSERT_TRUE(OnlyThreads(threads)) << "allocation " << number;
    if (message.empty()) break;
    for (const char* part : {"rank ", "stage ", "step 0", "out of memory on cpu"})
      ASSERT_NE(message.find(part), std::string::npos) << number << ": " << message;
    ASSERT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_GT(number, 50);
  std::printf("%s: %d allocations\n", one.name.c_str(), number - 1);
}

TEST(FailingAllocation, OfMobileNetV2) {
  ExpectEachFailureIsOneLine(Images("mobilenet_v2", [] {
    return MobileNetV2(
        {.num_classes = 3, .width_mult = 0.1, .settings = {{1, 8, 1, 1}, {6, 8, 2, 2}}});
  }));
}

TEST(FailingAllocation, OfVgg) { ExpectEachFailureIsOneLine(Images("vgg", SmallVgg)); }

TEST(FailingAllocation, OfGpt2) { ExpectEachFailureIsOneLine(Text()); }

}  // namespace
}  // namespace parallel
}  // namespace torus
