#include "parallel/transport/mpi/mpi_state.h"

#include <algorithm>
#include <utility>

#include "parallel/transport/mpi/last_words.h"
#include "parallel/transport/mpi/mpi_process.h"
#include "parallel/transport/mpi/mpi_transfer.h"
#include "parallel/transport/transfer_text.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr int kControlTag = 0;  // channels begin at 1, and end before the largest tag
constexpr std::chrono::microseconds kTickInterval{100};

int RankIn(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int SizeOf(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

int32_t LargestTag(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &found);
  return found ? *static_cast<int*>(value) : 32767;  // the least that MPI guarantees
}

// 20 in each timeout, but 1 to 100 per second.
MpiClock::duration BeatInterval(double timeout) {
  return std::chrono::duration_cast<MpiClock::duration>(
      std::chrono::duration<double>(std::clamp(timeout / 20, 0.01, 1.0)));
}

}  // namespace

MpiState::MpiState(MPI_Comm comm, MpiOptions options)
    : mutex(MpiProcess::Get().mutex()),
      comm(comm),
      rank(RankIn(comm)),
      size(SizeOf(comm)),
      options(options),
      engine_tag(LargestTag(comm)),
      name(fmt::format("rank {} on {}", rank, MpiProcess::Get().host())),
      chain(size),
      left(size),
      sent(static_cast<size_t>(size) * kTagClasses),
      heard_(size, MpiClock::now()),
      channels_(std::min(engine_tag - kControlTag - 1, options.most_channels)),
      last_channel_(size),
      beat_interval_(BeatInterval(options.timeout)) {
  chain.progress(rank).on_tick = [this] {
    const MpiClock::time_point now = MpiClock::now();
    if (now < next_tick_) return;
    next_tick_ = now + kTickInterval;
    PumpAndCheck();
  };
  chain.progress(rank).on_alive = [this] {
    try {
      const std::lock_guard lock(mutex);
      Pump();
    } catch (const std::exception&) {
      // The rank's own thread meets the same error at its next call.
    }
  };
  chain.progress(rank).watched = true;
}

MpiState::~MpiState() {
  const std::lock_guard lock(mutex);
  // Memory that MPI may still write to is leaked on purpose.
  for (Abandoned& rest : abandoned_)
    if (CancelLast(rest.pieces) < rest.pieces.size() && !TestAll(rest.pieces)) rest.data.release();
}

void MpiState::Tell(int peer, const MpiControl& control) {
  Outgoing& out = outgoing_.emplace_back(Outgoing{MPI_REQUEST_NULL, Pack(control)});
  CheckMpi(MPI_Isend(out.bytes.data(), static_cast<int>(out.bytes.size()), MPI_BYTE, peer,
                     kControlTag, comm, &out.request),
           "MPI_Isend");
}

void MpiState::TellOthers(const MpiControl& control) {
  for (int peer = 0; peer < size; ++peer)
    if (peer != rank && !(left[rank] && left[peer])) Tell(peer, control);
}

