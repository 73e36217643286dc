// SPDX-License-Identifier: Apache-2.0
// The target that test_headers.h is compiled for needs a program.
int main() {}
