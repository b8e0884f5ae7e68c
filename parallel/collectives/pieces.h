// Long messages in pieces: while one is summed the next is under way, and what arrives is added
// while it is still in the cache.
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

// The largest message of a collective. A piece and the sum that it is added to stay in a core's
// second cache.
inline constexpr size_t kPieceBytes = size_t{1} << 18;
// Pieces that are under way from one rank before the first is waited for.
inline constexpr int kPiecesAhead = 2;

template <class T>
inline constexpr size_t kPieceElements = kPieceBytes / sizeof(T);

// The first piece of `data`, and the rest of it in `data`.
template <class T>
std::span<T> TakePiece(std::span<T>& data) {
  const std::span<T> piece = data.first(std::min(data.size(), kPieceElements<T>));
  data = data.subspan(piece.size());
  return piece;
}

// Starts sends of `data` in pieces, none for an empty one, and adds them to `sent`.
template <class T>
void SendPieces(Transport& transport, int to, Tag tag, std::span<T> data, const std::string& what,
                std::vector<Pending>& sent) {
  while (!data.empty()) {
    const std::span<T> piece = TakePiece(data);
    sent.push_back(transport.Send(to, tag, {piece.data(), piece.size_bytes()}, what));
  }
}

void WaitForAll(std::vector<Pending>& pending);
// Whether that would return at once.
bool AllDone(const std::vector<Pending>& pending);

// What one rank sends with SendPieces, received piece by piece. T is a summed type, or std::byte
// where nothing is summed.
template <class T>
class PieceReceiver {
 public:
  enum class Mode : uint8_t {
    kCopy,  // the piece replaces the elements of `into`
    kAdd,   // the piece is added to them
  };
  // Starts the first receives. `into` has the sender's size.
  PieceReceiver(Transport& transport, int from, Tag tag, std::span<T> into, std::string what,
                Mode mode);

  bool done() const { return pending_.empty(); }
  // Starts one more receive, waits for the oldest piece, and returns where in `into` it now is.
  // To be called until done().
  std::span<T> Next();

 private:
  struct Piece {
    std::span<T> into, arrives;  // one and the same where pieces are copied
    Pending pending;
  };
  void Start();

  Transport& transport_;
  const int from_;
  const Tag tag_;
  std::span<T> rest_;  // of which no receive has been started
  const std::string what_;
  const Mode mode_;
  size_t started_ = 0;
  Storage scratch_;  // room for the pieces under way
  std::deque<Piece> pending_;
};

}  // namespace torus::parallel
