// Ranks as threads whose tensors move by a fake of NCCL: the host's memory stands for that of GPUs.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/nccl/nccl_transport.h"
#include "parallel/transport/nccl/nccl_world.h"
#include "parallel/transport/run_ranks.h"
#include "parallel/transport/topology.h"
#include "tests/parallel/transport/nccl/fake_nccl.h"

namespace torus::parallel {

inline Device HostOfRank(const Transport&) { return {}; }

// Calls fn(transport, fake) on each rank. What NCCL forbids fails the test.
inline void RunOverFake(int ranks, double timeout,
                        const std::function<void(Transport&, FakeNccl&)>& fn,
                        const Topology& topology) {
  FakeNccl fake;
  InProcessWorld world(ranks, {.timeout = timeout});
  try {
    RunRanks(world, [&](Transport& inner) {
      NcclTransport transport(inner, fake, {.device = {}, .timeout = timeout});
      transport.Connect(topology);
      fn(transport, fake);
      transport.Finish();
    });
  } catch (...) {
    EXPECT_EQ(fake.faults(), std::vector<std::string>());
    throw;
  }
  EXPECT_EQ(fake.faults(), std::vector<std::string>());
}

// Each with each.
inline void RunOverFake(int ranks, double timeout,
                        const std::function<void(Transport&, FakeNccl&)>& fn) {
  RunOverFake(ranks, timeout, fn, AllConnected(ranks));
}

// A world of threads by the fake. As the host's memory is all that there is, what a run with GPUs
// sends from the host's moves by NCCL too: so each rank is also connected with each.
class FakeWorld : public World {
 public:
  FakeWorld(int ranks, FakeNccl& fake)
      : threads_(ranks), world_(threads_, fake, 60, HostOfRank), transports_(ranks) {}

  int size() const override { return world_.size(); }
  std::vector<int> local() const override { return world_.local(); }
  void Run(const std::function<void(Transport&)>& fn) override {
    world_.Run([&](Transport& transport) {
      std::unique_ptr<Connected>& own = transports_[transport.rank()];
      if (own == nullptr) own = std::make_unique<Connected>(transport);
      fn(*own);
    });
  }

 private:
  class Connected : public DecoratedTransport {
   public:
    explicit Connected(Transport& nccl) : DecoratedTransport(nccl), nccl_(nccl) {}
    void Connect(const Topology& topology) override {
      Topology more = topology;
      more.pairs = AllConnected(size()).pairs;
      nccl_.Connect(more);
    }
    Engine* EngineOf(const std::vector<int>& members) override { return nccl_.EngineOf(members); }

   private:
    Transport& nccl_;
  };
  ThreadWorld threads_;
  NcclWorld world_;
  std::vector<std::unique_ptr<Connected>> transports_;
};

}  // namespace torus::parallel
