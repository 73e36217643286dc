// SPDX-License-Identifier: Apache-2.0
#include "storage/pending_requests.h"

#include <gtest/gtest.h>

#include <memory>

namespace nvmemu {
namespace {

constexpr std::uint64_t kNotKnown = PendingRequest::kNotKnown;

class PendingRequestsTest : public testing::Test {
 protected:
  PendingRequest& made(std::uint64_t object, std::uint64_t done_ns) {
    PendingRequest* const request = requests_->add(object);
    requests_->set_done(*request, done_ns);
    return *request;
  }
  PendingRequest& held(std::uint64_t object, std::uint64_t done_ns) {
    PendingRequest& request = made(object, done_ns);
    requests_->hold(request, {.data = 7, .obj = object, .res = 1, .res2 = 0});
    return request;
  }

  std::unique_ptr<PendingRequests> requests_ = std::make_unique<PendingRequests>();
};

TEST_F(PendingRequestsTest, HandsOutWhatIsDoneFirstFirst) {
  held(1, 300);
  held(2, 200);
  made(3, 100);
  EXPECT_EQ(requests_->find_done(199), nullptr);
  PendingRequest* const first = requests_->find_done(400);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->event.obj, 2U);
  EXPECT_EQ(first->event.data, 7U);
  requests_->remove(*first);
  EXPECT_EQ(requests_->find_done(400)->event.obj, 1U);
}

TEST_F(PendingRequestsTest, WhatIsMadeIsFoundUntilItsEventHasCome) {
  PendingRequest& request = made(1, 100);
  EXPECT_EQ(requests_->find_made(1), &request);
  EXPECT_EQ(requests_->find_made(2), nullptr);
  requests_->hold(request, {.data = 0, .obj = 1, .res = 0, .res2 = 0});
  EXPECT_EQ(requests_->find_made(1), nullptr);
}

// Its event may come before it is known when it is done.
TEST_F(PendingRequestsTest, WhatIsBeingMadeIsHeld) {
  PendingRequest* const request = requests_->add(1);
  requests_->hold(*request, {.data = 0, .obj = 1, .res = 0, .res2 = 0});
  EXPECT_EQ(requests_->find_done(1'000'000), nullptr);
  requests_->set_done(*request, 2'000'000);
  EXPECT_EQ(requests_->find_done(1'999'999), nullptr);
  EXPECT_EQ(requests_->find_done(2'000'000), request);
}

TEST_F(PendingRequestsTest, WhatHasFailedIsDoneAtOnce) {
  PendingRequest* const request = requests_->add(1);
  requests_->hold(*request, {.data = 0, .obj = 1, .res = -5, .res2 = 0});
  requests_->set_done(*request, 2'000'000);
  EXPECT_EQ(requests_->find_done(1), request);
}

TEST_F(PendingRequestsTest, TellsWhenToLookAgain) {
  EXPECT_EQ(requests_->look_again_ns(50), kNotKnown);
  PendingRequest& first = made(1, 100);
  held(2, 200);
  EXPECT_EQ(requests_->look_again_ns(50), 100U);
  EXPECT_EQ(requests_->look_again_ns(150), 200U) << "its event is late";
  requests_->remove(first);
  EXPECT_EQ(requests_->look_again_ns(50), 200U);
  EXPECT_EQ(requests_->last_done_ns(), 200U);
}

TEST_F(PendingRequestsTest, OfWhatIsLateOrNotKnownItLooksSoon) {
  made(1, 100);
  EXPECT_EQ(requests_->look_again_ns(500), 500U + 1'000'000);
  requests_->add(2);
  EXPECT_EQ(requests_->look_again_ns(500), 500U + 100'000);
  EXPECT_EQ(requests_->last_done_ns(), 100U);
}

TEST_F(PendingRequestsTest, RoomIsBoundedAndUsedAgain) {
  for (std::uint64_t i = 1; i <= PendingRequests::kMost; ++i) made(i, i);
  EXPECT_EQ(requests_->add(5000), nullptr);
  requests_->remove(*requests_->find_made(77));
  EXPECT_NE(requests_->add(5000), nullptr);
  EXPECT_EQ(requests_->add(5001), nullptr);
  requests_->hold(*requests_->find_made(3), {.data = 0, .obj = 3, .res = 0, .res2 = 0});
  EXPECT_EQ(requests_->forget_overdue(10), 9U) << "but what is held is kept";
  EXPECT_NE(requests_->find_done(10), nullptr);
  requests_->clear();
  EXPECT_TRUE(requests_->is_empty());
  EXPECT_EQ(requests_->look_again_ns(50), kNotKnown);
}

TEST_F(PendingRequestsTest, IsEmptyWhenAllAreRemoved) {
  EXPECT_TRUE(requests_->is_empty());
  PendingRequest& request = made(1, 100);
  EXPECT_FALSE(requests_->is_empty());
  requests_->remove(request);
  requests_->remove(request);
  EXPECT_TRUE(requests_->is_empty());
}

}  // namespace
}  // namespace nvmemu
