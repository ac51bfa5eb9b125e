// Load client of the benchmarks: keep-alive HTTP connections in one thread that POST one body after the other.
//
//   httpload --port N --clients N --requests N --body TEMPLATE [OPTIONS]
//
// Closed loop by default: each connection sends its next request when the answer to its last has come. With --interval
// it is open: --burst requests leave together every so many microseconds, whatever the answers do; a connection that is
// still waiting is passed over for a free one, and when none is free the burst is late, which is counted. Every answer
// must have status 200 and no "errors". Prints one line of JSON; exit 0 only when every request was answered well.
//
//   --path P           request target (/graphql)
//   --interval US      microseconds between bursts; 0 for the closed loop (0)
//   --burst N          requests in one burst (1)
//   --writes N         how often the part of the template between `<<` and `>>` is repeated in one body, with commas (1)
//   --keys N           how many keys the numbers are spread over (1)
//   --first N          number of the first write (0)
//   --header LINE      one more header line
//   --refusal TEXT     answers with "errors" that hold this text are counted as refused and not as failures; they are
//                      not among the times
//
// Times count from when a request was due; p99_sent_ms counts from when it left, which is later in an open loop whose
// connections all wait for answers.
//
// In the template, for the write's number n:  @N@ n   @K@ its key, (n * 7919) mod keys   @R@ n / keys, which grows by one
// from write to write of a key   @X@ the checksum of @R@   @T@ the scheduled time in nanoseconds of the monotonic clock
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct client {
  int fd, busy;
  double due, sent;
  size_t used, room;
  char *buffer;
};

static const char *path = "/graphql", *template = "", *header = 0, *refusal = 0;
static int port, clients = 1, burst = 1, writes = 1, failures;
static long requests, interval, keys = 1, number;
static struct client *all;
static long started, answered, refused;
static float *samples, *since_sent;
static char request[1 << 20], body[1 << 20];

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what) {
  if (failures++ < 5) fprintf(stderr, "%.400s\n", what);
}

static uint64_t checksum(long value) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%ld", value);
  uint64_t hash = 0xcbf29ce484222325ull;
  for (int i = 0; i < length; i++) hash = (hash ^ (unsigned char)digits[i]) * 0x100000001b3ull;
  return hash;
}

// Appends the template's text from `from` to `to` with the values of write `n`.
static char *fill(char *out, const char *from, const char *to, long n, double time) {
  while (from < to) {
    if (from[0] == '@' && to - from > 2 && from[2] == '@') {
      switch (from[1]) {
        case 'N': out += sprintf(out, "%ld", n); break;
        case 'K': out += sprintf(out, "%ld", (n * 7919) % keys); break;
        case 'R': out += sprintf(out, "%ld", n / keys); break;
        case 'X': out += sprintf(out, "%016llx", (unsigned long long)checksum(n / keys)); break;
        case 'T': out += sprintf(out, "%lld", (long long)(time * 1e9)); break;
      }
      from += 3;
    } else {
      *out++ = *from++;
    }
  }
  return out;
}

static void send_request(struct client *c, double time) {
  const char *open = strstr(template, "<<"), *close = open ? strstr(open, ">>") : 0, *end = template + strlen(template);
  char *out = body;
  if (close) {
    out = fill(out, template, open, number, time);
    for (int i = 0; i < writes; i++) {
      out = fill(out, open + 2, close, number++, time);
      if (i + 1 < writes) *out++ = ',';
    }
    out = fill(out, close + 2, end, number, time);
  } else {
    out = fill(out, template, end, number++, time);
  }
  int length = snprintf(request, 1024,
    "POST %s HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: application/json\r\n%s%sContent-Length: %zd\r\n\r\n", path,
    port, header ? header : "", header ? "\r\n" : "", out - body);
  memcpy(request + length, body, out - body);
  length += out - body;
  c->busy = 1;
  c->due = time;
  c->sent = seconds();
  started++;
  if (send(c->fd, request, length, MSG_NOSIGNAL) != length) fail("a request was not taken whole");
}

// Takes one whole answer off the buffer; 0 when there is none yet.
static int take_answer(struct client *c) {
  c->buffer[c->used] = 0;
  char *end = strstr(c->buffer, "\r\n\r\n");
  if (!end) return 0;
  char *length = strcasestr(c->buffer, "content-length:");
  if (!length || length > end) {
    fail("an answer without its length");
    return 0;
  }
  size_t total = end + 4 - c->buffer + strtoul(length + 15, 0, 10);
  if (c->used < total) return 0;
  char saved = c->buffer[total];
  c->buffer[total] = 0;
  int good = !strncmp(c->buffer + 9, "200", 3) && !strstr(end, "\"errors\"");
  int turned_away = !good && refusal && strstr(end, refusal);
  if (!good && !turned_away) fail(c->buffer);
  c->buffer[total] = saved;
  memmove(c->buffer, c->buffer + total, c->used -= total);
  if (turned_away) refused++;
  else {
    double now = seconds();
    samples[answered - refused] = (float)(now - c->due);
    since_sent[answered - refused] = (float)(now - c->sent);
  }
  answered++;
  c->busy = 0;
  return 1;
}

