// What a run's tensors take, on whatever thread they are made and freed.
#include "runtime/memory_account.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "runtime/allocator_source.h"
#include "runtime/error.h"
#include "runtime/memory_pool.h"
#include "runtime/run_context.h"
#include "runtime/tensor.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

Tensor OfMiB(int64_t count) { return Empty({count, 1 << 20}, DType::kU8); }

TEST(MemoryAccount, CountsWhatItsThreadsHoldUntilItIsFreedAnywhere) {
  const auto account = std::make_shared<MemoryAccount>();
  std::optional<Tensor> kept;
  {
    const WithMemoryAccount with(account);
    std::thread([&, context = RunContext::Current()] {
      const WithRunContext carried(context);
      kept = OfMiB(3);
    }).join();
    const Tensor more = OfMiB(2);
    EXPECT_EQ(account->stats({}).live_bytes, 5 * kMiB);
  }
  const Tensor of_nobody = OfMiB(7);
  EXPECT_EQ(MemoryAccount::Current(), nullptr);
  EXPECT_EQ(account->stats({}).live_bytes, 3 * kMiB);
  EXPECT_EQ(account->stats({}).peak_bytes, 5 * kMiB);
  account->ResetPeak();
  EXPECT_EQ(account->stats({}).peak_bytes, 3 * kMiB);
  kept.reset();
  EXPECT_EQ(account->stats({}).live_bytes, 0u);
}

// What is refused is not charged, and what is freed makes room for as much as the limit.
TEST(MemoryAccount, RefusesWhatItsLimitDoesNotHold) {
  const WithMemoryAccount with(std::make_shared<MemoryAccount>(4 * kMiB));
  std::optional<Tensor> three = OfMiB(3);
  EXPECT_EQ(testing::ErrorOf<BrokenEnvironment>([] { OfMiB(2); }),
            "[allocator] out of memory on cpu: asked for 2.0 MiB, 3.0 MiB live in this run, whose "
            "limit is 4.0 MiB");
  EXPECT_EQ(MemoryAccount::Current()->stats({}).live_bytes, 3 * kMiB);
  three.reset();
  EXPECT_NO_THROW(OfMiB(4));
  const WithMemoryAccount without(nullptr);
  EXPECT_NO_THROW(OfMiB(5)) << "charged to none";
}

// Also of a GPU with a number so high that an account has no count for it.
TEST(MemoryAccount, IsNotChargedForADeviceThatIsNotThere) {
  const WithMemoryAccount with(std::make_shared<MemoryAccount>());
  for (const int index : {64, 1000, 1 << 30})
    EXPECT_THROW(Empty({2}, DType::kF32, {DeviceKind::kCuda, index}), BadInput) << index;
}

// As of a device whose memory is full.
class Failing : public Allocator {
 public:
  void* Allocate(size_t, bool*) override { Throw<BrokenEnvironment>("test", "fails"); }
  void* TryAllocate(size_t bytes, bool* zeros) override { return Allocate(bytes, zeros); }
  void Free(void*, size_t) noexcept override {}
  MemoryStats stats() const override { return {}; }
  void ResetPeak() override {}
  void SetLimit(size_t) override {}
  void ReleaseCached() override {}
};

TEST(MemoryAccount, IsNotChargedForWhatAnAllocatorFailsToGive) {
  const auto account = std::make_shared<MemoryAccount>();
  const WithMemoryAccount with(account);
  Failing failing;
  AllocatorSource source(failing, Device());
  EXPECT_THROW(source.Take(kMiB), BrokenEnvironment);
  EXPECT_EQ(account->stats({}).live_bytes, 0u);
}

// The part has no limit of its own: that of the whole refuses.
TEST(MemoryAccount, APartIsChargedToTheWholeToo) {
  const auto whole = std::make_shared<MemoryAccount>(4 * kMiB);
  const WithMemoryAccount with(whole);
  const auto part = std::make_shared<MemoryAccount>();
  const WithMemoryAccount within(part);
  const Tensor three = OfMiB(3);
  EXPECT_EQ(whole->stats({}).live_bytes, 3 * kMiB);
  EXPECT_NE(testing::ErrorOf<BrokenEnvironment>([] { OfMiB(2); }).find("limit is 4.0 MiB"),
            std::string::npos);
  for (const auto& account : {part, whole}) EXPECT_EQ(account->stats({}).live_bytes, 3 * kMiB);
}

// Also for tensors in it that are made while the thread has no account. A pool keeps what is freed:
// 2 MiB and 3 MiB more are above the limit.
TEST(MemoryAccount, PaysForThePoolThatItsThreadMade) {
  const auto account = std::make_shared<MemoryAccount>(4 * kMiB);
  std::shared_ptr<MemoryPool> pool;
  {
    const WithMemoryAccount with(account);
    pool = std::make_shared<MemoryPool>(Device());
  }
  {
    const WithPool in(pool);
    OfMiB(2);
    EXPECT_NE(testing::ErrorOf<BrokenEnvironment>([] { OfMiB(3); }).find("of the run's"),
              std::string::npos);
  }
  EXPECT_GE(account->stats({}).peak_bytes, 2 * kMiB);
  pool.reset();
  EXPECT_EQ(account->stats({}).live_bytes, 0u);
}

}  // namespace
}  // namespace torus
