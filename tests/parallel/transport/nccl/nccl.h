// A stand-in for NCCL's header, of what real_nccl.cu uses. Communicators are joined as by NCCL: the
// end of a group waits for all members. Nothing is moved. What is called is noted.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

using ncclResult_t = int;
inline constexpr ncclResult_t ncclSuccess = 0, ncclInProgress = 7;
enum ncclDataType_t {
  ncclUint8,
  ncclInt32,
  ncclInt64,
  ncclHalf,
  ncclFloat,
  ncclDouble,
  ncclBfloat16
};
enum ncclRedOp_t { ncclSum };
struct ncclUniqueId {
  char internal[128];
};
struct ncclConfig_t {
  int blocking;
};
struct ncclComm {};
using ncclComm_t = ncclComm*;
using cudaStream_t = struct CUstream_st*;

#define NCCL_CONFIG_INITIALIZER \
  { -1 }
#define NCCL_VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

namespace fake_nccl {

struct Join {
  int id, size, member;
};

// All that the calls change.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> blocking;            // of each communicator's configuration
  std::vector<std::string> calls;       // but those that join and ask
  std::map<int, std::set<int>> joined;  // by id
  std::string stuck;                    // the call that does not return
  bool separate = false;                // no member finds another
  int ids = 0;
};
// Never freed: a call that does not return outlives the program's other objects.
inline State& Now() {
  static State& state = *new State;
  return state;
}

inline thread_local std::vector<Join> joins;  // of the open group

inline ncclResult_t Note(const char* call) {
  State& now = Now();
  std::unique_lock lock(now.mutex);
  now.calls.emplace_back(call);
  now.changed.wait(lock, [&] { return now.stuck != call; });
  return ncclSuccess;
}

}  // namespace fake_nccl

inline const char* ncclGetErrorString(ncclResult_t) { return "an error"; }
inline const char* ncclGetLastError(ncclComm_t) { return "of the stand-in"; }

inline ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION(2, 28, 9);
  return ncclSuccess;
}

inline ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  fake_nccl::State& now = fake_nccl::Now();
  const std::lock_guard lock(now.mutex);
  *id = {};
  std::memcpy(id->internal, &++now.ids, sizeof now.ids);
  return ncclSuccess;
}

inline ncclResult_t ncclGroupStart() { return ncclSuccess; }

inline ncclResult_t ncclGroupEnd() {
  fake_nccl::State& now = fake_nccl::Now();
  std::unique_lock lock(now.mutex);
  for (const fake_nccl::Join& join : std::exchange(fake_nccl::joins, {})) {
    std::set<int>& members = now.joined[join.id];
    members.insert(join.member);
    now.changed.notify_all();
    now.changed.wait(
        lock, [&] { return !now.separate && members.size() == static_cast<size_t>(join.size); });
  }
  return ncclSuccess;
}

inline ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int member,
                                           ncclConfig_t* config) {
  fake_nccl::State& now = fake_nccl::Now();
  const std::lock_guard lock(now.mutex);
  now.blocking.push_back(config->blocking);
  static ncclComm all;
  *comm = &all;
  int number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  fake_nccl::joins.push_back({number, size, member});
  return ncclSuccess;
}

inline ncclResult_t ncclSend(const void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return fake_nccl::Note("ncclSend");
}
inline ncclResult_t ncclRecv(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return fake_nccl::Note("ncclRecv");
}
inline ncclResult_t ncclAllReduce(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t,
                                  ncclComm_t, cudaStream_t) {
  return fake_nccl::Note("ncclAllReduce");
}
inline ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = ncclSuccess;
  return ncclSuccess;
}
inline ncclResult_t ncclCommAbort(ncclComm_t) { return ncclSuccess; }
