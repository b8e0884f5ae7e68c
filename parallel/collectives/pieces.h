// Splits long messages into pieces: while one piece is summed the next is in flight, and what
// arrives is added while it is still in the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "parallel/collectives/element_types.h"
#include "parallel/transport/transport.h"
#include "runtime/storage.h"

namespace torus::parallel {

// The largest message of a collective. A piece and the sum that it is added to fit a core's L2
// cache.
inline constexpr size_t kPieceBytes = size_t{1} << 18;
// Pieces in flight from one rank before the first is waited for.
inline constexpr int kPiecesAhead = 2;

template <class T>
inline constexpr size_t kPieceElements = kPieceBytes / sizeof(T);

// Returns the first piece of `data` and removes it from `data`.
template <class T>
std::span<T> TakePiece(std::span<T>& data) {
  const std::span<T> piece = data.first(std::min(data.size(), kPieceElements<T>));
  data = data.subspan(piece.size());
  return piece;
}

// Starts the sends of `data` in pieces (none if it is empty) and appends them to `sent`.
template <class T>
void SendPieces(Transport& transport, int to, Tag tag, std::span<T> data, const std::string& what,
                std::vector<Pending>& sent) {
  while (!data.empty()) {
    const std::span<T> piece = TakePiece(data);
    sent.push_back(transport.Send(to, tag, {piece.data(), piece.size_bytes()}, what));
  }
}

void WaitForAll(std::vector<Pending>& pending);
// Whether WaitForAll would return at once.
bool AllDone(const std::vector<Pending>& pending);

// Receives, piece by piece, what one rank sends with SendPieces. T is a summed type, or std::byte
// if nothing is summed.
template <class T>
class PieceReceiver {
 public:
  enum class Mode : uint8_t {
    kCopy,  // the piece replaces the elements of `into`
    kAdd,   // the piece is added to them
  };
  // Starts the first receives. `into` has the size that the sender sends.
  PieceReceiver(Transport& transport, int from, Tag tag, std::span<T> into, std::string what,
                Mode mode);

  bool done() const { return pending_.empty(); }
  // Starts one more receive, waits for the oldest piece, and returns the part of `into` where it
  // now is. Call it until done().
  std::span<T> Next();

 private:
  struct Piece {
    std::span<T> into, arrives;  // the same if pieces are copied
    Pending pending;
  };
  void Start();

  Transport& transport_;
  const int from_;
  const Tag tag_;
  std::span<T> rest_;  // the part without a started receive
  const std::string what_;
  const Mode mode_;
  size_t started_ = 0;
  Storage scratch_;  // room for the pieces in flight
  std::deque<Piece> pending_;
};

}  // namespace torus::parallel
