#include "parallel/pipeline/action_text.h"

#include <utility>

#include "parallel/schedule/printer.h"
#include "runtime/error.h"

namespace torus::parallel {

std::string PlaceOf(const Action& action, int rank, int64_t step) {
  std::string text = fmt::format("rank {}, stage {}, step {}", rank, action.stage, step);
  if (action.micro_batch >= 0) text += fmt::format(", micro-batch {}", action.micro_batch);
  return fmt::format("{}, {} ({})", text, Words(action.kind), ToString(action));
}

std::string InStep(const Action& action, int64_t step) {
  return fmt::format(", micro-batch {}, step {}", action.micro_batch, step);
}

std::string MessageOf(const Action& action, int64_t step) {
  const bool activation =
      action.kind == ActionKind::kSendActivation || action.kind == ActionKind::kRecvActivation;
  int from = action.stage, to = action.stage + (activation == IsSend(action.kind) ? 1 : -1);
  if (IsRecv(action.kind)) std::swap(from, to);
  return fmt::format("{} from stage {} to stage {}{}", activation ? "activation" : "gradient", from,
                     to, InStep(action, step));
}

}  // namespace torus::parallel
