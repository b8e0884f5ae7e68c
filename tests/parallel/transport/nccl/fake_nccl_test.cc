// That the fake of NCCL refuses what NCCL forbids.
#include "tests/parallel/transport/nccl/fake_nccl.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "runtime/error.h"
#include "tests/parallel/transport/nccl/launch_orders.h"

namespace torus::parallel {
namespace {

using Comms = std::vector<std::unique_ptr<NcclComm>>;
using Work = std::unique_ptr<NcclWork>;
constexpr NcclSettings kInOrder{.connects_at_once = true, .starts_in_order = true};

// Throws after a second.
const Patience kSecond = [](double waited) {
  if (waited > 1) throw BrokenEnvironment("gave up");
};

// Three GPUs, a thread each.
class ThreeGpus : public testing::Test {
 protected:
  void Run(const std::function<void(int gpu)>& fn) {
    std::vector<std::thread> threads;
    for (int gpu = 0; gpu < 3; ++gpu) threads.emplace_back([&, gpu] { fn(gpu); });
    for (std::thread& thread : threads) thread.join();
  }
  // The GPU's communicators: one with each of the others, in the order of their ids.
  std::vector<NcclSeat> SeatsOf(int gpu) const {
    std::vector<NcclSeat> seats;
    int next = 0;
    for (int low = 0; low < 3; ++low)
      for (int high = low + 1; high < 3; ++high, ++next)
        if (gpu == low || gpu == high)
          seats.push_back({ids_[next], 2, gpu == low ? 0 : 1, NcclUse::kMessages});
    return seats;
  }
  Work Send(NcclComm& comm, int& value) {
    return comm.Send({&value, sizeof value}, 1, *fake_.Mark({}, nullptr));
  }
  Work Recv(NcclComm& comm, int& value) {
    return comm.Recv({&value, sizeof value}, 0, *fake_.Mark({}, nullptr));
  }
  // Whether all have ended after a while.
  static bool End(const std::vector<Work*>& all) {
    for (int looks = 0; looks < 200; ++looks) {
      bool done = true;
      for (Work* work : all) done = (*work)->Done() && done;
      if (done) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  FakeNccl fake_;
  std::vector<NcclId> ids_{fake_.NewId(), fake_.NewId(), fake_.NewId()};
};

// Each joins first what another joins last.
TEST_F(ThreeGpus, JoinOneByOneInDifferentOrdersForEver) {
  std::atomic<int> gave_up = 0;
  Run([&](int gpu) {
    std::vector<NcclSeat> seats = SeatsOf(gpu);
    if (gpu == 1) std::swap(seats[0], seats[1]);
    try {
      for (const NcclSeat& seat : seats) fake_.Join({seat}, {}, kSecond);
    } catch (const BrokenEnvironment&) {
      ++gave_up;
    }
  });
  EXPECT_EQ(gave_up, 3);
}

TEST_F(ThreeGpus, JoinAsAGroupInAnyOrder) {
  Run([&](int gpu) { EXPECT_EQ(fake_.Join(SeatsOf(gpu), {}, kSecond).size(), 2u); });
  EXPECT_EQ(fake_.communicators(), (std::vector<int>{2, 2, 2}));
  EXPECT_TRUE(fake_.faults().empty());
}

// Messages 0 to 1, 1 to 2 and 0 to 2. GPU 0 launches that to 1 first, GPU 2 that from 0, and GPU 1
// that to 2: a circle.
TEST_F(ThreeGpus, LaunchInDifferentOrdersAndStandStill) {
  fake_.Configure(kInOrder);
  std::vector<Comms> comms(3);
  Run([&](int gpu) { comms[gpu] = fake_.Join(SeatsOf(gpu), {}, kSecond); });
  int values[6] = {};
  Work first[] = {Send(*comms[0][0], values[0]), Send(*comms[1][1], values[1]),
                  Recv(*comms[2][0], values[2])};
  Work second[] = {Send(*comms[0][1], values[3]), Recv(*comms[1][0], values[4]),
                   Recv(*comms[2][1], values[5])};
  EXPECT_FALSE(End({&first[0], &first[1], &first[2], &second[0], &second[1], &second[2]}));
  EXPECT_EQ(fake_.faults(),
            std::vector<std::string>{"GPUs launch in orders that contradict each other"});
}

TEST_F(ThreeGpus, LaunchInOneOrderAndEnd) {
  fake_.Configure(kInOrder);
  std::vector<Comms> comms(3);
  Run([&](int gpu) { comms[gpu] = fake_.Join(SeatsOf(gpu), {}, kSecond); });
  int values[6] = {1, 0, 2, 0, 3, 0};
  Work to_1[] = {Send(*comms[0][0], values[0]), Recv(*comms[1][0], values[1])};
  Work to_2[] = {Send(*comms[1][1], values[2]), Recv(*comms[2][1], values[3])};
  Work last[] = {Send(*comms[0][1], values[4]), Recv(*comms[2][0], values[5])};
  EXPECT_TRUE(End({&to_1[0], &to_1[1], &to_2[0], &to_2[1], &last[0], &last[1]}));
  EXPECT_EQ(values[1], 1);
  EXPECT_EQ(values[3], 2);
  EXPECT_EQ(values[5], 3);
  EXPECT_TRUE(fake_.faults().empty());
}

TEST_F(ThreeGpus, WhoseSendsMeetFail) {
  fake_.Configure(kInOrder);
  std::vector<Comms> comms(3);
  Run([&](int gpu) { comms[gpu] = fake_.Join(SeatsOf(gpu), {}, kSecond); });
  int values[2] = {};
  Work a = Send(*comms[0][0], values[0]), b = Send(*comms[1][0], values[1]);
  EXPECT_FALSE(End({&a, &b}));
  EXPECT_THROW(comms[0][0]->Check(), BrokenEnvironment);
}

// A large sum uses another algorithm than the small one of joining.
TEST_F(ThreeGpus, ConnectWithinTheFirstLargeSumUnlessAtOnce) {
  for (const bool at_once : {true, false}) {
    FakeNccl fake;
    if (at_once) fake.Configure(kInOrder);
    const NcclId id = fake.NewId();
    std::vector<std::vector<float>> data(3, std::vector<float>(100'000, 1));
    Run([&](int gpu) {
      const Comms comms = fake.Join({{id, 3, gpu, NcclUse::kSums}}, {}, kSecond);
      for (const size_t count : {size_t{1}, data[gpu].size()})
        comms[0]->AllReduce({data[gpu].data(), count * sizeof(float)}, DType::kF32,
                            *fake.Mark({}, nullptr));
    });
    EXPECT_EQ(fake.faults().size(), at_once ? 0u : 1u);
  }
}

TEST_F(ThreeGpus, AbortAllAtOnceOrBlock) {
  for (const bool together : {true, false}) {
    FakeNccl fake(2);
    const std::vector<NcclId> ids{fake.NewId(), fake.NewId()};
    Comms comms[2];
    Run([&](int gpu) {
      if (gpu == 2) return;
      comms[gpu] = fake.Join({{ids[0], 2, gpu, {}}, {ids[1], 2, gpu, {}}}, {}, kSecond);
    });
    int value = 0;
    std::vector<Work> work;
    for (const auto& comm : comms[0])
      work.push_back(comm->Recv({&value, sizeof value}, 1, *fake.Mark({}, nullptr)));
    EXPECT_FALSE(work[0]->Done());
    NcclComm *const one = comms[0][0].get(), *const other = comms[0][1].get();
    if (together) {
      fake.Abort({one, other});
    } else {
      fake.Abort({one});
      fake.Abort({other});
    }
    EXPECT_EQ(fake.faults().size(), together ? 0u : 1u);
    EXPECT_TRUE(work[0]->Done() && work[1]->Done());
  }
}

TEST(LaunchOrders, ContradictIfNoOrderHoldsThemAll) {
  EXPECT_FALSE(Contradict({}));
  EXPECT_FALSE(Contradict({{1, 2, 3}, {2, 3, 4}, {1, 4}}));
  EXPECT_TRUE(Contradict({{1, 2}, {2, 1}}));
  EXPECT_TRUE(Contradict({{1, 2}, {2, 3}, {3, 1}}));
}

}  // namespace
}  // namespace torus::parallel
