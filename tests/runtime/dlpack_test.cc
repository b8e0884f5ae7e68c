#include "runtime/dlpack.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/testing/error_of.h"

namespace torus {
namespace {

using testing::ErrorOf;
using Floats = std::vector<float>;

// A producer that counts the calls of its deleter.
template <class Managed>
struct Producer {
  Producer() {
    managed.dl_tensor = {.data = values.data(),
                         .device = {kDLCPU, 0},
                         .ndim = 2,
                         .dtype = {kDLFloat, 32, 1},
                         .shape = shape.data(),
                         .strides = strides.data(),
                         .byte_offset = 4};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Producer*>(self->manager_ctx)->deleted; };
  }
  Floats values{0, 1, 2, 3, 4, 5, 6};
  std::vector<int64_t> shape{2, 3}, strides{1, 2};
  int deleted = 0;
  Managed managed{};
};

template <class Managed>
class DLPack : public ::testing::Test {};
using Forms = ::testing::Types<DLManagedTensor, DLManagedTensorVersioned>;
TYPED_TEST_SUITE(DLPack, Forms);

template <class Managed>
Managed* Exported(const Tensor& tensor) {
  if constexpr (std::is_same_v<Managed, DLManagedTensor>)
    return ToDLPack(tensor);
  else
    return ToDLPackVersioned(tensor);
}

template <class Managed>
void SetVersion(Managed& managed) {
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) managed.version = {1, 3};
}

TYPED_TEST(DLPack, GoesOutAndComesBackWithoutACopy) {
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kI64,
                            DType::kI32, DType::kU8, DType::kBool}) {
    Tensor out = Arange(12, dtype).View({3, 4}).Transpose(0, 1).Narrow(0, 1, 2);
    Tensor back = FromDLPack(Exported<TypeParam>(out));
    EXPECT_EQ(back.Describe(), out.Describe());
    EXPECT_EQ(back.strides(), out.strides());
    EXPECT_EQ(back.raw(), out.raw());
    EXPECT_EQ(ToVector<double>(back.To(DType::kF64)), ToVector<double>(out.To(DType::kF64)));
  }
  EXPECT_EQ(FromDLPack(Exported<TypeParam>(Full({}, 3))).Item(), 3);
  EXPECT_EQ(FromDLPack(Exported<TypeParam>(Zeros({2, 0}))).shape(), (Shape{2, 0}));
}

TYPED_TEST(DLPack, TheConsumerKeepsTheMemory) {
  Tensor out = Arange(3, DType::kF32);
  TypeParam* const managed = Exported<TypeParam>(out);
  const std::weak_ptr<Storage> storage = out.storage();
  out = Tensor();
  EXPECT_FALSE(storage.expired());
  EXPECT_EQ(managed->dl_tensor.ndim, 1);
  EXPECT_EQ(static_cast<const float*>(managed->dl_tensor.data)[2], 2);
  managed->deleter(managed);
  EXPECT_TRUE(storage.expired());
}

TYPED_TEST(DLPack, TheDeleterIsCalledOnceAfterTheLastUse) {
  Producer<TypeParam> producer;
  SetVersion(producer.managed);
  Tensor row;
  {
    const Tensor in = FromDLPack(&producer.managed);
    EXPECT_EQ(ToVector<float>(in), (Floats{1, 3, 5, 2, 4, 6}));
    EXPECT_EQ(in.raw(), &producer.values[1]);
    row = in.Select(0, 1);
  }
  EXPECT_EQ(producer.deleted, 0);
  EXPECT_EQ(ToVector<float>(row), (Floats{2, 4, 6}));
  row = Tensor();
  EXPECT_EQ(producer.deleted, 1);
}

TYPED_TEST(DLPack, NoStridesMeansContiguous) {
  Producer<TypeParam> producer;
  SetVersion(producer.managed);
  producer.managed.dl_tensor.strides = nullptr;
  EXPECT_EQ(ToVector<float>(FromDLPack(&producer.managed)), (Floats{1, 2, 3, 4, 5, 6}));
}

TYPED_TEST(DLPack, WhatIsRefusedStaysTheProducers) {
  const auto error = [](const auto& change) {
    Producer<TypeParam> producer;
    SetVersion(producer.managed);
    change(producer.managed.dl_tensor);
    const std::string what = ErrorOf([&] { FromDLPack(&producer.managed); });
    EXPECT_EQ(producer.deleted, what == "no error" ? 1 : 0);
    return what;
  };
  EXPECT_EQ(error([](DLTensor& t) { t.device.device_type = 4; }),
            "[dlpack] needs memory of a CPU (1) or of CUDA (2), got device type 4");
  EXPECT_EQ(error([](DLTensor& t) {
              t.dtype = {5, 64, 1};
            }),
            "[dlpack] no tensor has type code 5 of 64 bits and 1 lanes");
  EXPECT_EQ(error([](DLTensor& t) { t.dtype.lanes = 2; }),
            "[dlpack] no tensor has type code 2 of 32 bits and 2 lanes");
  EXPECT_EQ(error([](DLTensor& t) { t.ndim = 9; }), "[dlpack] needs 0 to 8 dimensions, got 9");
  EXPECT_NE(error([](DLTensor& t) { t.strides[0] = -1; }), "no error");
  EXPECT_NE(error([](DLTensor& t) { t.shape[0] = -1; }), "no error");
  EXPECT_NE(error([](DLTensor& t) { t.data = nullptr; }), "no error");
  EXPECT_NE(error([](DLTensor& t) { t.byte_offset = 1; }), "no error");
  EXPECT_EQ(error([](DLTensor&) {}), "no error");
  EXPECT_NE(ErrorOf([] { FromDLPack(static_cast<TypeParam*>(nullptr)); }), "no error");
  EXPECT_NE(ErrorOf([] { Exported<TypeParam>(Tensor()); }), "no error");
  EXPECT_NE(ErrorOf([] { Exported<TypeParam>(Zeros({1}, DType::kF32, kMetaDevice)); }), "no error");
}

TEST(DLPackVersioned, OtherVersionsAreRefusedAndReadOnlyMemoryIsCopied) {
  Producer<DLManagedTensorVersioned> producer;
  EXPECT_EQ(ErrorOf([&] { FromDLPack(&producer.managed); }), "[dlpack] needs version 1, got 0.0");
  SetVersion(producer.managed);
  producer.managed.flags = kDLPackReadOnly;
  Tensor copy = FromDLPack(&producer.managed);
  EXPECT_EQ(producer.deleted, 1);
  EXPECT_EQ(ToVector<float>(copy), (Floats{1, 3, 5, 2, 4, 6}));
  copy.mutable_data<float>()[0] = 9;
  EXPECT_EQ(producer.values, (Floats{0, 1, 2, 3, 4, 5, 6}));
}

TEST(DLPackVersioned, ReadOnlyMemoryThatCannotBeCopiedStaysTheProducers) {
  Producer<DLManagedTensorVersioned> producer;
  SetVersion(producer.managed);
  producer.managed.flags = kDLPackReadOnly;
  producer.managed.dl_tensor.device = {kDLCUDA, 1000};
  EXPECT_NE(ErrorOf([&] { FromDLPack(&producer.managed); }), "no error");
  EXPECT_EQ(producer.deleted, 0);
}

}  // namespace
}  // namespace torus
