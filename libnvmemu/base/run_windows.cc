// SPDX-License-Identifier: Apache-2.0
#include "base/run_windows.h"

#include <algorithm>

#include "nvmemu/nvmemu.h"

namespace nvmemu {

std::vector<RunWindow> run_windows() {
  std::vector<nvmemu_window> all(nvmemu_windows_over(nullptr, 0));
  nvmemu_windows_over(all.data(), static_cast<unsigned>(all.size()));
  auto window =
      std::find_if(all.begin(), all.end(), [](const nvmemu_window& each) { return each.progress > 0; });
  if (window != all.end()) ++window;
  std::vector<RunWindow> whole;
  for (; window != all.end(); ++window)
    whole.push_back({window->has_delays != 0, static_cast<double>(window->ns) / 1e9, window->progress});
  return whole;
}

std::vector<double> rates_of(const std::vector<RunWindow>& windows, bool has_delays) {
  std::vector<double> rates;
  for (const RunWindow& window : windows) {
    if (window.has_delays == has_delays) rates.push_back(window.per_second());
  }
  return rates;
}

}  // namespace nvmemu
