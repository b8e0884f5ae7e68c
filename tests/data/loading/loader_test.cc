#include "data/loading/loader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <tuple>

#include "data/loading/progress_deadline.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

using namespace std::chrono_literals;

// One i64 input: the indices themselves.
Batch Indices(const MicroBatch& part) {
  const auto count = static_cast<int64_t>(part.indices.size());
  return {{FromVector<int64_t>(part.indices, {count})},
          FromVector<int64_t>(part.samples, {count}),
          part.samples};
}

Sampler TestSampler() { return Sampler({.size = 53, .batch_size = 12, .seed = 7}); }

std::vector<int64_t> IndicesOf(const Batch& batch) { return ToVector<int64_t>(batch.inputs[0]); }

TEST(Loader, GivesWhatTheSamplerSaysWhateverTheWorkers) {
  for (const int workers : {1, 2, 5}) {
    Sampler sampler = TestSampler();
    Loader loader(TestSampler(), Indices,
                  {.replicas = 2, .micro_batches = 3, .workers = workers, .prefetch = 3});
    for (int64_t step = 0; step < 12; ++step) {
      const MiniBatch batch = sampler.Next();
      for (int part = 0; part < 6; ++part) {
        const auto got = loader.Fetch(step, part / 3, part % 3);
        const MicroBatch want = SplitMiniBatch(batch, 2, 3, part / 3, part % 3);
        EXPECT_EQ(IndicesOf(*got), want.indices);
        EXPECT_EQ(got->samples, want.samples);
      }
    }
  }
}

TEST(Loader, StartsWhereTheSamplerStands) {
  Sampler resumed = TestSampler();
  resumed.Seek({1, 2});
  Loader loader(resumed, Indices, {});
  EXPECT_EQ(IndicesOf(*loader.Fetch(7, 0, 0)), resumed.Next().indices);
  ExpectBadInput([&] { loader.Fetch(6, 0, 0); }, "[loader]", "got step 6");
}

