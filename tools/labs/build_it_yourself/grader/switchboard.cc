#include "tools/labs/build_it_yourself/grader/switchboard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace torus::tools::labs {
namespace {

using lab::Head;
using lab::Kind;

std::string TextOf(const std::vector<char>& payload) { return {payload.begin(), payload.end()}; }

std::vector<float> FloatsOf(const std::vector<char>& payload) {
  std::vector<float> floats(payload.size() / sizeof(float));
  std::memcpy(floats.data(), payload.data(), floats.size() * sizeof(float));
  return floats;
}

std::vector<char> BytesOf(const std::vector<float>& floats) {
  std::vector<char> bytes(floats.size() * sizeof(float));
  std::memcpy(bytes.data(), floats.data(), bytes.size());
  return bytes;
}

}  // namespace

Switchboard::Switchboard(int ranks, Link link, Answer answer)
    : link_(link),
      answer_(std::move(answer)),
      records_(ranks),
      under_way_(ranks, std::vector<std::deque<Message>>(ranks)),
      link_free_(ranks, std::vector<double>(ranks)),
      unread_(ranks),
      told_(ranks),
      waits_(ranks) {}

std::optional<std::string> Switchboard::Take(int rank, const Head& head,
                                             std::vector<char> payload) {
  const bool tells =
      head.kind == Kind::kStartSum || head.kind == Kind::kCompute || head.kind == Kind::kFact;
  if (tells)
    if (const Problem problem = Tell(rank, payload.size())) return problem;
  switch (head.kind) {
    case Kind::kSend:
      return Send(rank, head.peer, std::move(payload));
    case Kind::kRecv:
      return Recv(rank, head);
    case Kind::kStartSum:
      return StartSum(rank, payload);
    case Kind::kWaitSum:
      return WaitSum(rank, head);
    case Kind::kCompute:
      Compute(rank, head, payload);
      return {};
    case Kind::kFact:
      records_[rank].facts[TextOf(payload)] = head.number;
      return {};
    case Kind::kFailed:
      return fmt::format("rank {} {}", rank, TextOf(payload));
    case Kind::kResult:
      records_[rank].result = FloatsOf(payload);
      records_[rank].done = true;
      return {};
    default:
      return fmt::format("rank {} wrote into the grader's own socket", rank);
  }
}

std::optional<std::string> Switchboard::Tell(int rank, size_t bytes) {
  told_[rank] += sizeof(Head) + bytes;
  if (told_[rank] <= kMostHeld) return {};
  return fmt::format("rank {} has told {} bytes of its work and its sums; {} are allowed", rank,
                     told_[rank], kMostHeld);
}

bool Switchboard::IsOther(int rank, int peer) const {
  return peer >= 0 && peer < ranks() && peer != rank;
}

std::optional<std::string> Switchboard::Send(int rank, int to, std::vector<char> payload) {
  if (!IsOther(rank, to))
    return fmt::format("rank {} of {} sends to rank {}, which is no other rank", rank, ranks(), to);
  RankRecord& record = records_[rank];
  const double bytes = static_cast<double>(payload.size());
  double& free = link_free_[rank][to];
  free = std::max(free, record.clock) + bytes / link_.bytes_per_second;
  record.sent_to[to] += payload.size();
  record.bytes_sent += payload.size();
  record.largest_message = std::max<uint64_t>(record.largest_message, payload.size());
  ++record.messages;
  unread_[rank] += sizeof(Head) + payload.size();
  under_way_[rank][to].push_back({std::move(payload), free + link_.latency, record.steps + 1});
  const Wait& wait = waits_[to];
  if (wait.what == Wait::kMessage && wait.number == rank) return Deliver(to);
  if (unread_[rank] <= kMostHeld) return {};
  return fmt::format("rank {} has sent {} bytes that nobody received; {} may be under way", rank,
                     unread_[rank], kMostHeld);
}

std::optional<std::string> Switchboard::Recv(int rank, const Head& head) {
  if (!IsOther(rank, head.peer))
    return fmt::format("rank {} of {} receives from rank {}, which is no other rank", rank, ranks(),
                       head.peer);
  waits_[rank] = {Wait::kMessage, head.peer, head.bytes};
  return under_way_[head.peer][rank].empty() ? Problem() : Deliver(rank);
}

std::optional<std::string> Switchboard::Deliver(int rank) {
  const Wait wait = std::exchange(waits_[rank], {});
  std::deque<Message>& queue = under_way_[wait.number][rank];
  Message message = std::move(queue.front());
  queue.pop_front();
  unread_[wait.number] -= sizeof(Head) + message.payload.size();
  if (message.payload.size() != wait.bytes)
    return fmt::format("rank {} expects {} floats from rank {}, whose message has {}", rank,
                       wait.bytes / sizeof(float), wait.number,
                       message.payload.size() / sizeof(float));
  RankRecord& record = records_[rank];
  record.clock = std::max(record.clock, message.arrival);
  record.steps = std::max(record.steps, message.steps);
  answer_(rank, {Kind::kMessage, wait.number, message.payload.size()}, std::move(message.payload));
  return {};
}

