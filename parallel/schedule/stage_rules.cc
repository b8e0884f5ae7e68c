#include "parallel/schedule/stage_rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include "parallel/schedule/printer.h"
#include "parallel/schedule/rule.h"

namespace torus::parallel {
namespace {

class StageChecker {
 public:
  StageChecker(const Schedule& schedule, const std::vector<int>& owners, int stage)
      : schedule_(schedule), owners_(owners), stage_(stage), rank_(owners[stage]), place_{rank_} {}

  int Run() {
    const std::vector<Action>& actions = schedule_.ranks[rank_];
    gathers_ = std::ranges::any_of(actions, [this](const Action& action) {
      return action.stage == stage_ && IsOfWeights(action.kind);
    });
    for (place_.index = 0; place_.index < actions.size(); ++place_.index)
      if (actions[place_.index].stage == stage_) Step(actions[place_.index]);
    for (int m = 0; m < schedule_.num_micro_batches; ++m) {
      Rule(Done(ActionKind::kForward, m), schedule_, place_,
           "stage {} never runs forward on micro-batch {}", stage_, m);
      Rule(Done(ActionKind::kBackward, m) || Done(ActionKind::kBackwardWeight, m), schedule_,
           place_, "stage {} never runs backward on micro-batch {}", stage_, m);
    }
    Rule(!gathered_, schedule_, place_, "rank {} never frees the weights of stage {}", rank_,
         stage_);
    CheckSent(ActionKind::kSendActivation, 1);
    CheckSent(ActionKind::kSendGradient, -1);
    Rule(Done(ActionKind::kReduce, -1), schedule_, place_, "stage {} never reduces", stage_);
    Rule(Done(ActionKind::kStep, -1), schedule_, place_, "stage {} never steps", stage_);
    return most_in_flight_;
  }

 private:
  bool Done(ActionKind kind, int m) const { return done_.count({kind, m}) != 0; }
  bool Remote(int neighbour) const {
    const int stage = stage_ + neighbour;
    return stage >= 0 && stage < schedule_.num_stages && owners_[stage] != rank_;
  }

  void CheckSent(ActionKind kind, int neighbour) const {
    for (int m = 0; Remote(neighbour) && m < schedule_.num_micro_batches; ++m) {
      Rule(Done(kind, m), schedule_, place_, "rank {} never runs {}", rank_,
           Action{kind, stage_, m, owners_[stage_ + neighbour]});
    }
  }

  // `action` must come after the action of `kind` on the same micro-batch.
  void After(const Action& action, ActionKind kind, bool needed = true) const {
    if (!needed || Done(kind, action.micro_batch)) return;
    Rule(false, schedule_, place_, "rank {} runs {} before {}", rank_, action,
         Action{kind, stage_, action.micro_batch, PeerOf(kind)});
  }

  int PeerOf(ActionKind kind) const {
    if (kind == ActionKind::kRecvActivation) return owners_[stage_ - 1];
    return kind == ActionKind::kRecvGradient ? owners_[stage_ + 1] : -1;
  }

  // `last`: the micro-batch of the backward before it, whole or the same half.
  void CheckAscending(const Action& action, int& last) const {
    Rule(action.micro_batch >= last, schedule_, place_,
         "backwards of a stage must ascend by micro-batch, got {} after micro-batch {} on rank {}",
         action, last, rank_);
    last = action.micro_batch;
  }

  void CheckPeer(const Action& action, int neighbour) const {
    Rule(Remote(neighbour) && action.peer == owners_[stage_ + neighbour], schedule_, place_,
         "rank {} runs {}, but stage {} is not on rank {}", rank_, action, stage_ + neighbour,
         action.peer);
  }

  void Step(const Action& action) {
    const bool once = action.kind == ActionKind::kReduce || action.kind == ActionKind::kStep;
    Rule(once ? action.micro_batch == -1
              : action.micro_batch >= 0 && action.micro_batch < schedule_.num_micro_batches,
         schedule_, place_, "rank {} runs {}, outside of {} micro-batches", rank_, action,
         schedule_.num_micro_batches);
    Rule(IsOfWeights(action.kind) || !Done(action.kind, action.micro_batch), schedule_, place_,
         "rank {} runs {} twice", rank_, action);
    Rule(!gathers_ || !IsCompute(action.kind) || gathered_, schedule_, place_,
         "rank {} runs {} without the weights of its stage", rank_, action);
    CheckOrder(action);
    done_.insert({action.kind, action.micro_batch});
    in_flight_ += IsForward(action.kind) ? 1 : 0;
    in_flight_ -= IsBackward(action.kind) && action.kind != ActionKind::kBackwardInput ? 1 : 0;
    most_in_flight_ = std::max(most_in_flight_, in_flight_);
  }

  void CheckOrder(const Action& action) {
    switch (action.kind) {
      case ActionKind::kForward:
        return After(action, ActionKind::kRecvActivation, Remote(-1));
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        After(action, ActionKind::kForward);
        After(action, ActionKind::kRecvGradient, Remote(1));
        Rule(!Done(ActionKind::kBackward, action.micro_batch) &&
                 !Done(ActionKind::kBackwardInput, action.micro_batch),
             schedule_, place_, "rank {} runs {} after a backward of that micro-batch", rank_,
             action);
        CheckAscending(action, last_input_);
        if (action.kind == ActionKind::kBackward) CheckAscending(action, last_weight_);
        return;
      case ActionKind::kBackwardWeight:
        After(action, ActionKind::kBackwardInput);
        return CheckAscending(action, last_weight_);
      case ActionKind::kSendActivation:
        CheckPeer(action, 1);
        return After(action, ActionKind::kForward);
      case ActionKind::kSendGradient:
        CheckPeer(action, -1);
        return After(action, Done(ActionKind::kBackwardInput, action.micro_batch)
                                 ? ActionKind::kBackwardInput
                                 : ActionKind::kBackward);
      case ActionKind::kRecvActivation:
        return CheckPeer(action, -1);
      case ActionKind::kRecvGradient:
        return CheckPeer(action, 1);
      case ActionKind::kReduce:
        return Rule(in_flight_ == 0 && Done(ActionKind::kForward, schedule_.num_micro_batches - 1),
                    schedule_, place_, "rank {} runs {} before the last backward of its stage",
                    rank_, action);
      case ActionKind::kStep:
        return After(action, ActionKind::kReduce);
      case ActionKind::kGather:
      case ActionKind::kFree:
        Rule(gathered_ == (action.kind == ActionKind::kFree), schedule_, place_,
             "rank {} runs {} where the weights of its stage are {}", rank_, action,
             gathered_ ? "gathered" : "not gathered");
        gathered_ = !gathered_;
        return;
    }
  }

  const Schedule& schedule_;
  const std::vector<int>& owners_;
  int stage_, rank_;
  ActionPlace place_;
  std::set<std::pair<ActionKind, int>> done_;
  int last_input_ = 0, last_weight_ = 0;  // micro-batches
  int in_flight_ = 0, most_in_flight_ = 0;
  bool gathers_ = false, gathered_ = false;  // the stage's weights: ever, now
};

}  // namespace

int CheckStage(const Schedule& schedule, const std::vector<int>& owners, int stage) {
  return StageChecker(schedule, owners, stage).Run();
}

}  // namespace torus::parallel
