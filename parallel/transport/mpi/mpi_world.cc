#include "parallel/transport/mpi/mpi_world.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <thread>
#include <utility>

#include "parallel/transport/mpi/last_words.h"
#include "parallel/transport/mpi/meeting.h"
#include "parallel/transport/mpi/mpi_engine.h"
#include "parallel/transport/mpi/mpi_process.h"
#include "parallel/transport/mpi/mpi_shared_buffers.h"
#include "parallel/transport/mpi/mpi_state.h"
#include "parallel/transport/mpi/mpi_transfer.h"
#include "parallel/transport/mpi/progress_watch.h"
#include "runtime/error.h"
#include "runtime/long_work.h"
#include "runtime/progress.h"
#include "runtime/trace.h"
#include "runtime/usable_cores.h"

namespace torus::parallel {
namespace {

constexpr size_t kLongestPiece = size_t{1} << 30;

class MpiTransport : public Transport {
 public:
  MpiTransport(MpiState& state, std::vector<int> same_host)
      : state_(state), same_host_(std::move(same_host)) {}

  int rank() const override { return state_.rank; }
  int size() const override { return state_.size; }
  std::vector<int> SameHost() const override { return same_host_; }
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override;
  Pending Recv(int peer, Tag tag, Buffer buffer, std::string what) override;
  void Abort(const std::string& reason) override {
    const std::lock_guard lock(state_.mutex);
    state_.Abort(state_.rank, reason);
  }
  void ThrowIfAborted() const override { state_.PumpAndCheck(); }
  uint64_t BytesSent(int peer, TagClass kind) const override {
    return state_.sent[static_cast<size_t>(peer) * kTagClasses + static_cast<size_t>(kind)];
  }
  uint64_t BytesComputed(int peer) const override {
    uint64_t bytes = 0;
    for (const auto& [members, engine] : engines_)
      if (engine->next() == peer) bytes += engine->bytes_computed();
    return bytes;
  }
  Engine* EngineOf(const std::vector<int>& members) override {
    std::unique_ptr<MpiEngine>& engine = engines_[members];
    if (!engine) engine = std::make_unique<MpiEngine>(state_, *this, members);
    return engine.get();
  }
  SharedBuffers* SharedBuffersOf(const std::vector<int>& members) override;

 private:
  void Check(const TransferText& text, Device device) const;

