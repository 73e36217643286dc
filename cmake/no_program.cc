// SPDX-License-Identifier: Apache-2.0
// Headers are compiled for a target, which needs a source.
int main() {}
