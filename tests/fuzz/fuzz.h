// Runs a reader on damaged inputs: each is read or refused with one clear line, within a bound on
// memory.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/mutator.h"

namespace torus::fuzz {

struct Target {
  std::string name;
  std::vector<Bytes> seeds;  // good inputs, to be damaged
  std::function<void(const Bytes&)> read;
  size_t most_bytes = size_t{64} << 20;  // of address space that reading one input may add
  int64_t inputs = 2000;  // tried in an ordinary run; TORUS_FUZZ_INPUTS, where set, replaces it
};

// What a reader made of one input.
struct Verdict {
  bool refused = false;
  // What is wrong with how it was refused: anything but BadInput with a message of one line and at
  // most 2000 characters, or memory refused beyond the bound (not checked under sanitizers, which
  // reserve address space of their own). Empty where nothing is.
  std::string fault;
};
Verdict Try(const Target& target, const Bytes& bytes);

// Fails the running test where a seed is refused, where a damaged input is at fault
// (Verdict), or where none is refused at all. Input n depends on the target and n alone; a failure
// names n. A crash or a hang ends the test program, which says the target when it begins.
void RunFuzz(const Target& target);

// A name for a test of each target.
std::string NameOf(const ::testing::TestParamInfo<Target>& info);

Bytes BytesOf(const std::string& text);
Bytes FileBytes(const std::string& path);
void Overwrite(const std::string& path, const Bytes& bytes);
// An empty folder of the running test's.
std::string NewFolder(const std::string& name);
// Writes the input to a file of the running test and returns its path: for readers of files.
std::string InFile(const Bytes& bytes);

}  // namespace torus::fuzz