  MpiState& state_;
  const std::vector<int> same_host_;
  std::map<std::vector<int>, std::unique_ptr<MpiEngine>> engines_;
  std::map<std::vector<int>, std::unique_ptr<MpiSharedBuffers>> buffers_;
};

SharedBuffers* MpiTransport::SharedBuffersOf(const std::vector<int>& members) {
  const auto here = [&](int rank) {
    return std::ranges::find(same_host_, rank) != same_host_.end();
  };
  if (state_.options.shared_buffer_bytes == 0 || !std::ranges::all_of(members, here))
    return nullptr;
  std::unique_ptr<MpiSharedBuffers>& buffers = buffers_[members];
  if (!buffers) buffers = std::make_unique<MpiSharedBuffers>(state_, *this, members);
  return buffers->usable() ? buffers.get() : nullptr;
}

void MpiTransport::Check(const TransferText& text, Device device) const {
  Require(text.peer >= 0 && text.peer < size(), "transport", "peer must be below {}, got {} ({})",
          size(), text.peer, text.what);
  Require(device.kind == DeviceKind::kCpu, "transport",
          "the MPI transport moves cpu memory, got {} ({})", device, text.what);
}

Pending MpiTransport::Send(int peer, Tag tag, ConstBuffer buffer, std::string what) {
  TransferText text{true, rank(), peer, tag, buffer.bytes, std::move(what)};
  Check(text, buffer.device);
  return Pending(std::make_unique<MpiSend>(state_, std::move(text), buffer.data));
}

Pending MpiTransport::Recv(int peer, Tag tag, Buffer buffer, std::string what) {
  TransferText text{false, rank(), peer, tag, buffer.bytes, std::move(what)};
  Check(text, buffer.device);
  return Pending(std::make_unique<MpiRecv>(state_, std::move(text), buffer.data));
}

void CheckOptions(const MpiOptions& options) {
  const auto check = [](const char* name, double seconds) {
    Require(seconds > 0 && seconds <= kLongestTimeout, "transport",
            "the {} must be above 0 and at most {} seconds, got {}", name, kLongestTimeout,
            seconds);
  };
  check("timeout", options.timeout);
  check("grace", options.grace);
  check("time to meet", options.meeting);
  Require(options.longest_piece >= 1 && options.longest_piece <= kLongestPiece, "transport",
          "pieces must have 1 to {} bytes, got {}", kLongestPiece, options.longest_piece);
  Require(options.most_channels >= 1, "transport", "receives need at least one tag, got {}",
          options.most_channels);
}

// How many processes the world has.
int SizeOfWorld(int size, double meeting) {
  MpiProcess& process = MpiProcess::Begin(meeting);
  Require(size >= 0 && size <= process.size(), "transport",
          "needs a process for each of {} ranks, got {}: mpirun -n {} PROGRAM", size,
          process.size(), size);
  if (size == 0 || process.rank() < size) return size == 0 ? process.size() : size;
  process.GiveUp();  // the others would wait for this one when they exit
  Throw<BadInput>("transport", "process {} has no rank in a world of {}: mpirun -n {} PROGRAM",
                  process.rank(), size, size);
}

std::string TextOf(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

// Attaches the counter while it exists.
class Counting {
 public:
  explicit Counting(ProgressCounter& counter) { SetProgressCounter(&counter); }
  ~Counting() { SetProgressCounter(nullptr); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
};

// The wait of a rank that is done until the others are done too.
class Farewell {
 public:
  explicit Farewell(MpiState& state) : state_(state) {}

  void Wait() {
    std::unique_lock lock(state_.mutex);
    state_.left[state_.rank] = 1;
    for (int peer = 0; peer < state_.size; ++peer)
      if (peer != state_.rank) state_.Tell(peer, {.kind = MpiControl::Kind::kLeave});
    while (!Staying().empty() || !state_.idle()) {
      state_.Pump();
      const MpiClock::time_point now = MpiClock::now();
      if (std::exchange(progress_, Progress()) != progress_) moved_ = now;
      CheckProgress(now);
      CheckGrace(now);
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      lock.lock();
    }
  }

 private:
  std::vector<int> Staying() const {
    std::vector<int> ranks;
    for (int rank = 0; rank < state_.size; ++rank)
      if (!state_.left[rank]) ranks.push_back(rank);
    return ranks;
  }

  uint64_t Progress() const {
    uint64_t sum = 0;
    for (const int rank : Staying()) sum += state_.chain.progress(rank).ticks;
    return sum;
  }

  static double Seconds(MpiClock::duration time) {
    return std::chrono::duration<double>(time).count();
  }

  void CheckProgress(MpiClock::time_point now) {
    const double limit = 2 * state_.options.timeout;
    if (state_.aborted || Seconds(now - moved_) < limit) return;
    state_.Abort(-1, fmt::format("[ranks] rank {} shows no progress for {:.2f} s",
                                 fmt::join(Staying(), ", "), limit));
  }

  // A rank that still writes its summary or report is alive.
  void CheckGrace(MpiClock::time_point now) {
    if (!state_.aborted) aborted_ = now;
    if (Seconds(now - std::max(aborted_, moved_)) < state_.options.grace) return;
    EndAllProcesses(fmt::format("{} ends all, since rank {} did not stop within {:.1f} s after: {}",
                                state_.name, fmt::join(Staying(), ", "), state_.options.grace,
                                state_.reason));
  }

  MpiState& state_;
  uint64_t progress_ = 0;
  MpiClock::time_point moved_ = MpiClock::now(), aborted_ = moved_;
};

}  // namespace

MpiOptions ForProgram(MpiOptions options) {
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  options.handles_sigterm = true;
  options.on_message = SayLine;
  return options;
}

MpiWorld::MpiWorld(int size, MpiOptions options) {
  CheckOptions(options);
  const Meeting meeting = Meet(SizeOfWorld(size, options.meeting), options.meeting);
  state_ = std::make_unique<MpiState>(meeting.comm, options);
  std::vector<Neighbour> neighbours;
  for (int rank = 0; rank < state_->size; ++rank) {
    const Participant& other = meeting.participants[rank];
    state_->chain.SetPlace(rank, fmt::format("host {}", other.host));
    if (rank != state_->rank && IsNeighbour(other))
      neighbours.push_back({other.process, fmt::format("rank {} on {}", rank, other.host)});
  }
  if (options.handles_sigterm) LeaveLastWords(state_->name, neighbours, options.timeout / 2);
  state_->crowded = SharesCores(meeting.participants, CoresOfProcess());
  transport_ = std::make_unique<MpiTransport>(*state_, RanksOnThisHost(meeting.participants));
}

MpiWorld::~MpiWorld() {
  try {
    Farewell(*state_).Wait();
  } catch (const std::exception& e) {
    EndAllProcesses(fmt::format("{} cannot leave the world: {}", state_->name, e.what()));
  }
  ForgetLastWords();
}

int MpiWorld::size() const { return state_->size; }
std::vector<int> MpiWorld::local() const { return {state_->rank}; }
int MpiWorld::aborted_by() const {
  const std::lock_guard lock(state_->mutex);
  return state_->aborted_by;
}
int MpiWorld::processes(double meeting) { return MpiProcess::Begin(meeting).size(); }
int MpiWorld::process() { return MpiProcess::Begin(MpiOptions().meeting).rank(); }

std::unique_ptr<LongWork> MpiWorld::Alive() {
  return std::make_unique<LongWork>(&state_->chain.progress(state_->rank));
}

std::shared_ptr<void> MpiWorld::HoldOffTheEnd() { return std::make_shared<EndHeldOff>(); }

void MpiWorld::Run(const std::function<void(Transport&)>& fn) {
  trace::SetRank(state_->rank, fmt::format("rank {}", state_->rank));
  try {
    const Counting counting(state_->chain.progress(state_->rank));
    const ProgressWatch watch(*state_);
    fn(*transport_);
    const std::lock_guard lock(state_->mutex);
    state_->Beat();  // it waits for nobody any more
  } catch (...) {
    const std::string text = TextOf(std::current_exception());
    if (state_->options.on_message)
      state_->options.on_message(fmt::format("{} fails: {}", state_->name, text));
    transport_->Abort(text);
    throw;
  }
}

}  // namespace torus::parallel
