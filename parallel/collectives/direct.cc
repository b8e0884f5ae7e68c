#include "parallel/collectives/direct.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "parallel/collectives/chunk.h"
#include "parallel/collectives/pieces.h"
#include "parallel/collectives/shared_sum.h"
#include "parallel/collectives/sum.h"
#include "runtime/error.h"
#include "runtime/storage.h"

namespace torus::parallel {
namespace {

// Separate the messages of one all-reduce from those of others in flight.
struct Tags {
  Tag scatter{TagClass::kCollective, 5}, gather{TagClass::kCollective, 6};
};

Tags TagsOfLane(int lane) {
  constexpr int32_t kFirst = 1 << 10;
  return {{TagClass::kCollective, kFirst + 2 * lane},
          {TagClass::kCollective, kFirst + 2 * lane + 1}};
}

// Pieces in flight of an all-reduce that is advanced only now and then: as many may arrive between
// two calls of Advance.
constexpr int kPiecesAheadBetween = 8;

// Piece i of the span is piece i of every chunk. Its terms are started `ahead` pieces before it is
// summed, and its sums are taken `ahead` pieces later.
template <class T>
class Direct : public PendingCollective {
 public:
  Direct(Transport& transport, std::span<T> data, std::string what, Tags tags = {},
         int ahead = kPiecesAhead)
      : transport_(transport),
        data_(data),
        what_(std::move(what)),
        tags_(tags),
        ahead_(ahead),
        n_(transport.size()),
        rank_(transport.rank()),
        most_(std::min<int64_t>(Largest(), kPieceElements<T>)),
        pieces_(n_ == 1 || most_ == 0 ? 0 : (Largest() + most_ - 1) / most_) {}

  void Start() {
    if (pieces_ > 0) scratch_.emplace((ahead_ + 1) * (n_ - 1) * most_ * sizeof(T), Device{});
    for (int64_t i = 0; i < ahead_; ++i) StartTerms(i);
  }

  bool Advance() override {
    while (summed_ < pieces_ && AllDone(terms_.front().received)) SumNext();
    while (taken_ < pieces_ && CanTake()) TakeNext();
    if (taken_ < pieces_ || !AllDone(sent_sums_)) return false;
    WaitForAll(sent_sums_);
    return true;
  }

  void Finish() override {
    while (taken_ < pieces_) {
      if (summed_ < std::min(pieces_, taken_ + ahead_ + 1))
        SumNext();
      else
        TakeNext();
    }
    WaitForAll(sent_sums_);
  }

 private:
  // The terms of one piece of this rank's chunk.
  struct Terms {
    std::vector<std::span<T>> of;  // each rank
    std::vector<Pending> received;
  };

  int64_t Largest() const { return static_cast<int64_t>(ChunkOf(data_, n_, 0).size()); }

  // Piece `i` of `chunk`; shorter or empty at its end.
  std::span<T> PieceOf(int chunk, int64_t i) const {
    return PieceOfChunk(data_, n_, chunk, i, most_);
  }

  std::string Step(const char* half, int64_t i) const {
    return fmt::format("{}, {} {} of {}", what_, half, i + 1, pieces_);
  }

  void StartTerms(int64_t i) {
    if (i >= pieces_) return;
    const std::string what = Step("reduce-scatter", i);
    terms_.push_back(
        Receive(PieceOf(rank_, i),
                static_cast<T*>(scratch_->data()) + i % (ahead_ + 1) * (n_ - 1) * most_, what));
    sent_terms_.emplace_back();
    for (int k = 1; k < n_; ++k)
      Send((rank_ + k) % n_, tags_.scatter, PieceOf((rank_ + k) % n_, i), what, sent_terms_.back());
  }

  Terms Receive(std::span<T> own, T* room, const std::string& what) {
    Terms terms;
    for (int r = 0; r < n_; ++r) {
      terms.of.push_back(r == rank_ ? own : std::span<T>(room, own.size()));
      if (r == rank_) continue;
      room += most_;
      if (!own.empty())
        terms.received.push_back(
            transport_.Recv(r, tags_.scatter, {terms.of[r].data(), own.size_bytes()}, what));
    }
    return terms;
  }

