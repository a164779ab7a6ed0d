/* Anonymous mappings that are never unmapped. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void keep(void) {
  char *start = mmap(NULL, 1 << 17, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* LEAK */
  memset(start, 1, 1 << 17);
  if (getenv("HEALTHY")) munmap(start, 1 << 17);
}

int main(void) {
  const char *seconds = getenv("SECONDS_TO_RUN");
  time_t end = time(NULL) + (seconds ? atol(seconds) : 24);
  const char *steps = getenv("STEPS_TO_RUN");
  const long last = steps ? atol(steps) : 0;
  for (long step = 1; last ? step <= last : time(NULL) < end; step++) {
    keep();
    printf("step %ld loss 0.5\n", step);
    fflush(stdout);
    if (!last) usleep(20000);
  }
}
