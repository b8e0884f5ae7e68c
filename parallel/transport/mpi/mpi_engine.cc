#include "parallel/transport/mpi/mpi_engine.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "parallel/transport/members.h"
#include "parallel/transport/mpi/mpi_process.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

int MemberBehind(const std::vector<int>& members, int rank) {
  return members[(IndexOfMember(members, rank) + 1) % members.size()];
}

MPI_Datatype MpiTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return MPI_DOUBLE;
    case DType::kF32:
      return MPI_FLOAT;
    case DType::kI64:
      return MPI_INT64_T;
    case DType::kI32:
      return MPI_INT32_T;
    default:
      Throw<BadInput>("all-reduce", "MPI sums f64, f32, i64 and i32, got {}", Name(dtype));
  }
}

}  // namespace

MpiEngine::MpiEngine(MpiState& state, Transport& world, const std::vector<int>& members)
    : state_(state), members_(members.size()), next_(MemberBehind(members, state.rank)) {
  ShareAmong(world, members, char{1}, "meeting of an engine");
  const std::lock_guard lock(state_.mutex);
  MPI_Group all, some;
  CheckMpi(MPI_Comm_group(state_.comm, &all), "MPI_Comm_group");
  CheckMpi(MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some),
           "MPI_Group_incl");
  CheckMpi(MPI_Comm_create_group(state_.comm, some, state_.engine_tag, &comm_),
           "MPI_Comm_create_group");
  MPI_Group_free(&some);
  MPI_Group_free(&all);
}

// Freeing an MPI communicator is collective, and the others may be gone. So MPI_Finalize frees it.
MpiEngine::~MpiEngine() = default;

Pending MpiEngine::AllReduce(Buffer data, DType dtype, std::string what) {
  const MPI_Datatype type = MpiTypeOf(dtype);
  const size_t width = SizeOf(dtype);
  const size_t longest = std::max<size_t>(1, state_.options.longest_piece / width);
  TransferText text{false,      state_.rank,    next_, {TagClass::kCollective, 0},
                    data.bytes, std::move(what)};
  std::vector<MPI_Request> requests;
  const std::lock_guard lock(state_.mutex);
  for (size_t done = 0; done < data.bytes / width;) {
    const size_t count = std::min(longest, data.bytes / width - done);
    CheckMpi(
        MPI_Iallreduce(MPI_IN_PLACE, static_cast<char*>(data.data) + done * width,
                       static_cast<int>(count), type, MPI_SUM, comm_, &requests.emplace_back()),
        "MPI_Iallreduce");
    done += count;
  }
  if (requests.empty()) return {};
  bytes_computed_ += RingBytes(members_, data.bytes);
  return Pending(std::make_unique<MpiSum>(state_, std::move(text), std::move(requests)));
}

MpiSum::MpiSum(MpiState& state, TransferText text, std::vector<MPI_Request> requests)
    : MpiTransfer(state, std::move(text)) {
  pieces_ = std::move(requests);
}

MpiSum::~MpiSum() {
  std::unique_lock lock(state_.mutex);
  if (!done_) WaitOut(lock);
}

}  // namespace torus::parallel
