#include "parallel/trainer/statistics_exchange.h"

#include <cstring>
#include <utility>

#include "parallel/pipeline/tensor_header.h"
#include "parallel/trainer/bytes.h"

namespace torus::parallel {
namespace {

void PutTensor(const Tensor& tensor, ByteWriter& writer) {
  const Tensor value = tensor.To(Device{}).Contiguous();
  const auto* bytes = static_cast<const std::byte*>(value.raw());
  TensorHeader header = HeaderOf(value);
  Seal(header);
  writer.Put(header);
  writer.PutAll(std::vector<std::byte>(bytes, bytes + value.bytes()));
}

Tensor GetTensor(ByteReader& reader) {
  const auto header = reader.Get<TensorHeader>();
  CheckIntact(header, "running statistics");
  const auto bytes = reader.GetAll<std::vector<std::byte>>();
  Tensor tensor = Empty(ShapeOf(header), DTypeOf(header));
  std::memcpy(tensor.mutable_raw(), bytes.data(), bytes.size());
  return tensor;
}

std::vector<std::byte> ToBytes(const KeptStatistics& kept) {
  ByteWriter writer;
  for (const auto& [micro_batch, tensors] : kept) {
    writer.Put(micro_batch);
    writer.Put<uint64_t>(tensors.size());
    for (const Tensor& tensor : tensors) PutTensor(tensor, writer);
  }
  return writer.bytes();
}

}  // namespace

KeptStatistics ExchangeStatistics(Communicator& replicas, const KeptStatistics& own,
                                  int micro_batches, Device device) {
  KeptStatistics all;
  int first = 0;  // index of the replica's first micro-batch in the list of all
  for (const auto& bytes : replicas.ShareBytes(ToBytes(own), "statistics of micro-batches")) {
    for (ByteReader reader(bytes); !reader.at_end();) {
      std::vector<Tensor>& tensors = all[first + reader.Get<int>()];
      for (auto count = reader.Get<uint64_t>(); count > 0; --count)
        tensors.push_back(GetTensor(reader).To(device));
    }
    first += micro_batches;
  }
  return all;
}

}  // namespace torus::parallel