  // Both sides know the sizes, so an empty piece needs no message.
  void Send(int to, Tag tag, std::span<T> piece, const std::string& what,
            std::vector<Pending>& sent) {
    if (!piece.empty())
      sent.push_back(transport_.Send(to, tag, {piece.data(), piece.size_bytes()}, what));
  }

  // Sums the oldest terms.
  void Sum() {
    Terms terms = std::move(terms_.front());
    terms_.pop_front();
    WaitForAll(terms.received);
    SumInPairs<T>(terms.of[rank_], terms.of);
  }

  void SendSum(int64_t i) {
    const std::string what = Step("all-gather", i);
    for (int k = 1; k < n_; ++k)
      Send((rank_ + k) % n_, tags_.gather, PieceOf(rank_, i), what, sent_sums_);
  }

  void SumNext() {
    StartTerms(summed_ + ahead_);
    Sum();
    SendSum(summed_++);
  }

  // The sums of a piece replace this rank's terms of it, which must have been sent by then.
  bool CanTake() {
    if (taken_ == summed_ || !AllDone(sent_terms_.front())) return false;
    if (taken_sums_.empty()) StartTaking(taken_);
    return AllDone(taken_sums_);
  }

  void TakeNext() {
    WaitForAll(sent_terms_.front());
    if (taken_sums_.empty()) StartTaking(taken_);
    WaitForAll(taken_sums_);
    sent_terms_.pop_front();
    ++taken_;
  }

  void StartTaking(int64_t i) {
    const std::string what = Step("all-gather", i);
    for (int k = 1; k < n_; ++k) {
      const int from = (rank_ + k) % n_;
      const std::span<T> piece = PieceOf(from, i);
      if (!piece.empty())
        taken_sums_.push_back(
            transport_.Recv(from, tags_.gather, {piece.data(), piece.size_bytes()}, what));
    }
  }

  Transport& transport_;
  std::span<T> data_;
  const std::string what_;
  const Tags tags_;
  const int64_t ahead_;
  const int n_, rank_;
  const int64_t most_, pieces_;
  int64_t summed_ = 0, taken_ = 0;  // pieces
  std::optional<Storage> scratch_;  // memory for the terms of the pieces in flight
  std::deque<Terms> terms_;
  std::deque<std::vector<Pending>> sent_terms_;
  std::vector<Pending> sent_sums_, taken_sums_;  // taken: of one piece
};

}  // namespace

template <class T>
void DirectAllReduce(Transport& transport, std::span<T> data, const std::string& what) {
  if (SharedBuffers* const buffers = SharedBuffersOfAll(transport))
    return SharedAllReduce(transport, *buffers, data, what);
  Direct<T> direct(transport, data, what);
  direct.Start();
  direct.Finish();
}

template <class T>
std::unique_ptr<PendingCollective> StartDirectAllReduce(Transport& transport, std::span<T> data,
                                                        std::string what, int lane) {
  auto direct = std::make_unique<Direct<T>>(transport, data, std::move(what), TagsOfLane(lane),
                                            kPiecesAheadBetween);
  direct->Start();
  return direct;
}

#define TORUS_DIRECT(T)                                                                         \
  template void DirectAllReduce<T>(Transport&, std::span<T>, const std::string&);               \
  template std::unique_ptr<PendingCollective> StartDirectAllReduce<T>(Transport&, std::span<T>, \
                                                                      std::string, int);
TORUS_FOR_SUMMED_TYPES(TORUS_DIRECT)
#undef TORUS_DIRECT

int64_t DirectElementsSent(int ranks, int rank, int64_t count) {
  if (ranks == 1) return 0;
  return count + (ranks - 2) * ChunkOf(count, ranks, rank).size;
}

int64_t DirectElementsSentTo(int ranks, int rank, int to, int64_t count) {
  return ChunkOf(count, ranks, to).size + ChunkOf(count, ranks, rank).size;
}

}  // namespace torus::parallel
