#include "parallel/transport/mpi/mpi_transfer.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "parallel/transport/mpi/last_words.h"
#include "parallel/transport/mpi/mpi_process.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

using std::chrono::microseconds;

constexpr microseconds kAlone{20};     // of polling, after which a wait yields the core
constexpr microseconds kSpin{200};     // after which it sleeps between polls
constexpr microseconds kNap{50};       // of sleep: a wait may end this much late
constexpr double kTermPatience = 0.5;  // seconds from SIGTERM until a wait says what it waits for

double SecondsSince(MpiClock::time_point begin) {
  return std::chrono::duration<double>(MpiClock::now() - begin).count();
}

int64_t Nanoseconds(MpiClock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

void Nap(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::this_thread::sleep_for(kNap);
  lock.lock();
}

// While it exists, heartbeats tell the other ranks whom this one waits for.
class Announcement {
 public:
  Announcement(WaitChain& chain, const TransferText& text) : chain_(chain), rank_(text.rank) {
    chain_.Begin(rank_, text.peer, text.what);
    SayWaiting(WaitingText(text));
  }
  ~Announcement() {
    chain_.End(rank_);
    SayWaiting("");
  }
  Announcement(const Announcement&) = delete;
  Announcement& operator=(const Announcement&) = delete;

 private:
  WaitChain& chain_;
  const int rank_;
};

}  // namespace

WaitTime MpiTransfer::Wait() {
  const MpiClock::time_point begin = MpiClock::now();
  std::unique_lock lock(state_.mutex);
  WaitUntilReady(lock, begin);
  state_.chain.progress(state_.rank).ticks.fetch_add(1, std::memory_order_relaxed);
  const MpiClock::time_point end = MpiClock::now();
  const MpiClock::time_point met = text_.sends ? std::clamp(started_, begin, end) : end;
  return {.blocked = Nanoseconds(met - begin), .moving = Nanoseconds(end - met)};
}

bool MpiTransfer::Done() {
  const std::lock_guard lock(state_.mutex);
  if (Ready()) return true;
  state_.Pump();
  return Ready();
}

bool MpiTransfer::Ready() {
  if (!error_.empty()) throw BadInput(error_);
  return Complete();
}

bool MpiTransfer::Complete() {
  if (done_ || !Moved()) return done_;
  done_ = true;
  Finish();
  return true;
}

bool MpiTransfer::Moved() { return !pieces_.empty() && TestAll(pieces_); }

void MpiTransfer::WaitUntilReady(std::unique_lock<std::mutex>& lock, MpiClock::time_point begin) {
  while (!Ready()) {
    if (state_.aborted) state_.ThrowAborted(Waiting(begin));
    state_.Pump();
    const MpiClock::duration waited = MpiClock::now() - begin;
    if (waited > kSpin) return WaitLong(lock, begin);
    if (waited < kAlone && !state_.crowded) continue;
    lock.unlock();
    sched_yield();
    lock.lock();
  }
}

void MpiTransfer::WaitLong(std::unique_lock<std::mutex>& lock, MpiClock::time_point begin) {
  const Announcement announcement(state_.chain, text_);
  ChainDeadline deadline(state_.chain, state_.rank, state_.options.timeout, begin);
  while (!Ready()) {
    if (state_.aborted) state_.ThrowAborted(Waiting(begin));
    Nap(lock);
    state_.Pump();
    SpeakAfterTerm(begin);
    if (deadline.Passed(MpiClock::now()) && !Ready() && !state_.aborted) ThrowTimeout(begin);
  }
}

std::string MpiTransfer::Waiting(MpiClock::time_point begin) const {
  return fmt::format("{} for {:.2f} s", WaitingText(text_), SecondsSince(begin));
}

void MpiTransfer::ThrowTimeout(MpiClock::time_point begin) {
  state_.ForgetSilent();
  const std::string text = GaveUpText(text_, SecondsSince(begin), state_.options.timeout,
                                      state_.chain.Describe(state_.rank));
  state_.Abort(state_.rank, text);
  throw BrokenEnvironment(text);
}

// The program handles SIGTERM itself and wants to go on. If another host's rank has died, it
// cannot, and will be killed soon.
void MpiTransfer::SpeakAfterTerm(MpiClock::time_point begin) {
  if (state_.spoke_after_term || SecondsSinceTerm() < kTermPatience) return;
  state_.spoke_after_term = true;
  if (state_.options.on_message)
    state_.options.on_message(
        fmt::format("{} was told to end (SIGTERM) and is {}", state_.name, Waiting(begin)));
}

