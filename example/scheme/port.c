/* Testudo: ports of the Scheme interpreter. SPDX-License-Identifier:
   BSD-2-Clause

   A port object holds the index of a C structure with a buffer. Structures
   whose objects died are reused once their finalization has been seen. */
#include "scheme.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 8192 };

struct port {
  int fd; /* -1 for a string */
  int flags;
  bool open, tty, used;
  char *name;
  char *data; /* input: bytes read; output: bytes not yet written */
  size_t start, end, size;
  size_t line, column; /* of the next character of input */
};

static struct port *ports;
static size_t port_limit;
static size_t all_used; /* so many of the first ones are */

static struct port *port_of(val port) {
  return &ports[fix_int(SLOT(port, 1))];
}

/* An index that is not used, or port_limit. */
static size_t find_index(void) {
  while (all_used < port_limit && ports[all_used].used)
    all_used++;
  return all_used;
}

/* Returns the first of them. */
static size_t more_indices(void) {
  size_t first = port_limit, n = first == 0 ? 16 : first * 2;
  struct port *p = realloc(ports, n * sizeof *p);
  if (p == NULL)
    raise_kind("memory", NULL, "out of memory", NIL);
  memset(p + first, 0, (n - first) * sizeof *p);
  ports = p;
  port_limit = n;
  return first;
}

/* Ports that were lost make room before there are more. */
static size_t free_index(void) {
  size_t i = find_index();
  if (i == port_limit) {
    memory_poll_finalization();
    i = find_index();
  }
  return i < port_limit ? i : more_indices();
}

static val port_new(int fd, int flags, const char *name, size_t size) {
  size_t i = free_index();
  char *data = malloc(size);
  char *copy = strdup(name);
  if (data == NULL || copy == NULL) {
    free(data);
    free(copy);
    raise_kind("memory", NULL, "out of memory", NIL);
  }
  ports[i] = (struct port){.fd = fd,
                           .flags = flags,
                           .open = true,
                           .used = true,
                           .name = copy,
                           .data = data,
                           .size = size,
                           .line = 1,
                           .column = 1};
  val port = make_object(T_PORT, 1, FIX(i));
  mps_addr_t ref = (mps_addr_t)port;
  mps_finalize(vm.arena, &ref);
  return port;
}

val port_open_fd(int fd, int flags, const char *name) {
  val port = port_new(fd, flags, name, BUFFER);
  port_of(port)->tty = (flags & PORT_OUT) && isatty(fd);
  return port;
}

val port_open_string(const char *s, size_t n) {
  val port = port_new(-1, PORT_IN | PORT_STRING, "string", n + 1);
  memcpy(port_of(port)->data, s, n);
  port_of(port)->end = n;
  return port;
}

val port_open_output_string(void) {
  return port_new(-1, PORT_OUT | PORT_STRING, "string", 64);
}

/* Files that were lost are closed before there are too many. */
val port_open_file(const char *name, int flags) {
  int mode = flags & PORT_IN ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
  int fd = open(name, mode | O_CLOEXEC, 0666);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
    memory_find_lost();
    fd = open(name, mode | O_CLOEXEC, 0666);
  }
  return fd < 0 ? FALSE : port_open_fd(fd, flags, name);
}

void ports_init(void) {
  vm.root[R_STDIN] = port_open_fd(0, PORT_IN, "standard input");
  vm.root[R_STDOUT] = port_open_fd(1, PORT_OUT, "standard output");
  vm.root[R_STDERR] = port_open_fd(2, PORT_OUT, "standard error");
}

/* ---- when the system fails */

NORETURN static void fail(struct port *p, const char *message) {
  int error = errno;
  raise_file(prim_name(), message, string_from_c(p->name), error);
}

/* After a call that failed: is it to be made again? A file that must not
   block is waited for. */
static bool again(int fd, short event) {
  if (errno == EAGAIN) {
    struct pollfd p = {.fd = fd, .events = event};
    return poll(&p, 1, -1) >= 0 || errno == EINTR;
  }
  return errno == EINTR;
}

/* ---- input */

static bool refill(struct port *p) {
  if (p->fd < 0 || !p->open)
    return false;
  if (p->start > 0) {
    memmove(p->data, p->data + p->start, p->end - p->start);
    p->end -= p->start;
    p->start = 0;
  }
  if (p->fd == 0)
    port_flush_all();
  ssize_t n;
  do {
    interrupt_check();
    n = read(p->fd, p->data + p->end, p->size - p->end);
  } while (n < 0 && again(p->fd, POLLIN));
  if (n < 0)
    fail(p, "cannot read");
  p->end += (size_t)n;
  return n > 0;
}

/* How many bytes a character has that begins like this. */
static size_t sequence_length(unsigned char b) {
  return b < 0x80 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
}

/* The next character and its bytes; -1 at the end. */
static int decode_next(struct port *p, size_t *bytes_o) {
  if (p->start == p->end && !refill(p))
    return -1;
  unsigned char b = (unsigned char)p->data[p->start];
  if (b < 0x80) {
    *bytes_o = 1;
    return b;
  }
  size_t want = sequence_length(b);
  while (p->end - p->start < want && refill(p))
    continue;
  uint32_t c;
  *bytes_o = utf8_decode(p->data + p->start, p->end - p->start, &c);
  return (int)c;
}

int port_peekc(val port) {
  size_t bytes;
  return decode_next(port_of(port), &bytes);
}

int port_getc(val port) {
  struct port *p = port_of(port);
  size_t bytes = 0;
  int c = decode_next(p, &bytes);
  if (c < 0)
    return c;
  p->start += bytes;
  p->column++;
  if (c == '\n') {
    p->line++;
    p->column = 1;
  }
  return c;
}

