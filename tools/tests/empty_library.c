/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the preload library's place where it shall not come to the board. */
int nvmemu_test_does_nothing(void);
int nvmemu_test_does_nothing(void) { return 0; }
