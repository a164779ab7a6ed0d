// A vector of strings that is never cleared.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <unistd.h>
#include <vector>

static std::vector<std::string> lines;

__attribute__((noinline)) static void keep(int n) {
  lines.push_back(std::string(3000, 'a' + n % 26)); // LEAK
  if (getenv("HEALTHY")) lines.clear();
}

int main() {
  const char *seconds = getenv("SECONDS_TO_RUN");
  time_t end = time(nullptr) + (seconds ? atol(seconds) : 24);
  const char *steps = getenv("STEPS_TO_RUN");
  const long last = steps ? atol(steps) : 0;
  for (long step = 1; last ? step <= last : time(nullptr) < end; step++) {
    for (int n = 0; n < 20; n++) keep(n);
    std::printf("step %ld loss 0.5\n", step);
    std::fflush(stdout);
    if (!last) usleep(20000);
  }
}