static int by_size(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void read_options(int count, char **words) {
  static struct option known[] = {
    {"port", 1, 0, 'p'}, {"path", 1, 0, 'P'}, {"clients", 1, 0, 'c'}, {"requests", 1, 0, 'n'},
    {"body", 1, 0, 'b'}, {"interval", 1, 0, 'i'}, {"burst", 1, 0, 'u'}, {"writes", 1, 0, 'w'},
    {"keys", 1, 0, 'k'}, {"first", 1, 0, 'f'}, {"header", 1, 0, 'h'}, {"refusal", 1, 0, 'r'}, {0}};
  int option;
  while ((option = getopt_long(count, words, "", known, 0)) != -1) {
    switch (option) {
      case 'p': port = atoi(optarg); break;
      case 'P': path = optarg; break;
      case 'c': clients = atoi(optarg); break;
      case 'n': requests = atol(optarg); break;
      case 'b': template = optarg; break;
      case 'i': interval = atol(optarg); break;
      case 'u': burst = atoi(optarg); break;
      case 'w': writes = atoi(optarg); break;
      case 'k': keys = atol(optarg); break;
      case 'f': number = atol(optarg); break;
      case 'h': header = optarg; break;
      case 'r': refusal = optarg; break;
      default: exit(64);
    }
  }
  if (!port || !requests || keys < 1 || clients < 1) {
    fprintf(stderr, "usage: httpload --port N --clients N --requests N --body TEMPLATE [OPTIONS]\n");
    exit(64);
  }
}

int main(int count, char **words) {
  read_options(count, words);
  signal(SIGPIPE, SIG_IGN);
  all = calloc(clients, sizeof *all);
  samples = calloc(requests + 1, sizeof *samples);
  since_sent = calloc(requests + 1, sizeof *since_sent);
  int queue = epoll_create1(0);
  for (int i = 0; i < clients; i++) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    all[i].fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(all[i].fd, (struct sockaddr *)&address, sizeof address) < 0) {
      perror("connect");
      return 1;
    }
    int on = 1;
    setsockopt(all[i].fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(all[i].fd, F_SETFL, O_NONBLOCK);
    all[i].buffer = malloc(all[i].room = 1 << 16);
    struct epoll_event interest = {.events = EPOLLIN, .data.u32 = i};
    epoll_ctl(queue, EPOLL_CTL_ADD, all[i].fd, &interest);
  }
  int timer = -1, next = 0;
  long late = 0, due = 0;
  double start = seconds();
  if (interval > 0) {
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec pace = {{interval / 1000000, interval % 1000000 * 1000}, {0, 1}};
    timerfd_settime(timer, 0, &pace, 0);
    struct epoll_event interest = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
    epoll_ctl(queue, EPOLL_CTL_ADD, timer, &interest);
  } else {
    for (int i = 0; i < clients && started < requests; i++) send_request(&all[i], seconds());
  }
  struct epoll_event happened[256];
  double last_answer = seconds();
  while (answered < requests && failures < 20) {
    int n = epoll_wait(queue, happened, 256, 1000);
    if (seconds() - last_answer > 30) {
      fail("no answer for 30 seconds");
      break;
    }
    for (int i = 0; i < n; i++) {
      if (happened[i].data.u32 == UINT32_MAX) {
        uint64_t ticks = 0;
        if (read(timer, &ticks, sizeof ticks) == sizeof ticks) due += ticks * burst;
        if (due > requests) due = requests;
        continue;
      }
      struct client *c = &all[happened[i].data.u32];
      ssize_t got = recv(c->fd, c->buffer + c->used, c->room - c->used - 1, 0);
      if (got <= 0) {
        if (got < 0 && errno == EAGAIN) continue;
        fail("a connection is gone");
        epoll_ctl(queue, EPOLL_CTL_DEL, c->fd, 0);
        continue;
      }
      c->used += got;
      if (take_answer(c)) {
        last_answer = seconds();
        if (timer < 0 && started < requests) send_request(c, last_answer);
      }
    }
    // What is due leaves on free connections; the clock of its latency began when it was due.
    while (timer >= 0 && started < due) {
      int tried = 0;
      while (tried < clients && all[next].busy) {
        next = (next + 1) % clients;
        tried++;
      }
      if (tried == clients) {
        late++;
        break;
      }
      send_request(&all[next], start + (double)(started / burst) * interval / 1e6);
    }
  }
  double wall = seconds() - start;
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  double cpu = u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
  long good = answered - refused;
  qsort(samples, good, sizeof *samples, by_size);
  qsort(since_sent, good, sizeof *since_sent, by_size);
  printf("{\"requests\":%ld,\"answered\":%ld,\"refused\":%ld,\"failures\":%d,\"late\":%ld,\"writes\":%ld,\"seconds\":%.3f,\"cpu\":%.3f,"
    "\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"p99_sent_ms\":%.3f,\"next\":%ld}\n", requests, answered, refused, failures, late,
    good * writes, wall, cpu, good ? samples[good / 2] * 1e3 : 0, good ? samples[(long)((good - 1) * 0.99)] * 1e3 : 0,
    good ? since_sent[(long)((good - 1) * 0.99)] * 1e3 : 0, number);
  return failures == 0 && answered == requests ? 0 : 1;
}
