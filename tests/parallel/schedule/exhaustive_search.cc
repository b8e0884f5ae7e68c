#include "tests/parallel/schedule/exhaustive_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "parallel/schedule/printer.h"

namespace torus::parallel::testing {
namespace {

using K = ActionKind;
using Positions = std::vector<size_t>;

// What a rank has after the first actions of its list. It has no memory of when they ran, so each
// action's own faults are found once for all interleavings.
class RankReader {
 public:
  RankReader(const Schedule& schedule, const std::vector<int>& owners, int rank)
      : schedule_(schedule), owners_(owners), rank_(rank) {}

  // What is wrong with running `a` after all that was read before; empty where nothing is.
  std::string Read(const Action& a) {
    const std::string fault = FaultOf(a);
    if (!done_.insert({a.kind, a.stage, a.micro_batch}).second) return "done twice";
    return fault;
  }

  bool IsComplete() const {
    for (int s = 0; s < schedule_.num_stages; ++s) {
      if (owners_[s] != rank_) continue;
      for (int m = 0; m < schedule_.num_micro_batches; ++m) {
        if (!Has(K::kForward, s, m) || !WeightsDone(s, m)) return false;
        if (Remote(s + 1) && !Has(K::kSendActivation, s, m)) return false;
        if (Remote(s - 1) && !Has(K::kSendGradient, s, m)) return false;
      }
      if (!Has(K::kReduce, s, -1) || !Has(K::kStep, s, -1)) return false;
    }
    return true;
  }

 private:
  bool Has(K kind, int s, int m) const { return done_.contains({kind, s, m}); }
  bool InModel(int s) const { return s >= 0 && s < schedule_.num_stages; }
  bool Remote(int s) const { return InModel(s) && owners_[s] != rank_; }
  bool InputsDone(int s, int m) const {
    return Has(K::kBackward, s, m) || Has(K::kBackwardInput, s, m);
  }
  bool WeightsDone(int s, int m) const {
    return Has(K::kBackward, s, m) || Has(K::kBackwardWeight, s, m);
  }
  bool InputIsHere(int s, int m) const {
    return s == 0 || (Remote(s - 1) ? Has(K::kRecvActivation, s, m) : Has(K::kForward, s - 1, m));
  }
  bool GradientIsHere(int s, int m) const {
    if (!InModel(s + 1)) return true;
    return Remote(s + 1) ? Has(K::kRecvGradient, s, m) : InputsDone(s + 1, m);
  }

  std::string FaultOf(const Action& a) const {
    const int s = a.stage, m = a.micro_batch;
    const auto later = [&](bool (RankReader::*done)(int, int) const) {
      for (int n = m + 1; n < schedule_.num_micro_batches; ++n)
        if ((this->*done)(s, n)) return true;
      return false;
    };
    switch (a.kind) {
      case K::kForward:
        return InputIsHere(s, m) ? "" : "no input";
      case K::kBackward:
      case K::kBackwardInput:
        if (!Has(K::kForward, s, m) || !GradientIsHere(s, m) || InputsDone(s, m)) return "no graph";
        if (later(&RankReader::InputsDone)) return "inputs out of order";
        return a.kind == K::kBackward && later(&RankReader::WeightsDone) ? "sum out of order" : "";
      case K::kBackwardWeight:
        if (!Has(K::kBackwardInput, s, m)) return "no graph";
        return later(&RankReader::WeightsDone) ? "sum out of order" : "";
      case K::kSendActivation:
        return Remote(s + 1) && Has(K::kForward, s, m) ? "" : "nothing to send";
      case K::kSendGradient:
        return Remote(s - 1) && InputsDone(s, m) ? "" : "nothing to send";
      case K::kRecvActivation:
      case K::kRecvGradient:
        return "";
      case K::kReduce:
        for (const auto& [kind, stage, micro_batch] : done_)
          if (kind == K::kStep) return "reduce after a step";
        for (int n = 0; n < schedule_.num_micro_batches; ++n)
          if (!WeightsDone(s, n)) return "sum not complete";
        return "";
      case K::kStep:
        return Has(K::kReduce, s, -1) ? "" : "step without reduce";
      case K::kGather:
      case K::kFree:
        return "weights are not searched";
    }
    return "unknown";
  }

