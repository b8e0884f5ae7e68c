#include "parallel/codec/sample_store.h"

#include <cstring>
#include <random>
#include <utility>

#include "runtime/crc32c.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr uint32_t kVersion = 1;
constexpr int64_t kForgotten = -1;  // not a sample number
constexpr size_t kWords = 4;        // of an identity, each 16 bits stored exactly in a float

uint64_t Drawn() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

std::vector<float> WordsOf(uint64_t identity) {
  std::vector<float> words;
  for (size_t i = 0; i < kWords; ++i)
    words.push_back(static_cast<float>(identity >> 16 * i & 0xffff));
  return words;
}

uint64_t IdentityOf(const std::vector<float>& words) {
  uint64_t identity = 0;
  for (size_t i = 0; i < kWords; ++i) {
    Require(words.size() == kWords && words[i] >= 0 && words[i] < 65536, "sample store",
            "the identity of a file is {} numbers below 65536", kWords);
    identity |= static_cast<uint64_t>(words[i]) << 16 * i;
  }
  return identity;
}

uint32_t SumOf(std::span<const float> values) { return Crc32c(std::as_bytes(values)); }

}  // namespace

struct SampleStore::Header {
  char magic[4] = {'T', 'R', 'S', 'S'};
  uint32_t version = kVersion;
  uint64_t identity = 0, width = 0;
};

struct SampleStore::RowHeader {
  int64_t sample = 0, step = 0;
  uint32_t checksum = 0, zero = 0;
};

SampleStore::SampleStore(std::string path) : path_(std::move(path)) {}

SampleStore::~SampleStore() = default;

void SampleStore::Open(std::vector<float>& identity, int64_t step) {
  file_ = std::make_unique<io::UpdatedFile>(path_);
  if (!identity.empty() && GoesOn(IdentityOf(identity), step)) return;
  const uint64_t drawn = Drawn();
  Begin(drawn);
  identity = WordsOf(drawn);
}

void SampleStore::Begin(uint64_t identity) {
  const Header header{.identity = identity};
  file_->Truncate(0);
  file_->WriteAt(0, &header, sizeof(header));
}

bool SampleStore::GoesOn(uint64_t identity, int64_t step) {
  Header header, expected;
  if (!file_->ReadAt(0, &header, sizeof(header))) return false;
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0 ||
      header.version != kVersion || header.identity != identity)
    return false;
  width_ = header.width;
  if (width_ == 0) return true;
  RowHeader row;
  for (uint64_t place = 0; file_->ReadAt(OffsetOf(place), &row, sizeof(row)); ++place) {
    fresh_.push_back(false);
    if (row.sample != kForgotten && row.step < step)
      TakeRow(place, row);
    else
      Forget(place);
  }
  return true;
}

// Of two rows of a sample the later one counts. The older one may stay: it can never become the
// later.
void SampleStore::TakeRow(uint64_t place, const RowHeader& row) {
  const auto [at, is_first] = places_.try_emplace(row.sample, place);
  if (is_first) return;
  RowHeader other;
  const bool later =
      file_->ReadAt(OffsetOf(at->second), &other, sizeof(other)) && other.step < row.step;
  free_.push_back(later ? std::exchange(at->second, place) : place);
}

// Also on disk: a later run must not take the row for its own.
void SampleStore::Forget(uint64_t place) {
  const RowHeader none{.sample = kForgotten};
  file_->WriteAt(OffsetOf(place), &none, sizeof(none));
  free_.push_back(place);
}

uint64_t SampleStore::OffsetOf(uint64_t place) const {
  return sizeof(Header) + place * (sizeof(RowHeader) + width_ * sizeof(float));
}

bool SampleStore::Read(int64_t sample, std::span<float> values) const {
  const auto at = places_.find(sample);
  if (at == places_.end() || values.size() != width_) return false;
  const uint64_t offset = OffsetOf(at->second);
  RowHeader row;
  return file_->ReadAt(offset, &row, sizeof(row)) &&
         file_->ReadAt(offset + sizeof(row), values.data(), values.size_bytes()) &&
         row.sample == sample && row.checksum == SumOf(values);
}

uint64_t SampleStore::NewPlace() {
  if (free_.empty()) {
    fresh_.push_back(true);
    return fresh_.size() - 1;
  }
  const uint64_t place = free_.back();
  free_.pop_back();
  fresh_[place] = true;
  return place;
}

uint64_t SampleStore::PlaceFor(int64_t sample) {
  const auto at = places_.find(sample);
  if (at == places_.end()) return places_[sample] = NewPlace();
  if (fresh_[at->second]) return at->second;
  replaced_.push_back(at->second);
  return at->second = NewPlace();
}

void SampleStore::Write(int64_t sample, int64_t step, std::span<const float> values) {
  if (values.empty()) return;
  if (width_ == 0) {
    width_ = values.size();
    file_->WriteAt(offsetof(Header, width), &width_, sizeof(width_));
  }
  if (values.size() != width_) return;
  const uint64_t offset = OffsetOf(PlaceFor(sample));
  const RowHeader row{.sample = sample, .step = step, .checksum = SumOf(values)};
  file_->WriteAt(offset, &row, sizeof(row));
  file_->WriteAt(offset + sizeof(row), values.data(), values.size_bytes());
}

void SampleStore::Sync() {
  if (!file_) return;
  file_->Sync();
  free_.insert(free_.end(), replaced_.begin(), replaced_.end());
  replaced_.clear();
  fresh_.assign(fresh_.size(), false);
}

}  // namespace torus::parallel