void MpiTransfer::WaitOut(std::unique_lock<std::mutex>& lock) {
  const MpiClock::time_point begin = MpiClock::now();
  while (!Complete()) {
    state_.Pump();
    if (SecondsSince(begin) > state_.options.grace)
      EndAllProcesses(fmt::format("{} cannot take its buffer back, {}{}", state_.name,
                                  Waiting(begin),
                                  state_.aborted ? ", after: " + state_.reason : ""));
    Nap(lock);
  }
}

// A destructor cannot throw, and of an object whose constructor throws none is called; but MPI may
// still write to the buffer, and the state still points to the object.
template <class Fn>
void MpiTransfer::LastWordIfFailed(const char* what, const Fn& fn) noexcept {
  try {
    fn();
  } catch (const std::exception& error) {
    EndAllProcesses(fmt::format("{} cannot {}: {}", state_.name, what, error.what()));
  }
}

MpiSend::MpiSend(MpiState& state, TransferText text, const void* data)
    : MpiTransfer(state, std::move(text)), data_(data) {
  const std::lock_guard lock(state_.mutex);
  const auto it = state_.requested.find(MpiState::KeyOf(text_.peer, text_.tag));
  if (it == state_.requested.end()) {
    state_.sends[MpiState::KeyOf(text_.peer, text_.tag)].push_back(this);
    return;
  }
  const MpiRequested request = std::move(it->second.front());
  it->second.pop_front();
  if (it->second.empty()) state_.requested.erase(it);
  if (request.channel != MpiRequested::kWithdrawn)
    LastWordIfFailed("begin to send", [&] { Start(request); });
}

void MpiSend::Start(const MpiRequested& request) {
  started_ = MpiClock::now();
  if (request.bytes != text_.bytes) {
    error_ = SizesDifferText(
        text_, {false, text_.peer, text_.rank, text_.tag, request.bytes, request.what});
    return state_.Tell(
        text_.peer,
        {.kind = MpiControl::Kind::kRefuse, .channel = request.channel, .text = error_});
  }
  pieces_ = state_.PiecesOf(text_.peer, request.channel).Send(data_, text_.bytes);
}

void MpiSend::Finish() {
  state_
      .sent[static_cast<size_t>(text_.peer) * kTagClasses + static_cast<size_t>(text_.tag.kind)] +=
      text_.bytes;
}

MpiSend::~MpiSend() {
  LastWordIfFailed("take a buffer back", [this] {
    std::unique_lock lock(state_.mutex);
    const auto it = state_.sends.find(MpiState::KeyOf(text_.peer, text_.tag));
    if (it != state_.sends.end()) std::ranges::replace(it->second, this, nullptr);
    if (!pieces_.empty()) WaitOut(lock);
  });
}

MpiRecv::MpiRecv(MpiState& state, TransferText text, void* data)
    : MpiTransfer(state, std::move(text)) {
  const std::lock_guard lock(state_.mutex);
  channel_ = state_.NextChannel(text_.peer);
  LastWordIfFailed("begin to receive", [&] {
    pieces_ = state_.PiecesOf(text_.peer, channel_).Recv(data, text_.bytes);
    state_.receives[{text_.peer, channel_}] = this;
    state_.Tell(text_.peer, {.kind = MpiControl::Kind::kRequest,
                             .tag = text_.tag,
                             .channel = channel_,
                             .count = text_.bytes,
                             .text = text_.what});
  });
}

void MpiRecv::Finish() { state_.receives.erase({text_.peer, channel_}); }

MpiRecv::~MpiRecv() {
  LastWordIfFailed("take a buffer back", [this] {
    std::unique_lock lock(state_.mutex);
    if (done_) return;
    Withdraw();
    WaitOut(lock);
  });
}

void MpiRecv::Withdraw() {
  state_.receives.erase({text_.peer, channel_});
  const bool refused = !error_.empty();
  if (!refused)
    state_.Tell(text_.peer,
                {.kind = MpiControl::Kind::kWithdraw, .tag = text_.tag, .channel = channel_});
  // The first pieces may have arrived, and the next may be in flight.
  const size_t cancelled = CancelLast(pieces_);
  if (refused || cancelled == 0) return;
  const size_t kept = (pieces_.size() - cancelled) * state_.options.longest_piece;
  state_.Abandon(text_.peer, channel_, text_.bytes - kept);
}

}  // namespace torus::parallel