std::optional<std::string> Switchboard::StartSum(int rank, const std::vector<char>& payload) {
  RankRecord& record = records_[rank];
  const size_t number = record.sums.size();
  record.sums.push_back({payload.size(), record.clock});
  if (number == sums_.size())
    sums_.push_back({std::vector<float>(payload.size() / sizeof(float)), rank});
  Sum& sum = sums_[number];
  const std::vector<float> terms = FloatsOf(payload);
  if (terms.size() != sum.total.size())
    return fmt::format(
        "sum {} has {} floats on rank {} and {} on rank {}: do all ranks begin the same sums in "
        "the same order?",
        number, terms.size(), rank, sum.total.size(), sum.first);
  for (size_t i = 0; i < terms.size(); ++i) sum.total[i] += terms[i];
  record.bytes_sent += payload.size();
  sum.begin = std::max(sum.begin, record.clock);
  if (++sum.terms < ranks()) return {};
  EndSum(sum);
  for (int other = 0; other < ranks(); ++other)
    if (waits_[other].what == Wait::kSum && waits_[other].number == static_cast<int>(number))
      if (const Problem problem = DeliverSum(other)) return problem;
  return {};
}

// Takes as long as a ring: 2 (n - 1) steps with 1 / n of the bytes each.
void Switchboard::EndSum(Sum& sum) {
  const double steps = 2.0 * (ranks() - 1);
  const double bytes = static_cast<double>(sum.total.size() * sizeof(float)) / ranks();
  sum.begin = std::max(sum.begin, sum_link_free_);
  sum.end = sum.begin + steps * (link_.latency + bytes / link_.bytes_per_second);
  sum_link_free_ = sum.end;
}

std::optional<std::string> Switchboard::WaitSum(int rank, const Head& head) {
  const int number = static_cast<int>(head.number);
  const int begun = static_cast<int>(records_[rank].sums.size());
  if (number < 0 || number >= begun)
    return fmt::format("rank {} waits for sum {} and has begun {}", rank, number, begun);
  waits_[rank] = {Wait::kSum, number, head.bytes};
  return sums_[number].terms == ranks() ? DeliverSum(rank) : Problem();
}

std::optional<std::string> Switchboard::DeliverSum(int rank) {
  const Wait wait = std::exchange(waits_[rank], {});
  const Sum& sum = sums_[wait.number];
  std::vector<char> payload = BytesOf(sum.total);
  if (payload.size() != wait.bytes)
    return fmt::format("rank {} waits for {} floats of sum {}, which has {}", rank,
                       wait.bytes / sizeof(float), wait.number, sum.total.size());
  records_[rank].clock = std::max(records_[rank].clock, sum.end);
  answer_(rank, {Kind::kMessage, 0, payload.size()}, std::move(payload));
  return {};
}

void Switchboard::Compute(int rank, const Head& head, const std::vector<char>& payload) {
  RankRecord& record = records_[rank];
  const double begin = record.clock;
  record.clock += std::max(0.0, head.number);
  record.work.push_back({TextOf(payload), begin, record.clock});
}

std::string Switchboard::WithoutSum(int number) const {
  std::vector<std::string> who;
  for (int rank = 0; rank < ranks(); ++rank)
    if (records_[rank].sums.size() <= static_cast<size_t>(number))
      who.push_back(fmt::format("rank {}{}", rank, records_[rank].done ? " (it has ended)" : ""));
  return fmt::format("{}", fmt::join(who, ", "));
}

std::optional<std::string> Switchboard::Deadlock() const {
  std::vector<std::string> who;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (records_[rank].done) continue;
    const Wait& wait = waits_[rank];
    if (wait.what == Wait::kNothing) return {};
    if (wait.what == Wait::kSum)
      who.push_back(fmt::format("rank {} waits for sum {}, which is not begun by {}", rank,
                                wait.number, WithoutSum(wait.number)));
    else
      who.push_back(fmt::format("rank {} waits for rank {}{}", rank, wait.number,
                                records_[wait.number].done ? ", which has ended" : ""));
  }
  if (who.empty()) return {};
  return fmt::format("deadlock of {} ranks: {}", ranks(), fmt::join(who, "; "));
}

std::optional<std::string> Switchboard::Unread() const {
  for (int from = 0; from < ranks(); ++from)
    for (int to = 0; to < ranks(); ++to)
      if (const size_t count = under_way_[from][to].size(); count > 0)
        return fmt::format("rank {} has not received {} of the messages that rank {} sent it", to,
                           count, from);
  return {};
}

}  // namespace torus::tools::labs
