// What calls of oneDNN's primitives share: its CPU, the caller's memory, and memory to work in.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "runtime/tensor.h"

namespace torus::cpu {

const dnnl::engine& OnednnEngine();
dnnl::stream& OnednnStream();  // of the calling thread

// `data`, which lies as `desc` says. oneDNN asks for a pointer to change even where it only reads.
dnnl::memory OnednnMemory(const dnnl::memory::desc& desc, const void* data);

// For primitives that work in memory from the caching allocator, as OnednnExecute hands them.
dnnl::primitive_attr UserScratch();
Tensor ScratchFor(const dnnl::memory::desc& desc);

// Runs a primitive that was made with UserScratch on the calling thread's team, to its end.
void OnednnExecute(const dnnl::primitive& primitive, const dnnl::memory::desc& scratch,
                   std::unordered_map<int, dnnl::memory> arguments);

}  // namespace torus::cpu
