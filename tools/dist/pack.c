/* pack PLAIN PACKED: compresses a file to one LZ4 block (no frame), and checks that it unpacks to the same bytes.
 * A small program of its own, so that a distribution build needs no library. */

#include <stdio.h>
#include <stdlib.h>

#include "unpack.h"

enum { HASH_BITS = 16, MAX_OFFSET = 65535, MAX_TRIES = 256, MIN_MATCH = 4, LAST_LITERALS = 5, LAST_MATCH = 12 };

static unsigned char *plain, *packed;
static size_t plain_size, packed_size;
static int heads[1 << HASH_BITS], *before;

static unsigned hash_at(size_t at) {
  unsigned word;
  memcpy(&word, plain + at, sizeof word);
  return word * 2654435761u >> (32 - HASH_BITS);
}

static void remember(size_t at) {
  unsigned hash = hash_at(at);
  before[at] = heads[hash];
  heads[hash] = (int)at;
}

/* The longest match for what stands at `at`; 0 where there is none. */
static size_t longest_match(size_t at, size_t limit, size_t *offset) {
  size_t best = 0;
  int tries = MAX_TRIES;
  for (int other = heads[hash_at(at)]; other >= 0 && at - other <= MAX_OFFSET && tries-- > 0; other = before[other]) {
    size_t length = 0;
    while (at + length < limit && plain[other + length] == plain[at + length]) length++;
    if (length > best) {
      best = length;
      *offset = at - other;
    }
  }
  return best < MIN_MATCH ? 0 : best;
}

static void put_length(size_t length) {
  if (length < 15) return;
  for (length -= 15; length >= 255; length -= 255) packed[packed_size++] = 255;
  packed[packed_size++] = (unsigned char)length;
}

static void put_sequence(size_t from, size_t literals, size_t offset, size_t match) {
  size_t extra = match == 0 ? 0 : match - MIN_MATCH;
  packed[packed_size++] = (unsigned char)((literals < 15 ? literals : 15) << 4 | (extra < 15 ? extra : 15));
  put_length(literals);
  memcpy(packed + packed_size, plain + from, literals);
  packed_size += literals;
  if (match == 0) return;
  packed[packed_size++] = offset & 255;
  packed[packed_size++] = (unsigned char)(offset >> 8);
  put_length(extra);
}

static void pack(void) {
  size_t at = 0, from = 0;
  while (plain_size > LAST_MATCH && at < plain_size - LAST_MATCH) {
    size_t offset = 0, match = longest_match(at, plain_size - LAST_LITERALS, &offset);
    if (match == 0) {
      remember(at++);
      continue;
    }
    put_sequence(from, at - from, offset, match);
    for (size_t end = at + match; at < end; at++)
      if (at + sizeof(unsigned) <= plain_size) remember(at);
    from = at;
  }
  put_sequence(from, plain_size - from, 0, 0);
}

static void read_plain(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) exit(1);
  plain_size = (size_t)ftell(file);
  rewind(file);
  plain = malloc(plain_size + 1);
  packed = malloc(plain_size + plain_size / 255 + 64);
  before = malloc((plain_size + 1) * sizeof *before);
  if (!plain || !packed || !before || fread(plain, 1, plain_size, file) != plain_size) exit(1);
  fclose(file);
}

int main(int count, char **names) {
  if (count != 3) return 2;
  read_plain(names[1]);
  memset(heads, -1, sizeof heads);
  pack();
  unsigned char *again = calloc(plain_size + 1, 1);
  nacre_unpack(packed, packed_size, again, plain_size);
  if (memcmp(again, plain, plain_size) != 0) {
    fputs("pack: the table does not unpack to itself\n", stderr);
    return 1;
  }
  FILE *file = fopen(names[2], "wb");
  if (!file || fwrite(packed, 1, packed_size, file) != packed_size || fclose(file) != 0) return 1;
  return 0;
}
