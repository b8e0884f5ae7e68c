#include "runtime/tensor.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/allocator.h"
#include "runtime/kernels.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

using testing::ErrorOf;

using Floats = std::vector<float>;

Tensor Counting(const Shape& shape) { return Arange(Numel(shape), DType::kF32).View(shape); }

TEST(Tensor, ViewsShareMemory) {
  Tensor a = FromVector<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor t = a.Transpose(0, 1);
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_EQ(ToVector<float>(t), (Floats{1, 4, 2, 5, 3, 6}));
  a.mutable_data<float>()[1] = 20;
  EXPECT_EQ(t.Select(0, 1).Select(0, 0).Item(), 20);
}

TEST(Tensor, NarrowAndSelectReadTheirWindow) {
  const Tensor a = Counting({3, 4});
  EXPECT_EQ(ToVector<float>(a.Narrow(1, 1, 2)), (Floats{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(ToVector<float>(a.Narrow(-2, 2, 1)), (Floats{8, 9, 10, 11}));
  EXPECT_EQ(ToVector<float>(a.Select(1, 3)), (Floats{3, 7, 11}));
  EXPECT_EQ(a.Narrow(0, 3, 0).shape(), (Shape{0, 4}));
}

TEST(Tensor, ContiguityIsKnown) {
  const Tensor a = Counting({2, 3, 4});
  EXPECT_TRUE(a.Narrow(0, 1, 1).is_contiguous());
  EXPECT_TRUE(a.Select(0, 1).is_contiguous());
  EXPECT_FALSE(a.Narrow(1, 0, 2).is_contiguous());
  EXPECT_TRUE(a.Narrow(1, 0, 0).is_contiguous());                 // empty
  EXPECT_TRUE(Counting({1, 5}).Transpose(0, 1).is_contiguous());  // sizes of 1 may have any stride
  EXPECT_FALSE(Counting({2, 1}).Expand({2, 3}).is_contiguous());
}

TEST(Tensor, PermuteOfPermuteIsTheWhole) {
  const Tensor a = Counting({2, 3, 4});
  const Tensor back = a.Permute({2, 0, 1}).Permute({1, 2, 0});
  EXPECT_EQ(back.shape(), a.shape());
  EXPECT_TRUE(back.is_contiguous());
  EXPECT_EQ(a.Permute({-1, 0, 1}).shape(), (Shape{4, 2, 3}));
}

TEST(Tensor, ReshapeCopiesOnlyWhenItMust) {
  const Tensor a = Counting({2, 3});
  EXPECT_EQ(a.Reshape({3, -1}).raw(), a.raw());
  const Tensor copied = a.Transpose(0, 1).Reshape({6});
  EXPECT_NE(copied.raw(), a.raw());
  EXPECT_EQ(ToVector<float>(copied), (Floats{0, 3, 1, 4, 2, 5}));
}

TEST(Tensor, ScalarsAndEmptyOnes) {
  const Tensor scalar = Full({}, 3);
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.Transpose(0, -1).Item(), 3);
  EXPECT_EQ(scalar.View({1, 1}).Item(), 3);
  const Tensor empty = Zeros({2, 0, 3});
  EXPECT_EQ(empty.View({3, 0}).numel(), 0);
  EXPECT_EQ(empty.Permute({2, 1, 0}).Contiguous().shape(), (Shape{3, 0, 2}));
  EXPECT_EQ(empty.Select(0, 1).shape(), (Shape{0, 3}));
  EXPECT_TRUE(ToVector<float>(empty).empty());
}

TEST(Tensor, ToKeepsItselfWhereItCan) {
  const Tensor a = Counting({2});
  EXPECT_EQ(a.To(DType::kF32).raw(), a.raw());
  EXPECT_EQ(a.To(Device{}).raw(), a.raw());
  EXPECT_EQ(a.Contiguous().raw(), a.raw());
  EXPECT_NE(a.Clone().raw(), a.raw());
}

TEST(Tensor, WritingBumpsTheVersionOfAllViews) {
  Tensor a = Counting({4});
  const Tensor view = a.Narrow(0, 1, 2);
  const uint64_t before = view.version();
  EXPECT_EQ(view.data<float>()[0], 1);
  EXPECT_EQ(view.version(), before);
  a.mutable_data<float>();
  EXPECT_EQ(view.version(), before + 1);
}

TEST(Tensor, BorrowedMemoryLivesAsLongAsItsTensors) {
  auto owner = std::make_shared<Floats>(Floats{1, 2, 3});
  const std::weak_ptr<Floats> watch = owner;
  Tensor t(std::make_shared<Storage>(owner->data(), 12, Device{}, owner), {3}, {1}, 0, DType::kF32);
  owner.reset();
  EXPECT_EQ(ToVector<float>(t), (Floats{1, 2, 3}));
  EXPECT_FALSE(watch.expired());
  t = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, ErrorsNameWhatWasRequiredAndWhatCame) {
  const Tensor a = Counting({2, 3});
  EXPECT_EQ(ErrorOf<Error>([&] { a.Narrow(1, 2, 2); }),
            "[narrow] [2, 2 + 2) is outside of dimension 1 of shape (2, 3)");
  EXPECT_EQ(ErrorOf<Error>([&] { a.View({4}); }), "[view] shape (4) does not hold 6 elements");
  EXPECT_EQ(ErrorOf<Error>([&] { a.Transpose(0, 1).View({6}); }),
            "[view] needs a contiguous tensor, got strides (1, 3) of shape (3, 2)");
  EXPECT_EQ(ErrorOf<Error>([&] { a.Permute({0, 0}); }), "[permute] dimension 0 is named twice");
  EXPECT_EQ(ErrorOf<Error>([&] { a.Permute({0}); }),
            "[permute] 1 dimensions named for shape (2, 3)");
  EXPECT_EQ(ErrorOf<Error>([&] {
              a.Expand({4, 3});
            }),
            "[expand] shape (2, 3) does not expand to (4, 3)");
  EXPECT_EQ(ErrorOf<Error>([&] { a.Item(); }),
            "[item] needs exactly one element, got f32 (2, 3) on cpu");
  EXPECT_EQ(ErrorOf<Error>([&] { Tensor().Item(); }),
            "[item] needs exactly one element, got an undefined tensor");
  EXPECT_EQ(ErrorOf<Error>([] { Tensor({-1}, DType::kF32); }), "[tensor] negative size in (-1)");
  EXPECT_EQ(ErrorOf<Error>([] { FromVector<float>({1}, {2}); }),
            "[tensor] 1 values do not fill shape (2)");
}

TEST(Tensor, ElementsOfAnotherTypeAreRefusedNamingBoth) {
  Tensor a = Counting({2});
  const std::string both = "[data] asked for elements of f64 from f32 (2) on cpu";
  EXPECT_EQ(ErrorOf([&] { a.data<double>(); }), both);
  EXPECT_EQ(ErrorOf([&] { a.mutable_data<double>(); }), both);
  EXPECT_EQ(ErrorOf([&] { ToVector<double>(a); }), both);
}

TEST(Tensor, SizesThatOverflowAreRefused) {
  EXPECT_THROW(Tensor({int64_t{1} << 40, int64_t{1} << 40}, DType::kF32), Error);
  EXPECT_THROW(Tensor({int64_t{1} << 61, 16}, DType::kU8), BadInput);
  EXPECT_THROW(Tensor({int64_t{1} << 62}, DType::kF64), BadInput);
  EXPECT_THROW(Tensor({int64_t{1} << 55}, DType::kU8), BrokenEnvironment);
}

TEST(Tensor, NarrowRefusesABoundThatOverflows) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(Counting({4}).Narrow(0, 1, huge), BadInput);
}

TEST(Tensor, AnUndefinedOneIsRefusedByName) {
  const Tensor none;
  Tensor written;
  const auto undefined = [](const std::string& call) {
    return "[" + call + "] needs a defined tensor, got an undefined one";
  };
  EXPECT_EQ(ErrorOf([&] { ToVector<float>(none); }), undefined("to_vector"));
  EXPECT_EQ(ErrorOf([&] { none.data<float>(); }), undefined("data"));
  EXPECT_EQ(ErrorOf([&] { none.raw(); }), undefined("data"));
  EXPECT_EQ(ErrorOf([&] { written.mutable_data<float>(); }), undefined("data"));
  EXPECT_EQ(ErrorOf([&] { written.mutable_raw(); }), undefined("data"));
  EXPECT_EQ(ErrorOf([&] { none.device(); }), undefined("device"));
  EXPECT_EQ(ErrorOf([&] { none.version(); }), undefined("version"));
  EXPECT_EQ(ErrorOf([&] { none.View({1}); }), undefined("view"));
  EXPECT_EQ(ErrorOf([&] { none.Permute({}); }), undefined("permute"));
  EXPECT_EQ(ErrorOf([&] { none.Transpose(0, 0); }), undefined("transpose"));
  EXPECT_EQ(ErrorOf([&] { none.Narrow(0, 0, 0); }), undefined("narrow"));
  EXPECT_EQ(ErrorOf([&] { none.Select(0, 0); }), undefined("narrow"));
  EXPECT_EQ(ErrorOf([&] { none.Expand({1}); }), undefined("expand"));
  EXPECT_EQ(ErrorOf([&] { none.Reshape({1}); }), undefined("view"));
  EXPECT_EQ(ErrorOf([&] { none.Clone(); }), undefined("clone"));
  EXPECT_EQ(ErrorOf([&] { none.To(DType::kF64); }), undefined("to"));
  EXPECT_EQ(ErrorOf([&] { none.To(kMetaDevice); }), undefined("to"));
  EXPECT_NE(ErrorOf([&] { none.Item(); }), "no error");
  EXPECT_NE(ErrorOf([&] { Copy(none, written); }), "no error");
  EXPECT_NE(ErrorOf([&] { AddInPlace(written, none); }), "no error");
}

TEST(Tensor, DimensionsOutsideOfTheRankAreRefused) {
  EXPECT_EQ(ErrorOf([] { Zeros({}).dim(-1); }), "[dim] dimension -1 is outside of shape ()");
  EXPECT_EQ(ErrorOf([] { Zeros({2, 3}).dim(2); }), "[dim] dimension 2 is outside of shape (2, 3)");
  EXPECT_EQ(ErrorOf([] {
              Zeros({2, 3}).dim(-3);
            }),
            "[dim] dimension -3 is outside of shape (2, 3)");
  EXPECT_EQ(Zeros({2, 3}).dim(-2), 2);
  EXPECT_EQ(ErrorOf([] { Zeros({1}).Expand({-2}); }), "[expand] size -2 of (-2) is negative");
  EXPECT_NE(ErrorOf([] { Zeros({1}).Expand({-2, 1}); }), "no error");
  EXPECT_NE(ErrorOf([] { Arange(-1); }), "no error");
}

TEST(Tensor, OnMetaItHasAShapeAndNoMemory) {
  const size_t before = AllocatorFor({}).stats().live_bytes;
  Tensor huge({int64_t{1} << 20, int64_t{1} << 20}, DType::kF64, kMetaDevice);
  Fill(huge, 3);
  AddInPlace(huge, huge);
  ScaleInPlace(huge, 2);
  const Tensor turned = huge.Transpose(0, 1).Narrow(0, 5, 7).Contiguous().To(DType::kI64);
  EXPECT_EQ(turned.Describe(), "i64 (7, 1048576) on meta");
  Tensor copied = Empty({2, 2}, DType::kF32, kMetaDevice);
  Copy(Zeros({2, 2}), copied);
  EXPECT_EQ(Zeros({2, 2}).To(kMetaDevice).device(), kMetaDevice);
  EXPECT_EQ(AllocatorFor({}).stats().live_bytes, before);
  Tensor here = Zeros({2, 2});
  EXPECT_EQ(
      ErrorOf([&] { Copy(copied, here); }),
      "[copy] f32 (2, 2) on meta has a shape and no values that f32 (2, 2) on cpu could take: if a "
      "model made it, call Initialize or load weights first; an op reads elements inside Dispatch "
      "(runtime/dispatch.h)");
  EXPECT_NE(ErrorOf([&] { ToVector<float>(copied); }), "no error");
  const std::string no_memory =
      "[data] f32 (2, 2) on meta has a shape and no values: if a model made it, call Initialize or "
      "load weights first; an op reads and writes elements inside Dispatch (runtime/dispatch.h)";
  EXPECT_EQ(ErrorOf([&] { copied.data<float>(); }), no_memory);
  EXPECT_EQ(ErrorOf([&] { copied.raw(); }), no_memory);
}

}  // namespace
}  // namespace torus
