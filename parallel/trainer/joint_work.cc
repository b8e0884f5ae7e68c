#include "parallel/trainer/joint_work.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "parallel/trainer/bytes.h"
#include "runtime/error.h"
#include "runtime/long_work.h"

namespace torus::parallel {
namespace {

enum class Kind : uint8_t { kNone, kBadInput, kBrokenEnvironment, kInternal };

struct Failure {
  Kind kind = Kind::kNone;
  std::string message;
};

std::string HostName() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
  return host.data();
}

Failure FailureOf(const std::function<void()>& work) {
  try {
    const LongWork alive;
    work();
    return {};
  } catch (const BadInput& error) {
    return {Kind::kBadInput, error.what()};
  } catch (const BrokenEnvironment& error) {
    return {Kind::kBrokenEnvironment, error.what()};
  } catch (const std::bad_alloc&) {
    return {Kind::kBrokenEnvironment, "out of memory"};
  } catch (const std::exception& error) {
    return {Kind::kInternal, error.what()};
  }
}

std::vector<std::byte> ToBytes(const Failure& failure) {
  ByteWriter writer;
  writer.Put(failure.kind);
  writer.PutAll(failure.message);
  return writer.bytes();
}

std::exception_ptr ToException(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto kind = reader.Get<Kind>();
  const auto message = reader.GetAll<std::string>();
  if (kind == Kind::kNone) return nullptr;
  if (kind == Kind::kBadInput) return std::make_exception_ptr(BadInput(message));
  if (kind == Kind::kBrokenEnvironment) return std::make_exception_ptr(BrokenEnvironment(message));
  return std::make_exception_ptr(InternalError(message));
}

}  // namespace

std::exception_ptr DoTogether(Communicator& world, const std::string& what,
                              const std::function<void()>& work) {
  Failure mine = FailureOf(work);
  if (mine.kind != Kind::kNone && world.size() > 1)
    mine.message = fmt::format("rank {} on {}: {}", world.rank(), HostName(), mine.message);
  for (const std::vector<std::byte>& bytes : world.ShareBytes(ToBytes(mine), what))
    if (std::exception_ptr failure = ToException(bytes)) return failure;
  return nullptr;
}

}  // namespace torus::parallel
