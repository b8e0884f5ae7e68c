// Philox (runtime/philox.h) for kernels: one block of four words, the bits of Philox4x32.
#pragma once

#include <cstdint>

#include "runtime/host_device.h"

namespace torus::cuda {

struct PhiloxWords {
  uint32_t word[4];
};

// The block of counter (low, high), each half with its lower word first, under a key of two words.
// Constants from Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", table 2 and section
// 4.3.
TORUS_HOST_DEVICE inline PhiloxWords PhiloxBlock(uint64_t low, uint64_t high, uint32_t key0,
                                                 uint32_t key1) {
  uint32_t c0 = static_cast<uint32_t>(low), c1 = static_cast<uint32_t>(low >> 32);
  uint32_t c2 = static_cast<uint32_t>(high), c3 = static_cast<uint32_t>(high >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * c0, b = uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ key0;
    c1 = static_cast<uint32_t>(b);
    c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ key1;
    c3 = static_cast<uint32_t>(a);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace torus::cuda
