#include "tools/labs/build_it_yourself/grader/rank_group.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "tools/common/stop_signal.h"

namespace torus::tools::labs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostPrinted = 4000;
constexpr int kReadsATurn = 16;  // of one rank: then come the others, and the deadline

// The grader's side of a rank.
struct Seat {
  Seat(const std::string& program, const Limits& limits) : process(program, limits) {}
  RankProcess process;
  std::vector<char> in, out;
  bool open = true;
};

void Append(std::vector<char>& out, const void* data, size_t bytes) {
  const char* begin = static_cast<const char*>(data);
  out.insert(out.end(), begin, begin + bytes);
}

bool HasPayload(lab::Kind kind) { return kind != lab::Kind::kRecv && kind != lab::Kind::kWaitSum; }

class Group {
 public:
  Group(const std::string& program, const std::vector<RankTask>& tasks, Link link,
        const Limits& limits)
      : limits_(limits),
        board_(static_cast<int>(tasks.size()), link,
               [this](int rank, const lab::Head& head, std::vector<char> payload) {
                 Append(seats_[rank]->out, &head, sizeof(head));
                 Append(seats_[rank]->out, payload.data(), payload.size());
               }) {
    for (size_t rank = 0; rank < tasks.size(); ++rank) {
      seats_.push_back(std::make_unique<Seat>(program, limits));
      Give(static_cast<int>(rank), tasks[rank], static_cast<int>(tasks.size()));
    }
  }

  GroupRun Run() {
    const auto end = Clock::now() + std::chrono::duration<double>(limits_.deadline);
    while (!problem_ && AnyAtWork()) {
      ThrowIfStopped();
      if (Clock::now() > end) OutOfTime();
      if (!problem_) Turn();
    }
    if (!problem_) problem_ = board_.Unread();
    GroupRun run{problem_.value_or(""), out_of_time_, std::move(board_.records())};
    if (problem_ && !printed_.empty()) run.failure += "; it printed: " + printed_;
    return run;
  }

 private:
  void Give(int rank, const RankTask& task, int ranks) {
    const int64_t count = static_cast<int64_t>(task.numbers.size());
    const size_t bytes =
        sizeof(count) + task.numbers.size() * sizeof(int64_t) + task.values.size() * sizeof(float);
    const lab::Head head{lab::Kind::kTask, rank, bytes, static_cast<double>(ranks)};
    std::vector<char>& out = seats_[rank]->out;
    Append(out, &head, sizeof(head));
    Append(out, &count, sizeof(count));
    Append(out, task.numbers.data(), task.numbers.size() * sizeof(int64_t));
    Append(out, task.values.data(), task.values.size() * sizeof(float));
  }

  bool AnyAtWork() const { return !std::ranges::all_of(board_.records(), &RankRecord::done); }

  // Waits until something can be read or written, and does it.
  void Turn() {
    std::vector<pollfd> polls;
    for (const auto& seat : seats_) {
      const short writes = seat->out.empty() ? 0 : POLLOUT;
      polls.push_back(
          {seat->open ? seat->process.door() : -1, static_cast<short>(POLLIN | writes), 0});
      polls.push_back({seat->open ? seat->process.printed() : -1, POLLIN, 0});
    }
    poll(polls.data(), polls.size(), 100);
    for (size_t rank = 0; rank < seats_.size() && !problem_; ++rank) {
      if (polls[2 * rank + 1].revents != 0) ReadPrinted(*seats_[rank]);
      if (polls[2 * rank].revents & POLLOUT) WriteOut(*seats_[rank]);
      if (polls[2 * rank].revents & (POLLIN | POLLHUP | POLLERR)) ReadDoor(static_cast<int>(rank));
    }
    if (!problem_) problem_ = board_.Deadlock();
  }

  void WriteOut(Seat& seat) {
    const ssize_t done =
        send(seat.process.door(), seat.out.data(), seat.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done > 0) seat.out.erase(seat.out.begin(), seat.out.begin() + done);
  }

  void ReadPrinted(Seat& seat) {
    std::array<char, 4096> text;
    for (int i = 0; i < kReadsATurn; ++i) {
      const ssize_t got = read(seat.process.printed(), text.data(), text.size());
      if (got <= 0) return;
      printed_.append(text.data(),
                      std::min(static_cast<size_t>(got), kMostPrinted - printed_.size()));
    }
  }

  void ReadDoor(int rank) {
    Seat& seat = *seats_[rank];
    static std::array<char, 1 << 16> bytes;
    ssize_t got = 0;
    for (int i = 0; i < kReadsATurn; ++i) {
      got = read(seat.process.door(), bytes.data(), bytes.size());
      if (got > 0) Append(seat.in, bytes.data(), static_cast<size_t>(got));
      if (got < static_cast<ssize_t>(bytes.size())) break;
    }
    TakeHeads(rank);
    if (got == 0 || (got < 0 && errno == ECONNRESET)) Ended(rank);
  }

  void TakeHeads(int rank) {
    Seat& seat = *seats_[rank];
    size_t at = 0;
    while (!problem_ && seat.in.size() - at >= sizeof(lab::Head)) {
      lab::Head head;
      std::memcpy(&head, seat.in.data() + at, sizeof(head));
      const size_t payload = HasPayload(head.kind) ? head.bytes : 0;
      if (payload > kMostHeld) {
        problem_ =
            fmt::format("rank {} sends {} bytes at once; {} are allowed", rank, payload, kMostHeld);
        return;
      }
      if (seat.in.size() - at - sizeof(head) < payload) break;
      const auto begin = seat.in.begin() + static_cast<ptrdiff_t>(at + sizeof(head));
      problem_ = board_.Take(rank, head, {begin, begin + static_cast<ptrdiff_t>(payload)});
      at += sizeof(head) + payload;
    }
    seat.in.erase(seat.in.begin(), seat.in.begin() + static_cast<ptrdiff_t>(at));
  }

  void Ended(int rank) {
    Seat& seat = *seats_[rank];
    seat.open = false;
    if (problem_ || board_.records()[rank].done) return;
    const std::string how = seat.process.WaitForEnd(limits_);
    ReadPrinted(seat);
    out_of_time_ = how.find("CPU time") != how.npos;
    problem_ = fmt::format("rank {} {}", rank, how);
  }

  void OutOfTime() {
    out_of_time_ = true;
    std::string who;
    for (size_t rank = 0; rank < seats_.size(); ++rank)
      if (!board_.records()[rank].done) who += fmt::format(" {}", rank);
    problem_ =
        fmt::format("not done after {} s: still at work are the ranks{}", limits_.deadline, who);
  }

  const Limits limits_;
  std::vector<std::unique_ptr<Seat>> seats_;
  Switchboard board_;
  std::optional<std::string> problem_;
  bool out_of_time_ = false;
  std::string printed_;
};

}  // namespace

GroupRun RunRanks(const std::string& program, const std::vector<RankTask>& tasks, Link link,
                  const Limits& limits) {
  return Group(program, tasks, link, limits).Run();
}

}  // namespace torus::tools::labs
