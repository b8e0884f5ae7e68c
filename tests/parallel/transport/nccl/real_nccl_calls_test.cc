// How the file that real GPUs' builds compile calls NCCL; over a stand-in for NCCL, and emulated
// GPUs.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "parallel/transport/nccl/nccl_transport.h"
#include "parallel/transport/nccl/real_nccl.h"
#include "parallel/transport/run_ranks.h"
#include "parallel/transport/topology.h"
#include "runtime/cuda_api.h"
#include "runtime/error.h"
#include "tests/parallel/transport/nccl/nccl.h"

namespace torus::parallel {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};
constexpr double kShort = 0.5;

const Patience kMinute = [](double waited) {
  if (waited > 60) throw BrokenEnvironment("gave up");
};

class RealNcclCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_nccl::State& now = fake_nccl::Now();
    now.blocking.clear();
    now.calls.clear();
    now.stuck.clear();
    now.separate = false;
  }
  const std::unique_ptr<NcclLibrary> nccl_ = RealNccl();
};

// A non-blocking communicator would take a thread of NCCL's and a poll of its state in each call.
TEST_F(RealNcclCalls, BlockAndAreOneForEachOperation) {
  const NcclId id = nccl_->NewId();
  std::unique_ptr<NcclComm> comms[2];
  {
    std::vector<std::jthread> ranks;
    for (int member = 0; member < 2; ++member)
      ranks.emplace_back([&, member] {
        comms[member] = std::move(nccl_->Join({{id, 2, member, {}}}, kGpu, kMinute)[0]);
      });
  }
  EXPECT_EQ(fake_nccl::Now().blocking, (std::vector<int>{1, 1}));
  fake_nccl::Now().calls.clear();  // those that connect
  float number = 0;
  const auto after = nccl_->Mark(kGpu, nullptr);
  comms[0]->Send({&number, 4, kGpu}, 1, *after);
  comms[1]->Recv({&number, 4, kGpu}, 0, *after);
  comms[0]->AllReduce({&number, 4, kGpu}, DType::kF32, *after);
  EXPECT_EQ(fake_nccl::Now().calls,
            (std::vector<std::string>{"ncclSend", "ncclRecv", "ncclAllReduce"}));
  nccl_->Abort({comms[0].get(), comms[1].get()});
}

const Topology kPair{{{0, 1}}, {}};

// The threads that join are left to themselves.
TEST_F(RealNcclCalls, AJoinThatDoesNotEndIsNamedWithinTheDeadline) {
  fake_nccl::Now().separate = true;
  InProcessWorld world(2, {.timeout = kShort});
  try {
    RunRanks(world, [&](Transport& inner) {
      NcclTransport transport(inner, *nccl_, {.device = kGpu, .timeout = kShort});
      transport.Connect(kPair);
    });
    FAIL();
  } catch (const BrokenEnvironment& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(" gave up after "), message.npos) << message;
    EXPECT_NE(message.find(" to join 1 communicators by NCCL"), message.npos) << message;
  }
}

using RealNcclCallsDeathTest = RealNcclCalls;

// Nobody can end the call, so the program ends, and says which rank is in it.
TEST_F(RealNcclCallsDeathTest, ACallThatDoesNotEndIsNamedWithinTheDeadline) {
  const auto run = [&] {
    InProcessWorld world(2, {.timeout = kShort});
    void* const memory = cuda::Malloc(0, 8);
    const auto send = [&](Transport& inner) {
      NcclTransport transport(inner, *nccl_, {.device = kGpu, .timeout = kShort});
      transport.Connect(kPair);
      constexpr Tag kConnected{TagClass::kControl, 1}, kThing{TagClass::kActivation, 0};
      char token = 0;
      if (inner.rank() == 0) {
        inner.Recv(1, kConnected, {&token, 1}, "rank 1 is connected").Wait();
        fake_nccl::Now().stuck = "ncclSend";
        transport.Send(1, kThing, {memory, 4, kGpu}, "the thing").Wait();
      } else {
        inner.Send(0, kConnected, {&token, 1}, "rank 1 is connected").Wait();
        transport.Recv(0, kThing, {memory, 4, kGpu}, "the thing").Wait();
      }
    };
    try {
      RunRanks(world, send, {.grace = 1});
    } catch (const StuckRank& stuck) {
      std::fputs(stuck.what(), stderr);
      _exit(1);
    }
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(1),
              "rank 0 did not stop within 1.0 s after: .*rank 0 shows no progress");
}

}  // namespace
}  // namespace torus::parallel
