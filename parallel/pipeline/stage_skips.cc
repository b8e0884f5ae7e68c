#include "parallel/pipeline/stage_skips.h"

#include <algorithm>
#include <utility>

#include "parallel/pipeline/take_last.h"

namespace torus::parallel {

StageSkips::Port& StageSkips::Add(std::deque<Port>& ports, const Route& route,
                                  const TensorSpec& spec) {
  Port& port = ports.emplace_back();
  port.route = route;
  port.activation.tensors.resize(slots_);
  port.gradient.tensors.resize(slots_);
  if (route.rank < 0) return port;
  const auto link = [&](TagClass kind, Codec* codec) {
    return TensorLink::Options{
        route.transport, route.rank,   kind,         route.number,         route.place,  codec,
        route.encoder,   route.device, route.warmup, route.samples_folder, route.sharers};
  };
  const std::vector<TensorSpec> specs{spec};
  port.activation.link.emplace(link(TagClass::kActivation, route.codecs.activation), specs, slots_);
  port.gradient.link.emplace(link(TagClass::kGradient, route.codecs.gradient), specs, slots_);
  return port;
}

void StageSkips::ConnectTaken(const Route& route, const TensorSpec& spec) {
  Port& port = Add(taken_, route, spec);
  if (port.activation.link) port.activation.link->PrepareToRecv();
  if (port.gradient.link) port.gradient.link->PrepareToSend();
}

void StageSkips::ConnectStashed(const Route& route, const TensorSpec& spec) {
  Port& port = Add(stashed_, route, spec);
  if (port.activation.link) port.activation.link->PrepareToSend();
  if (port.gradient.link) port.gradient.link->PrepareToRecv();
}

void StageSkips::Begin() {
  for (std::deque<Port>* ports : {&taken_, &stashed_})
    for (Port& port : *ports) {
      if (port.route.rank < 0) continue;
      port.activation.link->ResetFinite();
      port.gradient.link->ResetFinite();
      port.Of(ports == &taken_).link->Forget();
    }
}

// All links of one direction receive the same micro-batches in the same order, so either all can
// start one more receive or none can.
bool StageSkips::Expect(ActionKind compute, size_t slot, const std::string& what) {
  const bool forward = IsForward(compute);
  bool started = true;
  for (Port& port : forward ? taken_ : stashed_) {
    std::optional<TensorLink>& link = port.Of(forward).link;
    if (link) started = link->Expect(static_cast<int>(slot), port.route.name + what) && started;
  }
  return started;
}

void StageSkips::Advance() {
  for (Port& port : taken_)
    if (port.activation.link) port.activation.link->Advance();
  for (Port& port : stashed_)
    if (port.gradient.link) port.gradient.link->Advance();
}

void StageSkips::Receive(ActionKind compute, size_t slot, const std::string& what,
                         RankTotals& totals, const CodecContext& when) {
  const int m = static_cast<int>(slot);
  const bool forward = IsForward(compute);
  for (Port& port : forward ? taken_ : stashed_) {
    Way& way = port.Of(forward);
    if (way.link)
      way.tensors[slot] = std::move(way.link->Recv(m, port.route.name + what, totals, when)[0]);
  }
}

void StageSkips::Send(ActionKind compute, size_t slot, const std::string& what, RankTotals& totals,
                      const CodecContext& when) {
  const int m = static_cast<int>(slot);
  const bool forward = IsForward(compute);
  for (Port& port : forward ? stashed_ : taken_) {
    Way& way = port.Of(forward);
    Tensor tensor = std::exchange(way.tensors[slot], {});
    if (way.link) {
      way.link->Send(m, {std::move(tensor)}, port.route.name + what, totals, when);
    } else {
      StageSkips& other = *port.route.here;
      Port& there = (forward ? other.taken_ : other.stashed_)[port.route.index];
      there.Of(forward).tensors[slot] = std::move(tensor);
    }
  }
}

void StageSkips::CheckSent(bool wait) {
  for (Port& port : stashed_)
    if (port.activation.link) port.activation.link->CheckSent(wait);
  for (Port& port : taken_)
    if (port.gradient.link) port.gradient.link->CheckSent(wait);
}

void StageSkips::Flush(RankTotals& totals) {
  for (Port& port : stashed_)
    if (port.activation.link) port.activation.link->Flush(totals);
  for (Port& port : taken_)
    if (port.gradient.link) port.gradient.link->Flush(totals);
}

void StageSkips::AppendTaken(size_t slot, Tensors& inputs) {
  for (Port& port : taken_) inputs.push_back(std::exchange(port.activation.tensors[slot], {}));
}

void StageSkips::SplitStashed(size_t slot, Tensors& outputs) {
  Tensors last = TakeLast(outputs, stashed_.size());
  for (size_t i = 0; i < last.size(); ++i)
    stashed_[i].activation.tensors[slot] = std::move(last[i]);
}

void StageSkips::AppendStashedGradients(size_t slot, Tensors& output_grads) {
  for (Port& port : stashed_)
    output_grads.push_back(std::exchange(port.gradient.tensors[slot], {}));
}

void StageSkips::SplitTakenGradients(size_t slot, Tensors& input_grads) {
  Tensors last = TakeLast(input_grads, taken_.size());
  for (size_t i = 0; i < last.size(); ++i) taken_[i].gradient.tensors[slot] = std::move(last[i]);
}

std::vector<TensorLink*> StageSkips::Links() {
  std::vector<TensorLink*> links;
  for (std::deque<Port>* ports : {&taken_, &stashed_})
    for (Port& port : *ports)
      for (Way* way : {&port.activation, &port.gradient})
        if (way->link) links.push_back(&*way->link);
  return links;
}

bool StageSkips::finite() const {
  const auto fine = [](const Port& port) {
    return port.route.rank < 0 || (port.activation.link->finite() && port.gradient.link->finite());
  };
  return std::ranges::all_of(taken_, fine) && std::ranges::all_of(stashed_, fine);
}

const TensorLink* StageSkips::activation_sent(size_t stashed) const {
  const std::optional<TensorLink>& link = stashed_.at(stashed).activation.link;
  return link ? &*link : nullptr;
}

const TensorLink* StageSkips::gradient_sent(size_t taken) const {
  const std::optional<TensorLink>& link = taken_.at(taken).gradient.link;
  return link ? &*link : nullptr;
}

}  // namespace torus::parallel
