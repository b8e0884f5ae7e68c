// Whole states and their slices: what is read, what is refused, and what is sent to be whole again.
#include "parallel/trainer/tensor_slices.h"

#include <gtest/gtest.h>

#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

const Shape kWhole{6, 5};
constexpr TensorSplit kSplit{.dim = 1};  // 3 and 2 columns of 5

// One parameter that is split, and a bias that is not.
RankModel ModelOf(const TensorPlace& place) {
  RankModel model{.tensor = place};
  const TensorSpec slice{SliceShape(kWhole, kSplit, place), DType::kF32};
  model.weights.push_back({"mlp.weight", slice, true, kSplit, kWhole});
  model.weights.push_back({"bias", {{5}, DType::kF32}});
  return model;
}

Tensor Filled(const Shape& shape, float first) {
  std::vector<float> values(static_cast<size_t>(Numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i);
  return FromVector(values, shape);
}

TensorSource InMemory(std::map<std::string, Tensor> tensors) {
  TensorSource source;
  for (const auto& [name, tensor] : tensors) source.specs[name] = {tensor.shape(), tensor.dtype()};
  source.read = [tensors = std::move(tensors)](const std::string& name) {
    return tensors.at(name);
  };
  return source;
}

TEST(TensorSlices, AreReadOfWhatHasTheShapeOfASplitParameter) {
  const Tensor weight = Filled(kWhole, 0), momentum = Filled(kWhole, 100);
  const TensorPlace place{1, 2};
  const TensorSource slices = SlicesOf(InMemory({{"mlp.weight", weight},
                                                 {"mlp.weight.momentum", momentum},
                                                 {"mlp.weight.step", Filled({}, 7)},
                                                 {"bias", Filled({5}, 0)}}),
                                       ModelOf(place));
  EXPECT_EQ(slices.specs.at("mlp.weight.momentum").shape, Shape({6, 2}));
  EXPECT_EQ(slices.specs.at("mlp.weight.step").shape, Shape{});
  EXPECT_EQ(slices.specs.at("bias").shape, Shape({5}));
  EXPECT_EQ(ToVector<float>(slices.read("mlp.weight")),
            ToVector<float>(SliceOf(weight, kSplit, place)));
  EXPECT_EQ(slices.read("mlp.weight.step").Item(), 7);
  EXPECT_EQ(slices.read("bias").shape(), Shape({5}));
}

void ExpectRefused(const std::string& name, const TensorPlace& place) {
  const Shape slice = SliceShape(kWhole, kSplit, place);
  try {
    SlicesOf(InMemory({{name, Filled(slice, 0)}}), ModelOf(place));
    FAIL() << name << " was not refused";
  } catch (const BadInput& error) {
    EXPECT_EQ(error.what(), fmt::format("[state] {} must be that of the whole mlp.weight, (6, 5), "
                                        "got {}, as large as a rank's slice of it",
                                        name, slice));
  }
}

TEST(TensorSlices, AreNoWholeState) {
  for (const int rank : {0, 1})
    for (const char* name : {"mlp.weight", "mlp.weight.momentum"}) ExpectRefused(name, {rank, 2});
}

// What each rank has of `name`.
StageTensors OwnOf(const TensorPlace& place) {
  StageTensors own;
  own.parameters = {{"mlp.weight", SliceOf(Filled(kWhole, 0), kSplit, place)},
                    {"bias", Filled({5}, 50)}};
  own.optimizer = {{"mlp.weight.momentum", SliceOf(Filled(kWhole, 100), kSplit, place)},
                   {"mlp.weight.step", Filled({}, 7)}};
  own.averages = {{"mlp.weight", SliceOf(Filled(kWhole, 200), kSplit, place)}};
  return own;
}

void ExpectWhole(const StageTensors& all) {
  EXPECT_EQ(ToVector<float>(all.parameters[0].value), ToVector<float>(Filled(kWhole, 0)));
  EXPECT_EQ(ToVector<float>(all.parameters[1].value), ToVector<float>(Filled({5}, 50)));
  EXPECT_EQ(ToVector<float>(all.optimizer[0].value), ToVector<float>(Filled(kWhole, 100)));
  EXPECT_EQ(all.optimizer[1].value.Item(), 7);
  EXPECT_EQ(ToVector<float>(all.averages[0].value), ToVector<float>(Filled(kWhole, 200)));
}

// The others need no room for what is whole, and hear nothing.
TEST(TensorSlices, AreSentToTheFirstRankAlone) {
  for (const int ranks : {1, 2, 3})
    RunRanks(ranks, [&](Transport& t) {
      const TensorPlace place{t.rank(), t.size()};
      StageTensors own = OwnOf(place);
      Communicator tensor(t);
      JoinSlices(tensor, ModelOf(place), own, "test");
      if (t.rank() == 0) return ExpectWhole(own);
      const uint64_t slice = 6 * PartOf(5, place).size() * sizeof(float);
      EXPECT_EQ(own.parameters[0].value.bytes(), slice);
      for (int r = 0; r < ranks; ++r)
        EXPECT_EQ(t.BytesSent(r, TagClass::kControl), r == 0 ? 3 * slice : 0);
    });
}

}  // namespace
}  // namespace torus::parallel
