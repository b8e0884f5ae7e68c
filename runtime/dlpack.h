// Tensors exchanged with other libraries without a copy, by DLPack
// (https://dmlc.github.io/dlpack/latest/): the structures of its ABI, as published for versions 0.8
// and 1.0, and conversions. A program that includes dlpack.h casts its pointers to these.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/tensor.h"

namespace torus {

// Kinds of devices that Torus has; numbers are the ABI's.
enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDA = 2 };
// Kinds of elements that Torus has; numbers are the ABI's.
enum DLDataTypeCode : uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
};

// As in DLPack's header. Members without a comment are what its documentation says.
struct DLDevice {
  int32_t device_type;  // of DLDeviceType; others may come
  int32_t device_id;
};

// As in DLPack's header. Members without a comment are what its documentation says.
struct DLDataType {
  uint8_t code;  // of DLDataTypeCode; others may come
  uint8_t bits;
  uint16_t lanes;
};

// As in DLPack's header. Members without a comment are what its documentation says.
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: contiguous
  uint64_t byte_offset;
};

// Until version 0.8, and named "dltensor" by Python's capsules. As in DLPack's header. Members
// without a comment are what its documentation says.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

// As in DLPack's header. Members without a comment are what its documentation says.
struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

// Bits of DLManagedTensorVersioned::flags: the memory must not be written; it was copied.
inline constexpr uint64_t kDLPackReadOnly = 1, kDLPackIsCopied = 2;

// Since version 1.0, "dltensor_versioned". As in DLPack's header. Members without a comment are
// what its documentation says.
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, byte_offset) == 40);
static_assert(sizeof(DLManagedTensor) == 64 && sizeof(DLManagedTensorVersioned) == 80);

// The tensor's memory, with its shape and strides, kept until the consumer calls the deleter, once.
// The structure belongs to the consumer, who may write through it: versions (Tensor::version) do
// not see that. Work on a GPU that is still to write the tensor is in its CurrentStream, for which
// the consumer waits. Throws BadInput for an undefined tensor and for one on meta.
DLManagedTensor* ToDLPack(const Tensor& tensor);
DLManagedTensorVersioned* ToDLPackVersioned(const Tensor& tensor);

// A tensor of the producer's memory; takes the structure over and calls its deleter after the last
// use. Memory that is marked as read-only is copied, and released at once. Throws BadInput for a
// null pointer, a device other than a CPU and CUDA's, a dtype that tensors have not, several lanes,
// more than kMaxRank dimensions, negative sizes and strides, and a version other than 1, and what
// an allocation throws; the structure then still belongs to the caller.
Tensor FromDLPack(DLManagedTensor* managed);
Tensor FromDLPack(DLManagedTensorVersioned* managed);

}  // namespace torus
