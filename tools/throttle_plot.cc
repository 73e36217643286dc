// SPDX-License-Identifier: Apache-2.0
#include "throttle_plot.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "throttle/controllers.h"

namespace nvmemu {
namespace {

constexpr int kNotInstalled = 127;
constexpr double kGiga = 1e9;

// As gnuplot wants a text in single quotes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + "'";
}

// Without the point of no limit: it is far to the right, and as high as those before it.
std::string data_of(const Curve& curve) {
  std::string data = fmt::format("$node{} << END\n", curve.node);
  for (const CurvePoint& point : curve.points) {
    if (point.value < kThrottleLimit) data += fmt::format("{} {}\n", point.value, point.bps / kGiga);
  }
  return data + "END\n";
}

std::string script_for(const Curves& curves, const std::string& svg_path) {
  std::string script = fmt::format(
      "set terminal svg size 720,440 noenhanced background 'white'\nset output {}\n"
      "set xlabel 'thermal register (commands of a DIMM in a microsecond)'\n"
      "set ylabel 'STREAM copy (GB/s)'\nset xrange [0:*]\nset yrange [0:*]\nset key bottom right\nset grid\n",
      quoted(svg_path));
  std::string plots;
  int colour = 0;
  for (const Curve& curve : curves.nodes) {
    script += data_of(curve);
    plots += fmt::format(
        "{0}$node{1} using 1:2 with points pt 7 lc {6} title 'node {1}', "
        "[{2}:{3}] {4} + {5} * x with lines lc {6} title 'node {1}, the linear part'",
        plots.empty() ? "plot " : ", ", curve.node, curve.linear_first, curve.linear_last,
        curve.offset_bps / kGiga, curve.slope_bps / kGiga, ++colour);
  }
  return script + plots + "\n";
}

}  // namespace

Result<void> plot_curves(const Curves& curves, const std::string& svg_path) {
  if (curves.nodes.empty()) return failure("there is no curve to plot");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> script(std::tmpfile(), std::fclose);
  if (!script)
    return failure(std::string("cannot make a temporary file for gnuplot: ") + std::strerror(errno));
  std::fputs(script_for(curves, svg_path).c_str(), script.get());
  std::rewind(script.get());

  const pid_t child = fork();
  if (child < 0) return failure(std::string("cannot start gnuplot: ") + std::strerror(errno));
  if (child == 0) {
    dup2(fileno(script.get()), STDIN_FILENO);
    execlp("gnuplot", "gnuplot", "-", nullptr);
    _exit(errno == ENOENT ? kNotInstalled : 126);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotInstalled)
    return failure("cannot plot " + svg_path + ": gnuplot is not installed", "apt-get install gnuplot-nox");
  return failure("cannot plot " + svg_path + ": gnuplot failed");
}

}  // namespace nvmemu
