// Who moves the memory of GPUs, and that NCCL's streams come in their order: on emulated GPUs, or
// on two real ones. Skips where there are none: run it with --config=emulated_gpu.
#include "tests/parallel/transport/nccl/emulated_nccl.h"

#include <gtest/gtest.h>

#include "parallel/transport/nccl/gpu_links.h"
#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/run_ranks.h"
#include "parallel/transport/topology.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/stream.h"

namespace torus::parallel {
namespace {

constexpr Tag kTag{TagClass::kUser, 3};

class NcclOnTwoGpus : public testing::Test {
 protected:
  void SetUp() override {
    library_ = NcclForTests(2);
    if (library_ == nullptr) GTEST_SKIP() << "no two GPUs, no --config=emulated_gpu: NOT tested";
  }
  void RunByNccl(const std::function<void(Transport&, Device)>& fn) {
    ThreadWorld threads(2);
    NcclWorld world(threads, *library_);
    world.Run([&](Transport& transport) {
      transport.Connect(AllConnected(2));
      fn(transport, GpuOfRank(transport));
    });
  }
  std::unique_ptr<NcclLibrary> library_;
};

Buffer BufferOf(Tensor& tensor) {
  return {tensor.mutable_raw(), tensor.bytes(), tensor.device(), CurrentStream(tensor.device())};
}
ConstBuffer Sent(const Tensor& tensor) {
  return {tensor.raw(), tensor.bytes(), tensor.device(), CurrentStream(tensor.device())};
}

// The sender's values are made by kernels that nobody waits for, and read so at the other end.
TEST_F(NcclOnTwoGpus, AMessageComesBehindItsStreamAndBeforeTheReaders) {
  RunByNccl([](Transport& transport, Device gpu) {
    Tensor values = Full({1000}, 1, DType::kF32, gpu);
    for (int round = 0; round < 3; ++round) {
      if (transport.rank() == 0) {
        ScaleInPlace(values, 2);
        Pending sent = transport.Send(1, kTag, Sent(values), "values");
        sent.WaitOn(CurrentStream(gpu));
      } else {
        Pending come = transport.Recv(0, kTag, BufferOf(values), "values");
        come.WaitOn(CurrentStream(gpu));
        ScaleInPlace(values, 0.5);
        EXPECT_EQ(values.Select(0, 999).Item(), 1 << round);
      }
    }
  });
}

// Both send first; the CPU waits for neither until it reads.
TEST_F(NcclOnTwoGpus, MessagesCrossWithoutTheCpusWaiting) {
  RunByNccl([](Transport& transport, Device gpu) {
    const int peer = 1 - transport.rank();
    Tensor mine = Full({5}, transport.rank() + 1, DType::kF64, gpu), theirs({5}, DType::kF64, gpu);
    AddInPlace(mine, mine);
    Pending sent = transport.Send(peer, kTag, Sent(mine), "number");
    Pending come = transport.Recv(peer, kTag, BufferOf(theirs), "number");
    come.WaitOn(CurrentStream(gpu));
    sent.WaitOn(CurrentStream(gpu));
    AddInPlace(theirs, mine);
    EXPECT_EQ(theirs.Select(0, 4).Item(), 2 * (1 + 2));
  });
}

TEST_F(NcclOnTwoGpus, SumsComeBehindTheirStreams) {
  RunByNccl([](Transport& transport, Device gpu) {
    Engine* const engine = transport.EngineOf({0, 1});
    ASSERT_NE(engine, nullptr);
    Tensor a = Full({777}, 3, DType::kF32, gpu), b = Full({3}, transport.rank(), DType::kF32, gpu);
    ScaleInPlace(a, transport.rank() + 1);
    Pending first = engine->AllReduce(BufferOf(a), DType::kF32, "a");
    Pending second = engine->AllReduce(BufferOf(b), DType::kF32, "b");
    first.WaitOn(CurrentStream(gpu));
    second.WaitOn(CurrentStream(gpu));
    ScaleInPlace(a, 10);
    EXPECT_EQ(a.Select(0, 776).Item(), 90);
    EXPECT_EQ(b.Select(0, 0).Item(), 1);
  });
}

GpuLinksChoice ChoiceOf(int ranks, int gpus, GpuLinks asked, bool has_nccl) {
  GpuLinksChoice choice;
  ThreadWorld world(ranks);
  world.Run([&](Transport& transport) {
    const Device gpu{DeviceKind::kCuda, transport.rank() % gpus};
    const GpuLinksChoice own = ChooseGpuLinks(transport, gpu, asked, has_nccl);
    if (transport.rank() == 0) choice = own;
  });
  return choice;
}

TEST_F(NcclOnTwoGpus, AreLinkedByNcclWhereEachRankHasOne) {
  const GpuLinksChoice nccl = ChoiceOf(2, 2, GpuLinks::kAuto, true);
  EXPECT_TRUE(nccl.nccl);
  EXPECT_EQ(nccl.why, "2 ranks on 2 GPUs: NCCL moves their memory");
  EXPECT_TRUE(ChoiceOf(2, 2, GpuLinks::kNccl, true).nccl);
  EXPECT_FALSE(ChoiceOf(2, 2, GpuLinks::kCopy, true).nccl);
}

TEST_F(NcclOnTwoGpus, AreCopiedBetweenWhereNcclCannotBe) {
  const GpuLinksChoice shared = ChoiceOf(3, 2, GpuLinks::kAuto, true);
  EXPECT_FALSE(shared.nccl);
  EXPECT_EQ(shared.why,
            "3 ranks on 2 GPUs: their memory is copied, not moved by NCCL (NCCL takes no GPU "
            "twice, and ranks 0, 2 share one)");
  EXPECT_FALSE(ChoiceOf(2, 2, GpuLinks::kAuto, false).nccl);
  EXPECT_EQ(ChoiceOf(1, 1, GpuLinks::kAuto, true).why, "1 rank on 1 GPU");
}

TEST_F(NcclOnTwoGpus, RefuseNcclThatCannotBe) {
  const auto refusal = [](int ranks, int gpus, bool has_nccl) -> std::string {
    try {
      ChoiceOf(ranks, gpus, GpuLinks::kNccl, has_nccl);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(3, 2, true).find("nccl cannot be: NCCL takes no GPU twice, and ranks 0, 2"),
            std::string::npos);
  EXPECT_NE(refusal(2, 2, false).find("has no NCCL"), std::string::npos);
  EXPECT_NE(refusal(1, 2, true).find("one rank has no other"), std::string::npos);
}

TEST(GpuLinksNames, AreRead) {
  EXPECT_EQ(GpuLinksByName("copy"), GpuLinks::kCopy);
  EXPECT_THROW(GpuLinksByName("fast"), BadInput);
}

}  // namespace
}  // namespace torus::parallel
