// Operators that put elements in other places: padding, reversal, rotation, repetition, diagonals.
#include "ops/indexing/repeat_rows.h"
#include "ops/pad/pad.h"
#include "ops/view/diagonal.h"
#include "ops/view/join.h"
#include "ops/view/order.h"
#include "ops/view/repeat.h"
#include "ops/view/view.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// A gradient is the seed, moved back; what was repeated sums the seeds of its copies.
OpRun Run(const Variable& y) { return {.outputs = {y}, .terms = y.numel(), .gradient_size = 1}; }

// Under the first of these names that the case has.
Dims Needed(Arguments& a, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const std::optional<Dims> dims = a.attrs().Ints(name)) return *dims;
  Throw<Unsupported>(a.op(), "without {}", *names.begin());
}

OpRun Pad(Arguments& a) {
  const std::optional<std::vector<int64_t>> pad = a.attrs().List("pad");
  if (!pad) Throw<Unsupported>(a.op(), "without pad");
  const std::string mode = a.attrs().Text("mode", "constant");
  const double value = a.attrs().Number("value", 0);
  const Variable input = a.Take("input"), y = ops::Pad(input, *pad, mode, value);
  // An element may stand in every border of its dimension.
  return {.outputs = {y}, .terms = y.numel() + input.numel(), .gradient_size = 1};
}

OpRun Flip(Arguments& a) { return Run(ops::Flip(a.Take("input"), Needed(a, {"dims"}))); }

OpRun Roll(Arguments& a) {
  const Dims shifts = Needed(a, {"shifts"}), dims = a.attrs().Ints("dims").value_or(Dims{});
  return Run(ops::Roll(a.Take("input"), shifts, dims));
}

OpRun Repeat(Arguments& a) {
  return Run(ops::Repeat(a.Take("input"), Needed(a, {"repeats", "sizes", "size"})));
}

OpRun Tile(Arguments& a) { return Run(ops::Tile(a.Take("input"), Needed(a, {"dims"}))); }

OpRun RepeatInterleave(Arguments& a) {
  std::optional<int64_t> dim;
  if (a.attrs().Has("dim")) dim = a.attrs().Int("dim", 0);
  a.attrs().Int("output_size", 0);  // only saves PyTorch a look at the repeats
  if (a.Has("repeats")) {
    const Variable input = a.Take("input"), repeats = a.Take("repeats");
    const Variable y = ops::RepeatInterleave(input, repeats.data(), dim);
    return {.outputs = {y}, .terms = y.numel(), .least = y.numel(), .gradient_size = 1};
  }
  const int64_t repeats = a.attrs().Int("repeats", 1);
  return Run(ops::RepeatInterleave(a.Take("input"), repeats, dim));
}

OpRun Chunk(Arguments& a) {
  const int64_t chunks = a.attrs().Int("chunks", 1), dim = a.attrs().Int("dim", 0);
  return {.outputs = ops::Chunk(a.Take("input"), chunks, dim)};
}

OpRun Unbind(Arguments& a) {
  const int64_t dim = a.attrs().Int("dim", 0);
  return {.outputs = ops::Unbind(a.Take("input"), dim)};
}

OpRun Movedim(Arguments& a) {
  const Dims source = Needed(a, {"source"}), destination = Needed(a, {"destination"});
  return Run(ops::Movedim(a.Take("input"), source, destination));
}

OpRun Swapped(Arguments& a, const char* name0, const char* name1) {
  const int64_t dim0 = a.attrs().Int(name0, 0), dim1 = a.attrs().Int(name1, 0);
  return Run(ops::Transpose(a.Take("input"), dim0, dim1));
}

OpRun Diagonal(Arguments& a) {
  Attrs& attrs = a.attrs();
  const int64_t offset = attrs.Int("offset", 0), dim1 = attrs.Int("dim1", 0);
  return Run(ops::Diagonal(a.Take("input"), offset, dim1, attrs.Int("dim2", 1)));
}

OpRun DiagEmbed(Arguments& a) {
  Attrs& attrs = a.attrs();
  const int64_t offset = attrs.Int("offset", 0), dim1 = attrs.Int("dim1", -2);
  return Run(ops::DiagEmbed(a.Take("input"), offset, dim1, attrs.Int("dim2", -1)));
}

OpRun Diag(Arguments& a) {
  const int64_t diagonal = a.attrs().Int("diagonal", 0);
  return Run(ops::Diag(a.Take("input"), diagonal));
}

OpRun BroadcastTo(Arguments& a) {
  return Run(ops::Expand(a.Take("input"), Needed(a, {"size", "shape"})));
}

}  // namespace

void AddMoves(OpTable& table) {
  table["pad"] = Pad;
  table["flip"] = Flip;
  table["roll"] = Roll;
  table["repeat"] = Repeat;
  table["tile"] = Tile;
  table["repeat_interleave"] = RepeatInterleave;
  table["chunk"] = Chunk;
  table["unbind"] = Unbind;
  table["movedim"] = table["moveaxis"] = Movedim;
  table["swapaxes"] = [](Arguments& a) { return Swapped(a, "axis0", "axis1"); };
  table["swapdims"] = [](Arguments& a) { return Swapped(a, "dim0", "dim1"); };
  table["diagonal"] = Diagonal;
  table["diag_embed"] = DiagEmbed;
  table["diag"] = Diag;
  table["broadcast_to"] = BroadcastTo;
}

}  // namespace torus::replay
