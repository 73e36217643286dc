/* SPDX-License-Identifier: Apache-2.0 */
/* Linked statically: nothing can be preloaded into it. */
int main(void) { return 0; }
