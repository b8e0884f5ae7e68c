// What stays in a cache of 100 bytes.
#include "tools/ledger/cache.h"

#include <gtest/gtest.h>

namespace torus::ledger {
namespace {

const char kTensors[4] = {};

TensorBytes Of(int tensor, double bytes) { return {&kTensors[tensor], bytes, bytes, bytes}; }

TEST(Cache, HasWhatWasWrittenOrReadBefore) {
  Cache cache(100);
  EXPECT_EQ(cache.Use({.read = {Of(0, 40)}, .written = {Of(1, 50)}}), 0);
  EXPECT_EQ(cache.Use({.read = {Of(0, 40), Of(1, 50)}}), 90);
}

TEST(Cache, WhatIsWrittenIsNotRead) {
  Cache cache(100);
  cache.Use({.written = {Of(0, 40)}});
  EXPECT_EQ(cache.Use({.written = {Of(0, 40)}}), 0);
}

TEST(Cache, LosesWhatWasUsedLongestAgo) {
  Cache cache(100);
  cache.Use({.written = {Of(0, 40)}});
  cache.Use({.written = {Of(1, 40)}});
  cache.Use({.read = {Of(0, 40)}, .written = {Of(2, 40)}});
  EXPECT_EQ(cache.Use({.read = {Of(0, 40)}}), 40);
  EXPECT_EQ(cache.Use({.read = {Of(2, 40)}}), 40);
  EXPECT_EQ(cache.Use({.read = {Of(1, 40)}}), 0);
}

TEST(Cache, ATensorThatDoesNotFitIsNotHeld) {
  Cache cache(100);
  cache.Use({.written = {Of(0, 60)}});
  cache.Use({.written = {Of(1, 101)}});
  EXPECT_EQ(cache.Use({.read = {Of(0, 60), Of(1, 101)}}), 60);
}

TEST(Cache, APartOfATensorIsNoMoreThanThePart) {
  Cache cache(100);
  cache.Use({.written = {Of(0, 30)}});
  EXPECT_EQ(cache.Use({.read = {Of(0, 80)}}), 30);
  EXPECT_EQ(cache.Use({.read = {Of(0, 20)}}), 20);
}

}  // namespace
}  // namespace torus::ledger