  const Schedule& schedule_;
  const std::vector<int>& owners_;
  const int rank_;
  std::set<std::tuple<K, int, int>> done_;
};

class Search {
 public:
  explicit Search(const Schedule& schedule) : schedule_(schedule), owners_(StageOwners(schedule)) {}

  std::string Run() {
    for (int rank = 0; rank < schedule_.num_ranks; ++rank) {
      RankReader reader(schedule_, owners_, rank);
      for (const Action& action : schedule_.ranks[rank])
        if (std::string fault = reader.Read(action); !fault.empty()) return fault;
      if (!reader.IsComplete()) return "not complete";
    }
    ReadLinks();
    for (auto& [link, messages] : sent_)
      if (messages.size() != received_[link].size()) return "left on a link";
    return Explore();
  }

 private:
  using Link = std::pair<int, int>;

  // Before action i of its rank: how many messages the link has had, and its name where it is one.
  struct Step {
    bool send = false, recv = false, last_reduce = false;
    Link link;
    size_t number = 0;  // of the message on the link
    std::string message;
  };

  void ReadLinks() {
    steps_.resize(schedule_.num_ranks);
    for (int rank = 0; rank < schedule_.num_ranks; ++rank) {
      for (const Action& a : schedule_.ranks[rank]) {
        Step step{.send = IsSend(a.kind), .recv = IsRecv(a.kind)};
        const bool activation = a.kind == K::kSendActivation || a.kind == K::kRecvActivation;
        const int stage = a.stage + (!step.send ? 0 : activation ? 1 : -1);
        step.message = fmt::format("{}{}.{}", activation ? 'A' : 'G', stage, a.micro_batch);
        step.link = step.send ? Link{rank, a.peer} : Link{a.peer, rank};
        auto& list = step.send ? sent_[step.link] : received_[step.link];
        step.number = list.size();
        if (step.send || step.recv) list.push_back(step.message);
        steps_[rank].push_back(step);
      }
      for (size_t i = steps_[rank].size(); i-- > 0;) {
        if (schedule_.ranks[rank][i].kind != K::kReduce) continue;
        steps_[rank][i].last_reduce = true;
        break;
      }
    }
    for (const auto& [link, messages] : received_) sent_.try_emplace(link);
  }

  // How many messages of the link are sent before the sender's position.
  size_t SentBefore(const Link& link, const Positions& at) const {
    size_t count = 0;
    for (size_t i = 0; i < at[link.first]; ++i)
      count += steps_[link.first][i].send && steps_[link.first][i].link == link;
    return count;
  }

  // A rank begins its last reduction when all have come to theirs.
  bool AllAtLastReduce(const Positions& at) const {
    for (size_t rank = 0; rank < at.size(); ++rank)
      for (size_t i = at[rank] + 1; i < steps_[rank].size(); ++i)
        if (steps_[rank][i].last_reduce) return false;
    return true;
  }

  std::string Explore() {
    std::set<Positions> seen;
    std::vector<Positions> open{Positions(schedule_.num_ranks, 0)};
    while (!open.empty()) {
      const Positions at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      bool moved = false, ended = true;
      for (size_t rank = 0; rank < at.size(); ++rank) {
        if (at[rank] == steps_[rank].size()) continue;
        ended = false;
        const Step& step = steps_[rank][at[rank]];
        if (step.last_reduce && !AllAtLastReduce(at)) continue;
        if (step.recv) {
          if (SentBefore(step.link, at) <= step.number) continue;
          if (sent_[step.link][step.number] != step.message) return "another message";
        }
        moved = true;
        open.push_back(at);
        ++open.back()[rank];
      }
      if (!moved && !ended) return "deadlock";
    }
    return "";
  }

  const Schedule& schedule_;
  const std::vector<int> owners_;
  std::vector<std::vector<Step>> steps_;
  std::map<Link, std::vector<std::string>> sent_, received_;
};

}  // namespace

std::string FindFault(const Schedule& schedule) { return Search(schedule).Run(); }

}  // namespace torus::parallel::testing
