/* Blocks that are kept beside blocks of the same size that are freed, so that kept ones reuse freed memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct node { struct node *next; char data[4000]; };
static struct node *kept;

__attribute__((noinline)) static void churn(void) {
  struct node *nodes[64];
  for (int i = 0; i < 64; i++) { nodes[i] = malloc(sizeof **nodes); memset(nodes[i], 1, sizeof **nodes); }
  for (int i = 0; i < 64; i++) free(nodes[i]);
}

__attribute__((noinline)) static void keep(void) {
  struct node *node = malloc(sizeof *node); /* LEAK */
  memset(node, 2, sizeof *node);
  if (getenv("HEALTHY")) { free(node); return; }
  node->next = kept;
  kept = node;
}

int main(void) {
  const char *seconds = getenv("SECONDS_TO_RUN");
  time_t end = time(NULL) + (seconds ? atol(seconds) : 24);
  const char *steps = getenv("STEPS_TO_RUN");
  const long last = steps ? atol(steps) : 0;
  for (long step = 1; last ? step <= last : time(NULL) < end; step++) {
    churn();
    for (int i = 0; i < 16; i++) keep();
    printf("step %ld loss 0.5\n", step);
    fflush(stdout);
    if (!last) usleep(20000);
  }
}