int port_get_text(val port) {
  int c = port_getc(port);
  if (c != '\r')
    return c;
  if (port_peekc(port) == '\n')
    port_getc(port);
  return '\n';
}

void port_skip_line(val port) {
  int c;
  do
    c = port_get_text(port);
  while (c >= 0 && c != '\n');
}

int port_get_byte(val port, bool peek) {
  struct port *p = port_of(port);
  if (p->start == p->end && !refill(p))
    return -1;
  unsigned char b = (unsigned char)p->data[p->start];
  if (!peek)
    p->start++;
  return b;
}

/* At the end of a file, reading does not wait either. */
bool port_ready(val port) {
  struct port *p = port_of(port);
  struct pollfd event = {.fd = p->fd, .events = POLLIN};
  size_t want = 1;
  if (p->start < p->end && !(p->flags & PORT_BINARY))
    want = sequence_length((unsigned char)p->data[p->start]);
  return p->end - p->start >= want || p->fd < 0 || poll(&event, 1, 0) > 0;
}

val port_position(val port) {
  struct port *p = port_of(port);
  size_t column = p->column < 4095 ? p->column : 4095;
  return FIX(p->line << 12 | column);
}

val port_name(val port) {
  return string_from_c(port_of(port)->name);
}

/* ---- output */

/* Something was not written, and no program has been told. */
static bool lost;

/* Writes what the buffer has, and empties it. False with the reason in errno
   if not all of it could be written. */
static bool drain(struct port *p) {
  size_t done = 0;
  bool well = true;
  if (p->fd < 0)
    return true;
  while (well && done < p->end) {
    ssize_t n = write(p->fd, p->data + done, p->end - done);
    if (n >= 0)
      done += (size_t)n;
    else
      well = again(p->fd, POLLOUT);
  }
  p->end = 0;
  return well;
}

static void report_lost(struct port *p) {
  lost = true;
  fprintf(stderr, "testudo-scheme: cannot write: \"%s\" \"%s\"\n", p->name,
          strerror(errno));
}

static void flush(struct port *p) {
  if (!drain(p))
    fail(p, "cannot write");
}

void port_flush(val port) {
  flush(port_of(port));
}

void port_flush_all(void) {
  for (size_t i = 0; i < port_limit; i++)
    if (ports[i].used && ports[i].open && (ports[i].flags & PORT_OUT) &&
        !drain(&ports[i]))
      report_lost(&ports[i]);
}

bool ports_finish(void) {
  port_flush_all();
  return !lost;
}

static void make_room(struct port *p, size_t n) {
  if (p->end + n <= p->size)
    return;
  interrupt_check();
  flush(p);
  if (p->end + n <= p->size)
    return;
  size_t size = (p->end + n) * 2;
  char *data = memory_may_have(p->end + n) ? realloc(p->data, size) : NULL;
  if (data == NULL)
    raise_kind("memory", NULL, "out of memory", NIL);
  p->data = data;
  p->size = size;
}

void port_write(val port, const char *s, size_t n) {
  struct port *p = port_of(port);
  if (n == 0)
    return;
  make_room(p, n);
  memcpy(p->data + p->end, s, n);
  p->end += n;
  size_t after = 0;
  while (after < n && s[n - after - 1] != '\n')
    after++;
  p->column = after == n ? p->column + n : after + 1;
  if (p->tty && after < n)
    flush(p);
}

void port_puts(val port, const char *s) {
  port_write(port, s, strlen(s));
}

void port_putc(val port, uint32_t c) {
  char buf[4];
  port_write(port, buf, utf8_encode(c, buf));
}

bool port_at_line_start(val port) {
  return port_of(port)->column == 1;
}

val port_get_output(val port) {
  struct port *p = port_of(port);
  if (!(p->flags & PORT_BINARY))
    return string_from_utf8(p->data, p->end);
  val bv = make_leaf(T_BYTEVECTOR, sizeof(val) + p->end);
  BV_LEN(bv) = p->end;
  memcpy(BV_DATA(bv), port_of(port)->data, port_of(port)->end);
  return bv;
}

/* ---- state */

void port_set_fold(val port, bool fold) {
  int flags = port_of(port)->flags & ~PORT_FOLD;
  port_of(port)->flags = fold ? flags | PORT_FOLD : flags;
}

void port_make_binary(val port) {
  port_of(port)->flags |= PORT_BINARY;
}

/* False with the reason in errno if not all was written. */
static bool close_port(struct port *p) {
  if (!p->open)
    return true;
  bool well = !(p->flags & PORT_OUT) || drain(p);
  int error = errno;
  p->open = false;
  if (p->fd > 2 && close(p->fd) < 0 && well && errno != EINTR) {
    error = errno;
    well = false;
  }
  if (!(p->flags & PORT_STRING))
    p->start = p->end = 0;
  errno = error;
  return well;
}

void port_close(val port) {
  struct port *p = port_of(port);
  if (!close_port(p))
    fail(p, "cannot write");
}

/* The object is dead, or nobody wants its structure any more. */
void port_release(val port) {
  struct port *p = port_of(port);
  if (!p->used)
    return;
  if (!close_port(p))
    report_lost(p);
  free(p->name);
  free(p->data);
  memset(p, 0, sizeof *p);
  size_t i = (size_t)(p - ports);
  all_used = i < all_used ? i : all_used;
}

int port_flags(val port) {
  return port_of(port)->flags;
}

bool port_is_open(val port, int direction) {
  struct port *p = port_of(port);
  return p->open && (p->flags & direction);
}