void MpiState::Pump() {
  SayAlive();
  for (;;) {
    int found = 0;
    MPI_Status status;
    CheckMpi(MPI_Iprobe(MPI_ANY_SOURCE, kControlTag, comm, &found, &status), "MPI_Iprobe");
    if (!found) break;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::vector<char> message(bytes);
    CheckMpi(MPI_Recv(message.data(), bytes, MPI_BYTE, status.MPI_SOURCE, kControlTag, comm,
                      MPI_STATUS_IGNORE),
             "MPI_Recv");
    Take(status.MPI_SOURCE, Unpack(message));
  }
  while (!outgoing_.empty()) {
    int done = 0;
    CheckMpi(MPI_Test(&outgoing_.front().request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (!done) break;
    outgoing_.pop_front();
  }
  if (MpiClock::now() >= next_beat_) Beat();
}

int32_t MpiState::NextChannel(int peer) {
  const auto taken = [&](const std::pair<int, int32_t>& from) {
    return receives.contains(from) ||
           std::ranges::find(abandoned_, from, &Abandoned::from) != abandoned_.end();
  };
  int32_t& last = last_channel_.at(peer);
  for (int32_t tried = 0; tried < channels_; ++tried) {
    last = last % channels_ + 1;
    if (!taken({peer, last})) return last;
  }
  Throw<BrokenEnvironment>("mpi", "{} waits for {} messages of rank {}, and MPI has no more tags",
                           name, channels_, peer);
}

void MpiState::Abandon(int peer, int32_t channel, size_t bytes) {
  Abandoned& rest = abandoned_.emplace_back();
  rest.from = {peer, channel};
  rest.data = std::make_unique_for_overwrite<char[]>(bytes);
  rest.pieces = PiecesOf(peer, channel).Recv(rest.data.get(), bytes);
}

void MpiState::Beat() {
  next_beat_ = MpiClock::now() + beat_interval_;
  TellOthers({.kind = MpiControl::Kind::kBeat,
              .peer = chain.peer(rank),
              .count = chain.progress(rank).ticks.load(std::memory_order_relaxed),
              .text = chain.what(rank)});
}

void MpiState::ForgetSilent() {
  const std::chrono::duration<double> longest(options.timeout / 2);
  for (int other = 0; other < size; ++other)
    if (other != rank && MpiClock::now() - heard_[other] > longest) chain.End(other);
}

void MpiState::PumpAndCheck() {
  const std::lock_guard lock(mutex);
  Pump();
  if (aborted) ThrowAborted("");
}

void MpiState::Take(int from, MpiControl control) {
  switch (control.kind) {
    case MpiControl::Kind::kRequest:
      return TakeRequest(from, std::move(control));
    case MpiControl::Kind::kWithdraw:
      return TakeWithdrawal(from, control);
    case MpiControl::Kind::kRefuse:
      if (const auto it = receives.find({from, control.channel}); it != receives.end())
        it->second->Refuse(control.text);
      return;
    case MpiControl::Kind::kBeat:
      heard_[from] = MpiClock::now();
      chain.progress(from).ticks.store(control.count, std::memory_order_relaxed);
      return control.peer < 0 ? chain.End(from) : chain.Begin(from, control.peer, control.text);
    case MpiControl::Kind::kAbort:
      return NoteAbort(control.peer, control.text);
    case MpiControl::Kind::kLeave:
      left[from] = 1;
      return;
  }
}

void MpiState::TakeRequest(int from, MpiControl control) {
  const Key key = KeyOf(from, control.tag);
  MpiRequested request{control.channel, control.count, std::move(control.text)};
  const auto it = sends.find(key);
  if (it == sends.end()) {
    requested[key].push_back(std::move(request));
    return;
  }
  MpiSend* const send = it->second.front();
  it->second.pop_front();
  if (it->second.empty()) sends.erase(it);
  if (send != nullptr) send->Start(request);
}

void MpiState::TakeWithdrawal(int from, const MpiControl& control) {
  const auto it = requested.find(KeyOf(from, control.tag));
  if (it == requested.end()) return;  // the message is already being sent
  for (MpiRequested& request : it->second)
    if (request.channel == control.channel) request.channel = MpiRequested::kWithdrawn;
}

void MpiState::NoteAbort(int by, const std::string& why) {
  if (aborted) return;
  aborted_by = by;
  reason = why;
  aborted.store(true, std::memory_order_release);
  SayAborted(StoppedText(rank, "", by, why));
}

void MpiState::Abort(int by, const std::string& why) {
  if (aborted) return;
  NoteAbort(by, why);
  TellOthers({.kind = MpiControl::Kind::kAbort, .peer = by, .text = why});
}

void MpiState::ThrowAborted(const std::string& waiting) const {
  throw BrokenEnvironment(StoppedText(rank, waiting, aborted_by, reason));
}

}  // namespace torus::parallel
