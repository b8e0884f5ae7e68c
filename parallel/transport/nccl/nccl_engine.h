// NcclEngine: NCCL's own collectives among some ranks. The NCCL transport's own part.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "parallel/transport/engine.h"
#include "parallel/transport/nccl/nccl_library.h"

namespace torus::parallel {

class NcclEngine : public Engine {
 public:
  // All `members`, which are ranks of `inner` and this one among them, make it together. Memory of
  // other devices than `device` is summed by the engine of `inner` where it has one.
  NcclEngine(Transport& inner, NcclLibrary& library, const std::vector<int>& members, Device device,
             double timeout);
  ~NcclEngine() override;

  // ncclAllReduce. Each member waits for the one behind it in a circle to come, so that one that
  // does not is named; then nothing is seen of the sum's progress: it must end within twice the
  // timeout.
  Pending AllReduce(Buffer data, DType dtype, std::string what) override;
  // Until the member before this one knows of all sums that this one has started, and those that
  // only a stream waits for have ended, on all members.
  void Finish();
  NcclComm& comm() { return *comm_; }

 private:
  class Sum;
  void TellMemberBefore();

  Transport& inner_;
  Engine* const of_host_;
  const Device device_;
  const std::vector<int> members_;
  const double timeout_;
  int before_ = 0, behind_ = 0;  // the members beside this rank, in a circle
  std::unique_ptr<NcclComm> comm_;
  std::unique_ptr<NcclWork> last_;  // of a sum that a stream waits for
  bool summed_ = false;             // something, since the last Finish
  std::deque<Pending> told_;
};

}  // namespace torus::parallel