// First and last stage of two replicas, each on its own thread: what is made once reaches both.
TEST(Loader, ServesTwoReadersOfEachReplicaFromOneDecoding) {
  constexpr int kReplicas = 2, kMicroBatches = 4, kSteps = 25;
  std::atomic<int> made{0};
  const MakeBatch counting = [&](const MicroBatch& part) {
    ++made;
    return Indices(part);
  };
  Loader loader(TestSampler(), counting,
                {.replicas = kReplicas,
                 .micro_batches = kMicroBatches,
                 .readers = 2,
                 .workers = 3,
                 .steps = kSteps});
  std::vector<std::vector<const Batch*>> seen(2 * kReplicas);
  std::vector<std::vector<Loader::BatchPtr>> held(2 *
                                                  kReplicas);  // so that no address is used twice
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2 * kReplicas; ++rank) {
    ranks.emplace_back([&, rank] {
      for (int64_t step = 0; step < kSteps; ++step) {
        for (int m = 0; m < kMicroBatches; ++m) {
          held[rank].push_back(loader.Fetch(step, rank / 2, m));
        }
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(held[0], held[1]);
  EXPECT_EQ(held[2], held[3]);
  EXPECT_NE(held[0], held[2]);
  EXPECT_EQ(made, kSteps * kReplicas * kMicroBatches);
}

TEST(Loader, MakesOnlyTheReplicasOfThisProcess) {
  std::atomic<int> made{0};
  const MakeBatch counting = [&](const MicroBatch& part) {
    ++made;
    return Indices(part);
  };
  Loader loader(TestSampler(), counting,
                {.replicas = 4, .micro_batches = 2, .local_replicas = {2}, .steps = 3});
  const MiniBatch first = TestSampler().Next();
  EXPECT_EQ(loader.Fetch(0, 2, 1)->samples, SplitMiniBatch(first, 4, 2, 2, 1).samples);
  ExpectBadInput([&] { loader.Fetch(0, 1, 0); }, "[loader]", "replicas 2, got 1");
  for (int64_t step = 0; step < 3; ++step) {
    for (int m = 0; m < 2; ++m) {
      if (step != 0 || m != 1) loader.Fetch(step, 2, m);
    }
  }
  EXPECT_EQ(made, 6);
}

// How far beyond the window a worker ever was, in micro-batches. `done` is set before the window
// moves, so no delay of any thread makes it look too far.
TEST(Loader, KeepsItsWindowBounded) {
  constexpr int64_t kPrefetch = 3, kSteps = 300;
  std::atomic<int64_t> made{0}, done{0}, most_ahead{0};
  const MakeBatch counting = [&](const MicroBatch& part) {
    const int64_t mine = ++made;
    if (mine > 2 * (done + kPrefetch)) most_ahead = mine - 2 * (done + kPrefetch);
    return Indices(part);
  };
  Loader loader(TestSampler(), counting, {.micro_batches = 2, .workers = 4, .prefetch = kPrefetch});
  for (int64_t step = 0; step < kSteps; ++step) {
    // The last of the window. The workers now have nothing to make until a mini-batch is fetched.
    loader.Fetch(step + kPrefetch - 1, 0, 1);
    done = step + 1;
    loader.Fetch(step, 0, 0);
    if (step + 1 < kPrefetch) loader.Fetch(step, 0, 1);
  }
  EXPECT_LE(most_ahead, 0);
}

TEST(Loader, GivesAnyOrderWithinTheWindow) {
  Loader loader(TestSampler(), Indices, {.micro_batches = 2, .prefetch = 2});
  Sampler sampler = TestSampler();
  const MiniBatch first = sampler.Next(), second = sampler.Next();
  EXPECT_EQ(IndicesOf(*loader.Fetch(1, 0, 1)), SplitMiniBatch(second, 1, 2, 0, 1).indices);
  EXPECT_EQ(IndicesOf(*loader.Fetch(0, 0, 1)), SplitMiniBatch(first, 1, 2, 0, 1).indices);
  EXPECT_EQ(IndicesOf(*loader.Fetch(0, 0, 0)), SplitMiniBatch(first, 1, 2, 0, 0).indices);
  EXPECT_EQ(IndicesOf(*loader.Fetch(1, 0, 0)), SplitMiniBatch(second, 1, 2, 0, 0).indices);
}

TEST(Loader, CarriesAWorkersErrorToEveryReaderWithItsKindAndPlace) {
  const MakeBatch failing = [](const MicroBatch& part) -> Batch {
    if (part.samples.front() == 6) Throw<BadInput>("x.png", "requires an image");
    return Indices(part);
  };
  Loader loader(TestSampler(), failing, {.micro_batches = 2, .readers = 2});
  loader.Fetch(0, 0, 0);
  for (int reader = 0; reader < 2; ++reader) {
    EXPECT_EQ(MessageOf<BadInput>([&] { loader.Fetch(0, 0, 1); }),
              "[loader] step 0, replica 0, micro-batch 1: [x.png] requires an image");
  }
}

TEST(Loader, KeepsTheKindOfOtherErrors) {
  const auto fail_with = [](auto raise) {
    Loader loader(TestSampler(),
                  [&](const MicroBatch&) -> Batch {
                    raise();
                    return {};
                  },
                  {});
    loader.Fetch(0, 0, 0);
  };
  EXPECT_THROW(fail_with([] { throw InternalError("x"); }), InternalError);
  EXPECT_THROW(fail_with([] { throw BrokenEnvironment("x"); }), BrokenEnvironment);
  EXPECT_THROW(fail_with([] { throw std::bad_alloc(); }), BrokenEnvironment);
  EXPECT_THROW(fail_with([] { throw 3; }), BrokenEnvironment);
}

TEST(Loader, StopWakesWhoeverWaits) {
  std::atomic<bool> leave{false};
  const MakeBatch stuck = [&](const MicroBatch& part) {
    while (!leave) std::this_thread::sleep_for(1ms);
    return Indices(part);
  };
  Loader loader(TestSampler(), stuck, {.micro_batches = 2});
  std::vector<std::string> messages(2);
  std::vector<std::thread> ranks;
  for (int m = 0; m < 2; ++m) {
    ranks.emplace_back(
        [&, m] { messages[m] = MessageOf<BrokenEnvironment>([&] { loader.Fetch(0, 0, m); }); });
  }
  std::this_thread::sleep_for(10ms);
  loader.Stop();
  for (std::thread& rank : ranks) rank.join();
  leave = true;
  EXPECT_EQ(messages[1], "[loader] stopped while step 0, replica 0, micro-batch 1 was waited for");
  loader.Stop();
  EXPECT_THROW(loader.Fetch(0, 0, 0), BrokenEnvironment);
}

TEST(Loader, ADeadWorkerIsNamedAfterTheTimeOut) {
  std::atomic<bool> leave{false};
  const MakeBatch stuck = [&](const MicroBatch& part) {
    while (!leave) std::this_thread::sleep_for(1ms);
    return Indices(part);
  };
  Loader loader(TestSampler(), stuck, {.timeout_seconds = 0.05});
  EXPECT_EQ(MessageOf<BrokenEnvironment>([&] { loader.Fetch(0, 0, 0); }),
            "[loader] waited for step 0, replica 0, micro-batch 0 while no worker moved in 0.05 s");
  leave = true;
}

// The worker ticks until the waiting thread has ticked three times on that account.
TEST(Loader, ShowsThatItWaitsForLivingWorkers) {
  ProgressCounter mine;
  const MakeBatch slow = [&](const MicroBatch& part) {
    while (mine.ticks < 3) {
      TickProgress();
      std::this_thread::yield();
    }
    return Indices(part);
  };
  Loader loader(TestSampler(), slow, {.workers = 1, .prefetch = 1, .timeout_seconds = 3600});
  SetProgressCounter(&mine);
  EXPECT_EQ(loader.Fetch(0, 0, 0)->samples.size(), 12u);
  SetProgressCounter(nullptr);
}

TEST(ProgressDeadline, SlowIsNotDead) {
  ProgressCounter worker;
  ProgressDeadline::Clock::time_point now{};
  ProgressDeadline deadline(worker, 0.4, now);
  for (int i = 0; i < 10; ++i) {
    now += 390ms;
    EXPECT_FALSE(deadline.Over(now));
    EXPECT_FALSE(deadline.Renew(now)) << "it has not moved";
    ++worker.ticks;
    EXPECT_TRUE(deadline.Renew(now));
    EXPECT_EQ(deadline.NextTurn(now), now + 100ms);
  }
  now += 390ms;
  EXPECT_EQ(deadline.NextTurn(now), now + 10ms);
  EXPECT_FALSE(deadline.Over(now));
  EXPECT_TRUE(deadline.Over(now + 10ms));
}

TEST(Loader, ShutsDownAtAnyMoment) {
  for (int i = 0; i < 200; ++i) {
    Loader loader(TestSampler(), Indices, {.micro_batches = 2, .workers = 3});
    for (int fetch = 0; fetch < i % 5; ++fetch) loader.Fetch(fetch / 2, 0, fetch % 2);
  }
}

TEST(Loader, RefusesWhatItDoesNotMake) {
  Loader loader(TestSampler(), Indices, {.micro_batches = 2, .readers = 1, .steps = 2});
  loader.Fetch(0, 0, 0);
  ExpectBadInput([&] { loader.Fetch(0, 0, 0); }, "[loader]", "already fetched by all 1 readers");
  ExpectBadInput([&] { loader.Fetch(2, 0, 0); }, "[loader]", "0 to 1, got step 2");
  ExpectBadInput([&] { loader.Fetch(0, 0, 2); }, "[loader]", "0 to 1, got 2");
  loader.Fetch(0, 0, 1);
  ExpectBadInput([&] { loader.Fetch(0, 0, 1); }, "[loader]", "1 to 1, got step 0");
  const LoaderOptions bad[] = {{.replicas = 0},
                               {.micro_batches = 0},
                               {.readers = 0},
                               {.workers = 0},
                               {.prefetch = 0},
                               {.local_replicas = {1}},
                               {.replicas = 2, .local_replicas = {0, 0}}};
  for (const LoaderOptions& options : bad) {
    ExpectBadInput([&] { Loader(TestSampler(), Indices, options); }, "[loader]", "got ");
  }
}

}  // namespace
}  // namespace torus::data
