// SPDX-License-Identifier: Apache-2.0
// Maps that are larger than the caches, on the main thread and on a worker, with garbage to collect.
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");

function work(seed) {
  const map = new Map();
  for (let i = 0; i < 400000; ++i) map.set((i * 7919 + seed) % 1000003, { value: i, text: "item " + i });
  let sum = 0;
  for (let i = 0; i < 1000003; ++i) {
    const found = map.get((i * 104729) % 1000003);
    if (found) sum = (sum + found.value * found.text.length) % 1000000007;
  }
  return sum;
}

if (isMainThread) {
  const worker = new Worker(__filename, { workerData: 1 });
  worker.on("message", (sum) => console.log("worker", sum));
  console.log("main", work(0));
} else {
  parentPort.postMessage(work(workerData));
}
