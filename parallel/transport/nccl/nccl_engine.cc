#include "parallel/transport/nccl/nccl_engine.h"

#include <utility>

#include "parallel/transport/members.h"
#include "parallel/transport/nccl/announcement.h"
#include "parallel/transport/nccl/nccl_wait.h"
#include "runtime/error.h"

namespace torus::parallel {

// An all-reduce in flight. It cannot be cancelled: dropping it aborts the run.
class NcclEngine::Sum : public Pending::State {
 public:
  Sum(NcclEngine& engine, TransferText text) : engine_(engine), text_(std::move(text)) {}
  ~Sum() override {
    if (work_ == nullptr || HasEnded(*work_)) return;
    engine_.inner_.Abort(kDropped);
    engine_.comm_->Abort();
  }
  // Members tell each other only of a sum that was not refused.
  void Start(Buffer data, DType dtype) {
    work_ = StartWork(text_, [&] { return engine_.comm_->AllReduce(data, dtype); });
    came_ = engine_.inner_.Recv(engine_.behind_, kJoinedTag, {&token_, 1}, text_.what);
    engine_.TellMemberBefore();
  }

  WaitTime Wait() override {
    WaitTime time = Meet();
    // The member before one that does not come must report it, so it waits only half as long as
    // this.
    time.moving = WaitForWork(*work_, *engine_.comm_, engine_.inner_, 2 * engine_.timeout_,
                              WaitingText(text_))
                      .moving;
    work_ = nullptr;
    return time;
  }

  WaitTime WaitOn(StreamHandle stream) override {
    const WaitTime time = Meet();
    work_->Precede(stream);
    engine_.last_ = std::move(work_);
    return time;
  }

  bool Done() override { return came_.Done() && work_->Done(); }

 private:
  // Waits until the next member in the circle has started; that one in turn waits for the one after
  // it.
  WaitTime Meet() { return WaitFor(came_, text_); }

  NcclEngine& engine_;
  const TransferText text_;
  char token_ = 0;
  Pending came_;
  std::unique_ptr<NcclWork> work_;
};

NcclEngine::NcclEngine(Transport& inner, NcclLibrary& library, const std::vector<int>& members,
                       Device device, double timeout)
    : inner_(inner),
      of_host_(inner.EngineOf(members)),
      device_(device),
      members_(members),
      timeout_(timeout) {
  const size_t size = members.size(), index = IndexOfMember(members, inner.rank());
  before_ = members[(index + size - 1) % size];
  behind_ = members[(index + 1) % size];
  const NcclId mine = index == 0 ? library.NewId() : NcclId{};
  const std::vector<NcclId> ids = ExchangeAmong(inner, members, mine, "meeting of an engine");
  comm_ = library.Join(
      ids[0], static_cast<int>(size), static_cast<int>(index), device, NcclUse::kSums,
      PatienceOf(inner, timeout,
                 fmt::format("waiting for the other members of ranks {} that sum by NCCL",
                             fmt::join(members, ", "))));
}

NcclEngine::~NcclEngine() = default;

Pending NcclEngine::AllReduce(Buffer data, DType dtype, std::string what) {
  if (data.bytes == 0) return {};
  if (data.device != device_) {
    Require(of_host_ != nullptr, "all-reduce", "NCCL sums memory of {}, got {} ({})", device_,
            data.device, what);
    return of_host_->AllReduce(data, dtype, std::move(what));
  }
  auto sum = std::make_unique<Sum>(
      *this,
      TransferText{
          false, inner_.rank(), behind_, {TagClass::kCollective, 0}, data.bytes, std::move(what)});
  sum->Start(data, dtype);
  return Pending(std::move(sum));
}

// Nobody waits for it to be received: that member may do something else before it waits for its
// sum.
void NcclEngine::TellMemberBefore() {
  static constexpr char kCame = 1;
  summed_ = true;
  while (!told_.empty() && told_.front().Done()) told_.pop_front();
  told_.push_back(inner_.Send(before_, kJoinedTag, {&kCame, 1}, "start of a sum by NCCL"));
}

void NcclEngine::Finish() {
  for (Pending& each : told_) each.Wait();
  told_.clear();
  if (last_) WaitForWork(*last_, *comm_, inner_, timeout_, "waiting for a sum by NCCL to end");
  last_ = nullptr;
  if (std::exchange(summed_, false)) ExchangeAmong(inner_, members_, char{1}, "end of all sums");
}

}  // namespace torus::parallel
