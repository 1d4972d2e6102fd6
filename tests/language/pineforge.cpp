// The other side of pineforge.bench.ts: loads a probe that PineForge has compiled, reads the bars, and runs it once for each
// line that comes in. Answers the milliseconds of each run, by the clock and of the processor, on a line of its own.
//
//     pineforge PROBE.so BARS.csv

#include <pineforge/pineforge.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <dlfcn.h>
#include <vector>

template <typename F> F symbol(void *library, const char *name) { return reinterpret_cast<F>(dlsym(library, name)); }

double processorMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  std::FILE *file = std::fopen(arguments[2], "r");
  void *library = dlopen(arguments[1], RTLD_NOW);
  if (!file || !library) {
    std::fprintf(stderr, "%s\n", file ? dlerror() : "no such file of bars");
    return 1;
  }
  std::vector<pf_bar_t> bars;
  char line[256];
  while (std::fgets(line, sizeof line, file)) {
    long long time;
    pf_bar_t bar{};
    if (std::sscanf(line, "%lld,%lf,%lf,%lf,%lf,%lf", &time, &bar.open, &bar.high, &bar.low, &bar.close, &bar.volume) != 6)
      continue;
    bar.timestamp = time;
    bars.push_back(bar);
  }
  auto create = symbol<pf_strategy_t (*)(const char *)>(library, "strategy_create");
  auto run = symbol<void (*)(pf_strategy_t, pf_bar_t *, int, pf_report_t *)>(library, "run_backtest");
  auto freeReport = symbol<void (*)(pf_report_t *)>(library, "report_free");
  auto freeStrategy = symbol<void (*)(pf_strategy_t)>(library, "strategy_free");
  if (!create || !run || !freeReport || !freeStrategy) return 1;
  while (std::fgets(line, sizeof line, stdin)) {
    pf_strategy_t strategy = create(nullptr);
    pf_report_t report{};
    const double spent = processorMs();
    const auto from = std::chrono::steady_clock::now();
    run(strategy, bars.data(), static_cast<int>(bars.size()), &report);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - from;
    std::printf("%.4f %.4f\n", taken.count(), processorMs() - spent);
    std::fflush(stdout);
    freeReport(&report);
    freeStrategy(strategy);
  }
}
