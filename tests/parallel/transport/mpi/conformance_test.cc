// The transport between processes, and emulated links over it: every process runs all tests.
#include "tests/parallel/transport/conformance.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "parallel/transport/emulated_link.h"
#include "parallel/transport/mpi/mpi_world.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"

namespace torus::parallel {
namespace {

constexpr int kProcesses = 7;

// How a process' part of a run ended, in a form that can be sent.
struct End {
  enum Kind : int { kGood, kBadInput, kBroken, kOther } kind = kGood;
  int aborted_by = -1;
  char what[2000] = {};
};

template <class Fn>
void Catch(End& end, const Fn& fn) {
  const auto note = [&end](End::Kind kind, const char* what) {
    end.kind = kind;
    std::strncpy(end.what, what, sizeof end.what - 1);
  };
  try {
    fn();
  } catch (const BadInput& e) {
    note(End::kBadInput, e.what());
  } catch (const BrokenEnvironment& e) {
    note(End::kBroken, e.what());
  } catch (const std::exception& e) {
    note(End::kOther, e.what());
  }
}

// Two ranks may fail at one moment, each as the first that it knows of.
std::optional<End> FirstFailure(const End& own) {
  std::vector<End> all(MpiWorld::processes());
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  const auto failed = [](const End& end) { return end.kind != End::kGood; };
  const auto first = std::find_if(all.begin(), all.end(), [&](const End& end) {
    return failed(end) && end.aborted_by == &end - all.data();
  });
  if (first != all.end()) return *first;
  const auto any = std::find_if(all.begin(), all.end(), failed);
  return any == all.end() ? std::nullopt : std::optional(*any);
}

void RunIn(int ranks, MpiOptions options, const RankFn& fn) {
  End end;
  if (MpiWorld::process() < ranks) {
    MpiWorld world(ranks, options);
    Catch(end, [&] { world.Run(fn); });
    end.aborted_by = world.aborted_by();
  }
  const std::optional<End> first = FirstFailure(end);
  if (!first) return;
  if (first->kind == End::kBadInput) throw BadInput(first->what);
  if (first->kind == End::kBroken) throw BrokenEnvironment(first->what);
  throw std::runtime_error(first->what);
}

void RunOverMpi(int ranks, double timeout, const RankFn& fn) {
  RunIn(ranks, {.timeout = timeout, .grace = 30}, fn);
}

void RunInPieces(int ranks, double timeout, const RankFn& fn) {
  RunIn(ranks, {.timeout = timeout, .grace = 30, .longest_piece = 4000}, fn);
}

void RunOverSlowLinks(int ranks, double timeout, const RankFn& fn) {
  const LinkTable links({.latency = 1e-3, .bandwidth = 1e9, .jitter = 1e-3});
  RunOverMpi(ranks, timeout, [&](Transport& transport) {
    EmulatedLink slow(transport, links);
    fn(slow);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Conformance,
                         testing::Values(Factory{"Mpi", RunOverMpi},
                                         Factory{"MpiInPieces", RunInPieces},
                                         Factory{"EmulatedLinkOverMpi", RunOverSlowLinks}),
                         [](const auto& info) { return info.param.name; });

TEST(MpiWorld, EachProcessHasOneRank) {
  MpiWorld world;
  EXPECT_EQ(world.size(), kProcesses);
  EXPECT_EQ(world.local(), std::vector<int>{MpiWorld::process()});
  int ran = 0;
  for (int i = 0; i < 2; ++i) world.Run([&](Transport& t) { ran += t.rank() == world.local()[0]; });
  EXPECT_EQ(ran, 2);
}

TEST(MpiWorld, MoreRanksThanProcessesAreRefused) {
  try {
    MpiWorld world(kProcesses + 1);
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(),
                 "[transport] needs a process for each of 8 ranks, got 7: mpirun -n 8 PROGRAM");
  }
  EXPECT_THROW(MpiWorld(0, {.timeout = 0}), BadInput);
  EXPECT_THROW(MpiWorld(0, {.grace = -1}), BadInput);
  EXPECT_THROW(MpiWorld(0, {.longest_piece = 0}), BadInput);
  EXPECT_THROW(MpiWorld(0, {.most_channels = 0}), BadInput);
}

// MPI has few tags on some networks, and a receive may stay open while they go round many times.
TEST(MpiWorld, AnOpenReceiveKeepsItsTag) {
  RunIn(2, {.most_channels = 4}, [](Transport& t) {
    const int peer = 1 - t.rank();
    int late = 0;
    Pending open = t.Recv(peer, {TagClass::kUser, 1}, {&late, sizeof late}, "late");
    for (int i = 0; i < 20; ++i) {
      const int own = 100 * t.rank() + i;
      int theirs = -1;
      Pending sent = t.Send(peer, {TagClass::kUser, 2}, {&own, sizeof own}, "early");
      t.Recv(peer, {TagClass::kUser, 2}, {&theirs, sizeof theirs}, "early").Wait();
      sent.Wait();
      EXPECT_EQ(theirs, 100 * peer + i);
    }
    const int own = 7 + t.rank();
    Pending sent = t.Send(peer, {TagClass::kUser, 1}, {&own, sizeof own}, "late");
    open.Wait();
    sent.Wait();
    EXPECT_EQ(late, 7 + peer);
  });
}

TEST(MpiWorld, AnyThreadMayAbort) {
  EXPECT_THROW(RunIn(3, {},
                     [](Transport& t) {
                       std::thread other([&t] {
                         if (t.rank() == 1) t.Abort("enough");
                       });
                       other.join();
                       int value = 0;
                       t.Recv((t.rank() + 1) % 3, {}, {&value, sizeof value}, "value").Wait();
                     }),
               BrokenEnvironment);
}

TEST(MpiWorld, ARankThatStandsStillIsFoundThoughNobodyWaitsForIt) {
  EXPECT_THROW(RunIn(2, {.timeout = 0.3, .grace = 30},
                     [](Transport& t) {
                       while (t.rank() == 1) {
                         t.ThrowIfAborted();
                         std::this_thread::sleep_for(std::chrono::milliseconds(5));
                       }
                     }),
               BrokenEnvironment);
}

// Of all processes but the first, which reports as usual.
class Failures : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "process %d, %s:%d: %s\n", MpiWorld::process(), result.file_name(),
                   result.line_number(), result.message());
  }
};

int RunTests(int argc, char** argv) {
  if (MpiWorld::process() != 0) {
    for (const char* name : {"XML_OUTPUT_FILE", "GTEST_OUTPUT", "TEST_PREMATURE_EXIT_FILE"})
      unsetenv(name);
  }
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (MpiWorld::process() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures);
  }
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace torus::parallel

int main(int argc, char** argv) {
  using namespace torus::parallel;
  if (UnderMpirun()) return RunTests(argc, argv);
  return RunMpirun(kProcesses, {argv, argv + argc});
}
