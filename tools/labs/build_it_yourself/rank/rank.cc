#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "lab_rank.h"

namespace lab {
namespace {

// If this fails, the grader has ended, and so does the rank.
template <class Call, class Byte>
void Whole(const Call& call, Byte* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = call(kDoor, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) _exit(1);
    data += done;
    bytes -= static_cast<size_t>(done);
  }
}

void Read(void* data, size_t bytes) { Whole(read, static_cast<char*>(data), bytes); }
void Write(const void* data, size_t bytes) { Whole(write, static_cast<const char*>(data), bytes); }

}  // namespace

Task Rank::ReadTask() {
  Head head;
  Read(&head, sizeof(head));
  rank_ = head.peer;
  size_ = static_cast<int>(head.number);
  Task task;
  int64_t count = 0;
  Read(&count, sizeof(count));
  task.numbers.resize(static_cast<size_t>(count));
  Read(task.numbers.data(), task.numbers.size() * sizeof(int64_t));
  task.values.resize((head.bytes - sizeof(int64_t) * (task.numbers.size() + 1)) / sizeof(float));
  Read(task.values.data(), task.values.size() * sizeof(float));
  return task;
}

void Rank::Put(Head head, const void* payload) {
  Write(&head, sizeof(head));
  Write(payload, head.bytes);
}

void Rank::Take(std::span<float> data) {
  Head head;
  Read(&head, sizeof(head));
  Read(data.data(), data.size_bytes());
}

void Rank::Send(int to, std::span<const float> data) {
  Put({Kind::kSend, to, data.size_bytes()}, data.data());
}

void Rank::Recv(int from, std::span<float> data) {
  const Head head{Kind::kRecv, from, data.size_bytes()};
  Write(&head, sizeof(head));
  Take(data);
}

void Rank::Compute(const std::string& what, double seconds) {
  Put({Kind::kCompute, 0, what.size(), seconds}, what.data());
}

int Rank::StartSum(std::span<const float> data) {
  Put({Kind::kStartSum, 0, data.size_bytes()}, data.data());
  return sums_++;
}

void Rank::WaitSum(int number, std::span<float> data) {
  const Head head{Kind::kWaitSum, 0, data.size_bytes(), static_cast<double>(number)};
  Write(&head, sizeof(head));
  Take(data);
}

void Rank::Fact(const std::string& name, double value) {
  Put({Kind::kFact, 0, name.size(), value}, name.data());
}

void Rank::Fail(const std::string& reason) {
  Put({Kind::kFailed, 0, reason.size()}, reason.data());
}

void Rank::Finish(std::span<const float> result) {
  Put({Kind::kResult, 0, result.size_bytes()}, result.data());
}

}  // namespace lab
