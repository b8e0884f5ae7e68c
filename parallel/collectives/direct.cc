#include "parallel/collectives/direct.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "parallel/collectives/chunk.h"
#include "parallel/collectives/pieces.h"
#include "parallel/collectives/sum.h"
#include "runtime/error.h"
#include "runtime/storage.h"

namespace torus::parallel {
namespace {

constexpr Tag kScatterTag{TagClass::kCollective, 5};
constexpr Tag kGatherTag{TagClass::kCollective, 6};

// Piece i of the span is piece i of every chunk. Its terms are started kPiecesAhead pieces before
// it is summed, and its sums are taken kPiecesAhead pieces later.
template <class T>
class Direct {
 public:
  Direct(Transport& transport, std::span<T> data, const std::string& what)
      : transport_(transport),
        data_(data),
        what_(what),
        n_(transport.size()),
        rank_(transport.rank()),
        most_(std::min<int64_t>(Largest(), kPieceElements<T>)),
        pieces_(n_ == 1 || most_ == 0 ? 0 : (Largest() + most_ - 1) / most_) {}

  void ReduceScatter() {
    StartFirst();
    for (int64_t i = 0; i < pieces_; ++i) {
      StartTerms(i + kPiecesAhead);
      Sum();
    }
    for (std::vector<Pending>& sent : sent_terms_) WaitForAll(sent);
  }

  void AllGather() {
    for (int64_t i = 0; i < pieces_; ++i) SendSum(i);
    for (int64_t i = 0; i < pieces_; ++i) TakeSums(i);
    WaitForAll(sent_sums_);
  }

  void AllReduce() {
    StartFirst();
    for (int64_t i = 0; i < pieces_ + kPiecesAhead; ++i) {
      StartTerms(i + kPiecesAhead);
      if (i < pieces_) {
        Sum();
        SendSum(i);
      }
      if (i >= kPiecesAhead && i - kPiecesAhead < pieces_) TakeSums(i - kPiecesAhead);
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

  // Piece `i` of `chunk`, as far as it goes.
  std::span<T> PieceOf(int chunk, int64_t i) const {
    const std::span<T> all = ChunkOf(data_, n_, chunk);
    const int64_t size = static_cast<int64_t>(all.size()), begin = std::min(i * most_, size);
    return Part(all, {begin, std::min(most_, size - begin)});
  }

  std::string Step(const char* half, int64_t i) const {
    return fmt::format("{}, {} {} of {}", what_, half, i + 1, pieces_);
  }

  void StartFirst() {
    if (pieces_ > 0) scratch_.emplace(kRooms * (n_ - 1) * most_ * sizeof(T), Device{});
    for (int64_t i = 0; i < kPiecesAhead; ++i) StartTerms(i);
  }

  void StartTerms(int64_t i) {
    if (i >= pieces_) return;
    const std::string what = Step("reduce-scatter", i);
    terms_.push_back(Receive(PieceOf(rank_, i),
                             static_cast<T*>(scratch_->data()) + i % kRooms * (n_ - 1) * most_,
                             what));
    sent_terms_.emplace_back();
    for (int k = 1; k < n_; ++k)
      Send((rank_ + k) % n_, kScatterTag, PieceOf((rank_ + k) % n_, i), what, sent_terms_.back());
  }

  Terms Receive(std::span<T> own, T* room, const std::string& what) {
    Terms terms;
    for (int r = 0; r < n_; ++r) {
      terms.of.push_back(r == rank_ ? own : std::span<T>(room, own.size()));
      if (r == rank_) continue;
      room += most_;
      if (!own.empty())
        terms.received.push_back(
            transport_.Recv(r, kScatterTag, {terms.of[r].data(), own.size_bytes()}, what));
    }
    return terms;
  }

  // Both sides know the sizes, so an empty piece needs no message.
  void Send(int to, Tag tag, std::span<T> piece, const std::string& what,
            std::vector<Pending>& sent) {
    if (!piece.empty())
      sent.push_back(transport_.Send(to, tag, {piece.data(), piece.size_bytes()}, what));
  }

  // Of the oldest terms.
  void Sum() {
    Terms terms = std::move(terms_.front());
    terms_.pop_front();
    WaitForAll(terms.received);
    SumInPairs<T>(terms.of[rank_], terms.of);
  }

  void SendSum(int64_t i) {
    const std::string what = Step("all-gather", i);
    for (int k = 1; k < n_; ++k)
      Send((rank_ + k) % n_, kGatherTag, PieceOf(rank_, i), what, sent_sums_);
  }

  void TakeSums(int64_t i) {
    if (!sent_terms_.empty()) {  // the sums replace them
      WaitForAll(sent_terms_.front());
      sent_terms_.pop_front();
    }
    const std::string what = Step("all-gather", i);
    std::vector<Pending> received;
    for (int k = 1; k < n_; ++k) {
      const int from = (rank_ + k) % n_;
      const std::span<T> piece = PieceOf(from, i);
      if (!piece.empty())
        received.push_back(
            transport_.Recv(from, kGatherTag, {piece.data(), piece.size_bytes()}, what));
    }
    WaitForAll(received);
  }

  static constexpr int64_t kRooms = kPiecesAhead + 1;

  Transport& transport_;
  std::span<T> data_;
  const std::string& what_;
  const int n_, rank_;
  const int64_t most_, pieces_;
  std::optional<Storage> scratch_;  // rooms for the terms of the pieces under way
  std::deque<Terms> terms_;
  std::deque<std::vector<Pending>> sent_terms_;
  std::vector<Pending> sent_sums_;
};

}  // namespace

template <class T>
void DirectReduceScatter(Transport& transport, std::span<T> data, const std::string& what) {
  Direct<T>(transport, data, what).ReduceScatter();
}

template <class T>
void DirectAllGather(Transport& transport, std::span<T> data, const std::string& what) {
  Direct<T>(transport, data, what).AllGather();
}

template <class T>
void DirectAllReduce(Transport& transport, std::span<T> data, const std::string& what) {
  Direct<T>(transport, data, what).AllReduce();
}

#define TORUS_DIRECT(T)                                                               \
  template void DirectReduceScatter<T>(Transport&, std::span<T>, const std::string&); \
  template void DirectAllGather<T>(Transport&, std::span<T>, const std::string&);     \
  template void DirectAllReduce<T>(Transport&, std::span<T>, const std::string&);
TORUS_FOR_SUMMED_TYPES(TORUS_DIRECT)
#undef TORUS_DIRECT

int64_t DirectElementsSent(int ranks, int rank, int64_t count) {
  if (ranks == 1) return 0;
  return count + (ranks - 2) * ChunkOf(count, ranks, rank).size;
}

}  // namespace torus::parallel
