#include "ops/cpu/onednn_engine.h"

#include <utility>

namespace torus::cpu {

const dnnl::engine& OnednnEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& OnednnStream() {
  thread_local dnnl::stream stream(OnednnEngine());
  return stream;
}

dnnl::memory OnednnMemory(const dnnl::memory::desc& desc, const void* data) {
  return dnnl::memory(desc, OnednnEngine(), const_cast<void*>(data));
}

dnnl::primitive_attr UserScratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

Tensor ScratchFor(const dnnl::memory::desc& desc) {
  return Tensor({static_cast<int64_t>(desc.get_size())}, DType::kU8);
}

void OnednnExecute(const dnnl::primitive& primitive, const dnnl::memory::desc& scratch,
                   std::unordered_map<int, dnnl::memory> arguments) {
  Tensor room = ScratchFor(scratch);
  arguments.emplace(DNNL_ARG_SCRATCHPAD, OnednnMemory(scratch, room.mutable_raw()));
  primitive.execute(OnednnStream(), arguments);
  OnednnStream().wait();
}

}  // namespace torus::cpu
