#include "parallel/collectives/rows.h"

#include <algorithm>
#include <utility>

#include "parallel/collectives/element_types.h"
#include "parallel/collectives/pieces.h"
#include "parallel/collectives/sum.h"
#include "runtime/error.h"
#include "runtime/storage.h"

namespace torus::parallel {
namespace {

constexpr Tag kReduceTag{TagClass::kCollective, 10};
constexpr Tag kGatherTag{TagClass::kCollective, 11};
// What is gathered on one rank, for a checkpoint, is not traffic of the steps.
constexpr Tag kGatherAtTag{TagClass::kControl, (3 << 22) + 256};

void CheckRows(const Transport& transport, size_t rows, const std::string& what) {
  Require(rows == static_cast<size_t>(transport.size()), "rows",
          "there must be one a rank, {}, got {} ({})", transport.size(), rows, what);
}

// Elements of a row in flight at once: the terms need that much memory for each other rank.
constexpr size_t kPiece = size_t{1} << 18;

template <class T>
std::span<T> PieceOf(std::span<T> row, size_t i) {
  const size_t begin = std::min(row.size(), i * kPiece);
  return row.subspan(begin, std::min(kPiece, row.size() - begin));
}

template <class T>
class RowReduction {
 public:
  RowReduction(Transport& transport, const std::vector<std::span<T>>& rows, std::string what)
      : transport_(transport),
        rows_(rows),
        what_(std::move(what)),
        rank_(transport.rank()),
        room_((rows.size() - 1) * PieceOf(rows[rank_], 0).size_bytes(), Device{}) {}

  void Run() {
    size_t longest = 0;
    for (const std::span<T> row : rows_) longest = std::max(longest, row.size());
    for (size_t i = 0; i * kPiece < longest; ++i) Reduce(i);
    WaitForAll(sent_);
  }

 private:
  void Reduce(size_t i) {
    const std::vector<std::span<T>> terms = TermsOf(PieceOf(rows_[rank_], i));
    const int n = transport_.size();
    std::vector<Pending> received;
    for (int k = 1; k < n; ++k) {
      const int from = (rank_ + n - k) % n, to = (rank_ + k) % n;
      if (const std::span<T> term = terms[from]; !term.empty())
        received.push_back(
            transport_.Recv(from, kReduceTag, {term.data(), term.size_bytes()}, what_));
      if (const std::span<T> piece = PieceOf(rows_[to], i); !piece.empty())
        sent_.push_back(transport_.Send(to, kReduceTag, {piece.data(), piece.size_bytes()}, what_));
    }
    WaitForAll(received);
    SumInPairs<T>(terms[rank_], terms);
  }

  // The memory of the terms of this rank's piece: its own in place, the others' one after another.
  std::vector<std::span<T>> TermsOf(std::span<T> own) {
    std::vector<std::span<T>> terms;
    T* room = static_cast<T*>(room_.data());
    for (int r = 0; r < transport_.size(); ++r) {
      terms.push_back(r == rank_ ? own : std::span<T>(room, own.size()));
      if (r != rank_) room += own.size();
    }
    return terms;
  }

  Transport& transport_;
  const std::vector<std::span<T>>& rows_;
  const std::string what_;
  const int rank_;
  const Storage room_;
  std::vector<Pending> sent_;
};

}  // namespace

template <class T>
void ReduceRows(Transport& transport, const std::vector<std::span<T>>& rows,
                const std::string& what) {
  CheckRows(transport, rows.size(), what);
  RowReduction<T>(transport, rows, what + ", reduce-scatter").Run();
}

#define TORUS_REDUCE_ROWS(T)                                                     \
  template void ReduceRows<T>(Transport&, const std::vector<std::span<T>>& rows, \
                              const std::string&);
TORUS_FOR_SUMMED_TYPES(TORUS_REDUCE_ROWS)
#undef TORUS_REDUCE_ROWS

namespace {

// Waits on the host for CPU memory; for a GPU's, its stream waits.
void WaitForRow(Pending& pending, const Buffer& row) {
  if (row.device.kind == DeviceKind::kCpu)
    pending.Wait();
  else
    pending.WaitOn(row.stream);
}

class RowGather : public PendingCollective {
 public:
  RowGather(Transport& transport, const std::vector<Buffer>& rows, Tag tag,
            const std::string& what) {
    CheckRows(transport, rows.size(), what);
    const std::string step = what + ", all-gather";
    const int n = transport.size(), rank = transport.rank();
    for (int k = 1; k < n; ++k) {
      const int from = (rank + n - k) % n, to = (rank + k) % n;
      if (rows[from].bytes > 0)
        received_.push_back({transport.Recv(from, tag, rows[from], step), rows[from]});
      const Buffer& own = rows[rank];
      if (own.bytes > 0)
        sent_.push_back(
            {transport.Send(to, tag, {own.data, own.bytes, own.device, own.stream}, step), own});
    }
  }

  // A peer's send may complete only when its message is received here, so receive first.
  bool Advance() override {
    if (!AllDone(received_)) return false;
    WaitForAll(received_);
    if (!AllDone(sent_)) return false;
    WaitForAll(sent_);
    return true;
  }

  void Finish() override {
    WaitForAll(received_);
    WaitForAll(sent_);
  }

 private:
  struct Message {
    Pending pending;
    Buffer row;
  };
  static bool AllDone(const std::vector<Message>& messages) {
    return std::ranges::all_of(messages, [](const Message& one) { return one.pending.Done(); });
  }
  static void WaitForAll(std::vector<Message>& messages) {
    for (Message& one : messages) WaitForRow(one.pending, one.row);
    messages.clear();
  }

  std::vector<Message> received_, sent_;
};

}  // namespace

void GatherRows(Transport& transport, const std::vector<Buffer>& rows, const std::string& what) {
  RowGather(transport, rows, kGatherTag, what).Finish();
}

std::unique_ptr<PendingCollective> StartGatherRows(Transport& transport,
                                                   const std::vector<Buffer>& rows,
                                                   const std::string& what, int lane) {
  constexpr int32_t kFirst = 1 << 20;  // after those of StartDirectAllReduce
  const Tag tag{TagClass::kCollective, kFirst + lane};
  return std::make_unique<RowGather>(transport, rows, tag, what);
}

void GatherRowsAt(int root, Transport& transport, const std::vector<Buffer>& rows,
                  const std::string& what) {
  CheckRows(transport, rows.size(), what);
  Require(root >= 0 && root < transport.size(), "rows", "the root must be below {}, got {} ({})",
          transport.size(), root, what);
  const std::string step = what + ", gather";
  const int rank = transport.rank();
  std::vector<Pending> pending;
  for (int from = 0; from < transport.size(); ++from) {
    const Buffer& row = rows[from];
    if (from == root || (rank != root && rank != from) || row.bytes == 0) continue;
    pending.push_back(rank == root
                          ? transport.Recv(from, kGatherAtTag, {row.data, row.bytes}, step)
                          : transport.Send(root, kGatherAtTag, {row.data, row.bytes}, step));
  }
  WaitForAll(pending);
}

}  // namespace torus::parallel
