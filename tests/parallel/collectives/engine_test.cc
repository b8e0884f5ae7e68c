// The engine's all-reduce, by a transport that has an engine of its own.
#include "parallel/transport/engine.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "parallel/collectives/all_reduce.h"
#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/group.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "tests/parallel/collectives/terms.h"

namespace torus::parallel {
namespace {

// Sums floats among the members when it is waited for.
class ToyEngine : public Engine {
 public:
  ToyEngine(Transport& transport, const std::vector<int>& members) : group_(transport, members) {}

  Pending AllReduce(Buffer data, DType dtype, std::string what) override {
    EXPECT_EQ(dtype, DType::kF32);
    return Pending(std::make_unique<State>(*this, data, std::move(what)));
  }

 private:
  struct State : Pending::State {
    State(ToyEngine& engine, Buffer data, std::string what)
        : engine(engine), data(data), what(std::move(what)) {}
    WaitTime Wait() override {
      parallel::AllReduce(engine.group_,
                          std::span<float>(static_cast<float*>(data.data), data.bytes / 4), what);
      return {};
    }
    bool Done() override { return false; }
    ToyEngine& engine;
    const Buffer data;
    const std::string what;
  };
  Group group_;
};

class EngineTransport : public DecoratedTransport {
 public:
  explicit EngineTransport(Transport& inner) : DecoratedTransport(inner), inner_(inner) {}
  Engine* EngineOf(const std::vector<int>& members) override {
    std::unique_ptr<ToyEngine>& engine = engines_[members];
    if (!engine) engine = std::make_unique<ToyEngine>(inner_, members);
    return engine.get();
  }
  size_t engines() const { return engines_.size(); }

 private:
  Transport& inner_;
  std::map<std::vector<int>, std::unique_ptr<ToyEngine>> engines_;
};

TEST(EngineAllReduce, IsTheTransports) {
  RunRanks(3, [](Transport& t) {
    EngineTransport with(t);
    for (const int64_t count : {0, 1, 1009}) {
      std::vector<float> data = testing::Terms<float>(t.rank(), count);
      AllReduce(with, std::span<float>(data), "test", AllReduceAlgorithm::kEngine);
      EXPECT_TRUE(data == testing::Sums<float>(3, count)) << count;
    }
    EXPECT_EQ(with.engines(), 1u);  // made once, and kept
  });
}

// A group of ranks has an engine of its own, in the group's order.
TEST(EngineAllReduce, OfAGroup) {
  RunRanks(5, [](Transport& t) {
    if (t.rank() % 2 != 0) return;
    EngineTransport with(t);
    Group group(with, {4, 0, 2});
    std::vector<float> data(7, static_cast<float>(t.rank()));
    AllReduce(group, std::span<float>(data), "test", AllReduceAlgorithm::kEngine);
    EXPECT_EQ(data, std::vector<float>(7, 6));
  });
}

TEST(EngineAllReduce, RefusesATransportThatHasNone) {
  RunRanks(2, [](Transport& t) {
    std::vector<float> data(3);
    try {
      AllReduce(t, std::span<float>(data), "the sum", AllReduceAlgorithm::kEngine);
      FAIL();
    } catch (const BadInput& e) {
      EXPECT_NE(std::string(e.what()).find("(MPI, NCCL); this one has none (the sum)"),
                std::string::npos)
          << e.what();
    }
  });
}

TEST(EngineAllReduce, OneRankNeedsNone) {
  RunRanks(1, [](Transport& t) {
    std::vector<float> data(3, 2);
    AllReduce(t, std::span<float>(data), "test", AllReduceAlgorithm::kEngine);
    EXPECT_EQ(data, std::vector<float>(3, 2));
  });
}

}  // namespace
}  // namespace torus::parallel
