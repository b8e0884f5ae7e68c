#include "recipes/run/event_file.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>

#include "runtime/crc32c.h"
#include "runtime/io/little_endian.h"

namespace torus::recipes {
namespace {

// Fields of tensorflow.Event, tensorflow.Summary, its Value, and tensorflow.SessionLog.
enum EventField { kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7 };
enum SummaryField { kValue = 1 };
enum ValueField { kTag = 1, kSimpleValue = 2 };
enum SessionLogField { kStatus = 1 };
constexpr uint64_t kStart = 1;  // SessionLog.status

// Wire types of protobuf.
enum Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string Key(int field, Wire wire) { return Varint(static_cast<uint64_t>(field << 3 | wire)); }

std::string Bytes(int field, const std::string& bytes) {
  return Key(field, kBytes) + Varint(bytes.size()) + bytes;
}

std::string EventHead(double seconds, int64_t step) {
  return Key(kWallTime, kFixed64) + io::ToLittleEndian(std::bit_cast<uint64_t>(seconds), 8) +
         Key(kStep, kVarint) + Varint(static_cast<uint64_t>(step));
}

std::string ToValue(const Scalar& scalar) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(scalar.value));
  return Bytes(kTag, scalar.tag) + Key(kSimpleValue, kFixed32) + io::ToLittleEndian(bits, 4);
}

// CRCs are masked because a CRC of data that contain CRCs is weak.
std::string MaskedChecksum(const std::string& bytes) {
  return io::ToLittleEndian(std::rotr(Crc32c(bytes), 15) + 0xA282EAD8u, 4);
}

}  // namespace

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventFile::EventFile(const std::string& folder, double seconds, int64_t step)
    : file_(fmt::format("{}/events.out.tfevents.{:010}.{:012}", folder,
                        static_cast<int64_t>(seconds), step)) {
  Write(EventHead(seconds, 0) + Bytes(kFileVersion, "brain.Event:2"));
  Write(EventHead(seconds, step + 1) + Bytes(kSessionLog, Key(kStatus, kVarint) + Varint(kStart)));
}

void EventFile::Add(double seconds, int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) summary += Bytes(kValue, ToValue(scalar));
  Write(EventHead(seconds, step) + Bytes(kSummary, summary));
}

void EventFile::Write(const std::string& event) {
  const std::string length = io::ToLittleEndian(event.size(), 8);
  file_.Write(length + MaskedChecksum(length) + event + MaskedChecksum(event));
}

}  // namespace torus::recipes
