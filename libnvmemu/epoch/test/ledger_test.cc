// SPDX-License-Identifier: Apache-2.0
#include "epoch/ledger.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(Ledger, OverheadComesOffTheDelay) {
  Ledger ledger(100e6);
  ledger.owe(10e6);
  ledger.discount(3e6);
  EXPECT_DOUBLE_EQ(ledger.due_ns(), 7e6);
}

TEST(Ledger, WhatWasOverpaidComesOffTheNextDelay) {
  Ledger ledger(100e6);
  ledger.owe(10e6);
  ledger.pay(11e6);
  EXPECT_DOUBLE_EQ(ledger.due_ns(), 0);
  ledger.owe(5e6);
  EXPECT_DOUBLE_EQ(ledger.due_ns(), 4e6);
}

TEST(Ledger, TooLittleIsCarriedNotSpun) {
  Ledger ledger(100e6);
  ledger.owe(400);
  EXPECT_DOUBLE_EQ(ledger.due_ns(), 0);
  ledger.owe(400);
  ledger.owe(400);
  EXPECT_DOUBLE_EQ(ledger.due_ns(), 1200);
}

TEST(Ledger, OverheadBuysOffNoMoreThanItsBound) {
  Ledger ledger(2e6);
  for (int i = 0; i < 1000; ++i) ledger.discount(1e6);
  EXPECT_DOUBLE_EQ(ledger.balance_ns(), -2e6);
  ledger.owe(10e6);
  EXPECT_DOUBLE_EQ(ledger.due_ns(), 8e6);
}

TEST(Ledger, AnOversleptInjectionIsCarriedInFull) {
  Ledger ledger(2e6);
  ledger.owe(1e6);
  ledger.pay(9e6);
  ledger.discount(1e6);
  EXPECT_DOUBLE_EQ(ledger.balance_ns(), -8e6);
}

}  // namespace
}  // namespace nvmemu
