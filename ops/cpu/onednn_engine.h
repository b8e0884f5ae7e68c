// Shared by all calls of oneDNN primitives: the CPU engine, wrapping of memory, and scratch memory.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "runtime/tensor.h"

namespace torus::cpu {

const dnnl::engine& OnednnEngine();
dnnl::stream& OnednnStream();  // of the calling thread

// Wraps `data`, laid out as `desc` says. oneDNN takes a non-const pointer even if it only reads.
dnnl::memory OnednnMemory(const dnnl::memory::desc& desc, const void* data);

// Attributes of primitives whose scratch memory the caller provides: OnednnExecute takes it from
// the caching allocator.
dnnl::primitive_attr UserScratch();
Tensor ScratchFor(const dnnl::memory::desc& desc);

// Runs a primitive made with UserScratch on the calling thread's team, and returns when it is done.
void OnednnExecute(const dnnl::primitive& primitive, const dnnl::memory::desc& scratch,
                   std::unordered_map<int, dnnl::memory> arguments);

}  // namespace torus::cpu
