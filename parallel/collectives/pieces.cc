#include "parallel/collectives/pieces.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "parallel/collectives/sum.h"

namespace torus::parallel {
void WaitForAll(std::vector<Pending>& pending) {
  for (Pending& one : pending) one.Wait();
  pending.clear();
}

bool AllDone(const std::vector<Pending>& pending) {
  return std::ranges::all_of(pending, [](const Pending& one) { return one.Done(); });
}

template <class T>
PieceReceiver<T>::PieceReceiver(Transport& transport, int from, Tag tag, std::span<T> into,
                                std::string what, Mode mode)
    : transport_(transport),
      from_(from),
      tag_(tag),
      rest_(into),
      what_(std::move(what)),
      mode_(mode),
      scratch_(
          mode == Mode::kCopy ? 0 : std::min(into.size_bytes(), (kPiecesAhead + 1) * kPieceBytes),
          Device{}) {
  for (int i = 0; i < kPiecesAhead; ++i) Start();
}

template <class T>
void PieceReceiver<T>::Start() {
  if (rest_.empty()) return;
  const std::span<T> into = TakePiece(rest_);
  T* const room = static_cast<T*>(scratch_.data());
  const std::span<T> arrives =
      mode_ == Mode::kCopy
          ? into
          : std::span<T>(room + started_ % (kPiecesAhead + 1) * kPieceElements<T>, into.size());
  ++started_;
  pending_.push_back(
      {into, arrives, transport_.Recv(from_, tag_, {arrives.data(), arrives.size_bytes()}, what_)});
}

template <class T>
std::span<T> PieceReceiver<T>::Next() {
  Start();
  Piece& piece = pending_.front();
  piece.pending.Wait();
  if constexpr (!std::is_same_v<T, std::byte>) {
    if (mode_ == Mode::kAdd) AddTo<T>(piece.into, piece.arrives);
  }
  const std::span<T> into = piece.into;
  pending_.pop_front();
  return into;
}

#define TORUS_PIECES(T) template class PieceReceiver<T>;
TORUS_PIECES(std::byte)
TORUS_FOR_SUMMED_TYPES(TORUS_PIECES)
#undef TORUS_PIECES

}  // namespace torus::parallel
