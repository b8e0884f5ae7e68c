#include "recipes/model/output_order.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/data/temp_file.h"

namespace torus::recipes {
namespace {

using Order = std::vector<int64_t>;

const std::vector<std::string> kRte = {"entailment", "not_entailment"};

Order OrderOf(const std::vector<std::string>& labels) {
  nlohmann::json config;
  for (size_t i = 0; i < labels.size(); ++i) config["id2label"][std::to_string(i)] = labels[i];
  return OutputOrder(config, kRte, "folder");
}

TEST(OutputOrder, FollowsTheNames) {
  EXPECT_EQ(OrderOf({"entailment", "not_entailment"}), (Order{0, 1}));
  EXPECT_EQ(OrderOf({"not_entailment", "entailment"}), (Order{1, 0}));
  EXPECT_EQ(OrderOf({"Not-Entailment", "ENTAILMENT"}), (Order{1, 0}));
  EXPECT_TRUE(IsInOrder({0, 1}));
  EXPECT_FALSE(IsInOrder({1, 0}));
}

TEST(OutputOrder, NamesThatSayNothingMeanTheOrder) {
  EXPECT_EQ(OrderOf({}), (Order{0, 1}));
  EXPECT_EQ(OrderOf({"LABEL_0", "LABEL_1"}), (Order{0, 1}));
  EXPECT_EQ(OrderOf({"0", "1"}), (Order{0, 1}));
  EXPECT_EQ(OutputOrder(nullptr, kRte, "folder"), (Order{0, 1}));
}

TEST(OutputOrder, RefusesNamesOfOtherClasses) {
  data::ExpectBadInput(
      [] {
        OrderOf({"negative", "positive"});
      },
      "[folder]",
      "id2label must name the classes entailment, not_entailment, got negative, "
      "positive");
  data::ExpectBadInput(
      [] {
        OrderOf({"entailment", "neutral", "not_entailment"});
      },
      "[folder]", "got entailment, neutral, not_entailment");
}

}  // namespace
}  // namespace torus::recipes
