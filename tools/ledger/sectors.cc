#include "tools/ledger/sectors.h"

#include <algorithm>
#include <tuple>

#include "runtime/emulated_gpu/memory.h"
#include "runtime/error.h"

namespace torus::ledger {
namespace {

constexpr uint64_t kSector = kSectorBytes;

struct Span {
  uint64_t begin, end;
};

// Sorted, without overlaps.
std::vector<Span> Union(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::begin);
  std::vector<Span> out;
  for (const Span& span : spans) {
    if (!out.empty() && span.begin <= out.back().end)
      out.back().end = std::max(out.back().end, span.end);
    else
      out.push_back(span);
  }
  return out;
}

Span SectorsOf(const Span& bytes) {
  return {bytes.begin / kSector * kSector, (bytes.end + kSector - 1) / kSector * kSector};
}

double Length(const Span& span) { return static_cast<double>(span.end - span.begin); }

TensorBytes TensorAt(uint64_t address) {
  const auto block = emulated_gpu::BlockOf(reinterpret_cast<const void*>(address));
  TORUS_CHECK(block.has_value(), "a kernel accesses {:#x}, which is in no tensor", address);
  return {.tensor = block->begin, .size = static_cast<double>(block->bytes)};
}

// One entry a tensor. Tensors share no sectors.
std::vector<TensorBytes> ByTensor(const std::vector<Span>& spans, double scale) {
  std::vector<TensorBytes> tensors;
  uint64_t counted = 0;  // sectors below
  for (const Span& span : spans) {
    const bool same =
        !tensors.empty() && span.begin - reinterpret_cast<uint64_t>(tensors.back().tensor) <
                                static_cast<uint64_t>(tensors.back().size);
    if (!same) tensors.push_back(TensorAt(span.begin));
    Span sectors = SectorsOf(span);
    sectors.begin = std::min(std::max(sectors.begin, counted), sectors.end);
    tensors.back().bytes += Length(span) * scale;
    tensors.back().moved += Length(sectors) * scale;
    counted = sectors.end;
  }
  return tensors;
}

std::vector<Span> SpansOf(const BlockTrace& trace, bool write) {
  std::vector<Span> spans;
  for (const TracedAccess& access : trace.accesses)
    if (access.write == write) spans.push_back({access.address, access.address + access.bytes});
  return Union(std::move(spans));
}

auto InstructionOf(const TracedAccess& access) {
  return std::tuple(access.thread / warpSize, access.place, access.turn);
}

}  // namespace

BlockBytes CountSectors(const BlockTrace& trace) {
  const double scale = trace.scale();
  BlockBytes out{.read = ByTensor(SpansOf(trace, false), scale),
                 .written = ByTensor(SpansOf(trace, true), scale)};
  std::vector<TracedAccess> sorted = trace.accesses;
  std::ranges::sort(sorted, {}, [](const TracedAccess& access) {
    return std::tuple_cat(InstructionOf(access), std::tuple(access.address));
  });
  uint64_t counted = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const bool first = i == 0 || InstructionOf(sorted[i]) != InstructionOf(sorted[i - 1]);
    if (first) counted = 0;
    const Span sectors = SectorsOf({sorted[i].address, sorted[i].address + sorted[i].bytes});
    const uint64_t begin = std::max(sectors.begin, counted);
    if (begin < sectors.end) out.requested += scale * static_cast<double>(sectors.end - begin);
    counted = std::max(counted, sectors.end);
  }
  return out;
}

}  // namespace torus::ledger
