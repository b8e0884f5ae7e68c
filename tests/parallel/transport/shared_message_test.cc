// Messages between two sides of ranks that all have, and all want, the same bytes.
#include "parallel/transport/shared_message.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "parallel/transport/group.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

using namespace std::chrono_literals;

constexpr Tag kTag{TagClass::kActivation, 7};

std::vector<char> Bytes(size_t count, size_t from) {
  std::vector<char> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(i + from);
  return bytes;
}

// Ranks 0 .. n - 1 send to n .. 2n - 1, each to its counterpart.
struct Side {
  Side(Transport& all, int n) : n(n), sends(all.rank() < n), group(all, Members(sends ? 0 : n)) {}
  std::vector<int> Members(int first) const {
    std::vector<int> members(n);
    std::iota(members.begin(), members.end(), first);
    return members;
  }
  const int n;
  const bool sends;
  Group group;
  int counterpart() const { return group.rank() + (sends ? n : 0); }
};

TEST(SharedMessage, AllOfTheOtherSideHaveAllBytes) {
  for (const int n : {1, 2, 3, 4})
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{3}, size_t{10000}})
      for (const bool asks : {false, true})
        RunRanks(2 * n, [&](Transport& all) {
          Side side(all, n);
          if (side.sends) {
            const std::vector<char> whole = Bytes(bytes, 5);
            SendPart(all, &side.group, side.counterpart(), kTag, {whole.data(), bytes}, "test")
                .Wait();
            return;
          }
          std::vector<char> whole(bytes);
          Pending pending =
              RecvParts(all, &side.group, side.counterpart(), kTag, {whole.data(), bytes}, "test");
          while (asks && !pending.Done()) std::this_thread::sleep_for(100us);  // leave the core
          pending.Wait();
          EXPECT_EQ(whole, Bytes(bytes, 5)) << n << " ranks, rank " << all.rank();
        });
}

// Messages that are started before those before them have come stay in their order.
TEST(SharedMessage, SeveralMayBeUnderWay) {
  constexpr int kSide = 3;
  RunRanks(2 * kSide, [&](Transport& all) {
    Side side(all, kSide);
    std::vector<std::vector<char>> messages;
    std::vector<Pending> pending;
    for (size_t i = 0; i < 4; ++i) {
      messages.push_back(Bytes(100 + i, i));
      std::vector<char>& bytes = messages.back();
      if (side.sends) {
        pending.push_back(SendPart(all, &side.group, side.counterpart(), kTag,
                                   {bytes.data(), bytes.size()}, "test"));
      } else {
        std::ranges::fill(bytes, 'x');
        pending.push_back(RecvParts(all, &side.group, side.counterpart(), kTag,
                                    {bytes.data(), bytes.size()}, "test"));
      }
    }
    for (Pending& one : pending) one.Wait();
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(messages[i], Bytes(100 + i, i));
  });
}

TEST(SharedMessage, ARankSendsItsPartAcrossAndOnToItsOwnSide) {
  constexpr int kSide = 4;
  constexpr size_t kBytes = 1002;  // parts of 250, 251, 250, 251
  RunRanks(2 * kSide, [&](Transport& all) {
    Side side(all, kSide);
    std::vector<char> whole = Bytes(kBytes, 1);
    const size_t part = side.group.rank() % 2 == 0 ? 250 : 251;
    EXPECT_EQ(BytesOfPart(&side.group, kBytes), part);
    if (side.sends) {
      SendPart(all, &side.group, side.counterpart(), kTag, {whole.data(), kBytes}, "test").Wait();
      EXPECT_EQ(all.BytesSent(side.counterpart(), TagClass::kActivation), part);
      return;
    }
    RecvParts(all, &side.group, side.counterpart(), kTag, {whole.data(), kBytes}, "test").Wait();
    for (int r = 0; r < kSide; ++r)
      EXPECT_EQ(side.group.BytesSent(r, TagClass::kActivation), r == side.group.rank() ? 0 : part);
  });
}

TEST(SharedMessage, WithoutAGroupAMessageGoesWhole) {
  RunRanks(2, [&](Transport& all) {
    std::vector<char> whole(100);
    EXPECT_EQ(BytesOfPart(nullptr, 100), 100u);
    if (all.rank() == 0) {
      whole = Bytes(100, 3);
      SendPart(all, nullptr, 1, kTag, {whole.data(), 100}, "test").Wait();
    } else {
      RecvParts(all, nullptr, 0, kTag, {whole.data(), 100}, "test").Wait();
      EXPECT_EQ(whole, Bytes(100, 3));
    }
  });
}

TEST(SharedMessage, ARankOfTheOwnSideThatDoesNotComeIsNamed) {
  InProcessWorld world(4, {.timeout = 0.5});
  try {
    RunRanks(world, [&](Transport& all) {
      Side side(all, 2);
      std::vector<char> whole(100);
      if (side.sends)
        SendPart(all, &side.group, side.counterpart(), kTag, {whole.data(), 100}, "test").Wait();
      else if (all.rank() == 2)
        RecvParts(all, &side.group, side.counterpart(), kTag, {whole.data(), 100}, "the cut")
            .Wait();
    });
    FAIL() << "no error";
  } catch (const BrokenEnvironment& error) {
    EXPECT_NE(std::string(error.what()).find("rank 3"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace torus::parallel
