/* pack PLAIN PACKED: compresses a table to the format of unpack.h, and checks that it unpacks to the same bytes.
 * A small program of its own, so that a distribution build needs no library. It packs a table several times: what the
 * codes of one pass cost decides which tokens the next one chooses. */

#include <stdio.h>
#include <stdlib.h>

#include "unpack.h"

enum {
  HASH_BITS = 18,
  MAX_TRIES = 24, /* strings compared to find matches at one place */
  ENOUGH = 96,    /* a match of this length is taken without asking whether others cost less */
  PASSES = 3,
  UNSEEN = NACRE_BITS + 1, /* bits that a symbol without a code counts */
  MAX_ROW = 1000,
  ROW_SAMPLE = 50000, /* units that are looked at to find the length of a row */
  SMALL = 1 << 16,    /* units up to which all forms are tried */
  MAX_UNITS = 1 << 23
};

typedef struct {
  unsigned length, distance;
} match;

/* The units from each place, sorted as binary trees: one for each hash of the first two units. */
typedef struct {
  int heads[1 << HASH_BITS], *sons;
} tree;

/* The cheapest way to a unit: the last token on it, and what the decoder then knows. */
typedef struct {
  unsigned cost, length, distance, next, last[NACRE_REPEATED];
  unsigned char before;
} node;

static unsigned char *plain, *packed, *best;
static size_t plain_size, packed_size, best_size;
static uint16_t *units;
static unsigned count, row, form, writing, bits, bit_count;
static tree any_tree, row_tree;
static match *found;
static size_t found_count, found_room, *first_found;
static node *nodes;
static unsigned counts[NACRE_CODES][NACRE_FIRSTS], codes[NACRE_CODES][NACRE_FIRSTS];
static unsigned char lengths[NACRE_CODES][NACRE_FIRSTS], prices[NACRE_CODES][NACRE_FIRSTS];

static void *room_for(void *old, size_t size) {
  void *room = realloc(old, size);
  if (!room) exit(1);
  return room;
}

/* Adds a place to a tree, as its new root, and finds the nearest match of each length on the way down. */
static void find(tree *in, unsigned at, unsigned column) {
  unsigned limit = count - at < ENOUGH ? count - at : ENOUGH, longest = 1, low_length = 0, high_length = 0;
  if (limit < 2) return;
  unsigned hash = (units[at] | (unsigned)units[at + 1] << 16) * 2654435761u ^ column * 2246822519u;
  int *head = in->heads + (hash * 3266489917u >> (32 - HASH_BITS)), other = *head;
  int *low = in->sons + 2 * at, *high = low + 1;
  *head = (int)at;
  for (int tries = MAX_TRIES; other >= 0 && tries > 0; tries--) {
    unsigned length = low_length < high_length ? low_length : high_length;
    while (length < limit && units[other + length] == units[at + length]) length++;
    if (length > longest) found[found_count++] = (match){longest = length, at - (unsigned)other};
    int *sons = in->sons + 2 * other;
    if (length == limit) {
      *low = sons[0];
      *high = sons[1];
      return;
    }
    if (units[other + length] < units[at + length]) {
      low_length = length;
      *low = other;
      other = *(low = sons + 1);
    } else {
      high_length = length;
      *high = other;
      other = *(high = sons);
    }
  }
  *low = *high = -1;
}

static void find_all(void) {
  memset(any_tree.heads, -1, sizeof any_tree.heads);
  memset(row_tree.heads, -1, sizeof row_tree.heads);
  found_count = 0;
  for (unsigned at = 0; at < count; at++) {
    first_found[at] = found_count;
    if (found_room < found_count + 2 * MAX_TRIES) {
      found_room = 2 * found_room + 2 * MAX_TRIES;
      found = room_for(found, found_room * sizeof *found);
    }
    find(&any_tree, at, 0);
    if (row > 1) find(&row_tree, at, at % row + 1);
  }
  first_found[count] = found_count;
}

static unsigned extra_bits(unsigned number) { return number < 8 ? 0 : 30 - (unsigned)__builtin_clz(number); }

static unsigned class_of(unsigned number) {
  return number < 8 ? number : 2 * extra_bits(number) + 4 + (number >> extra_bits(number) & 1);
}

static unsigned kind_of(const node *from, unsigned distance) {
  for (unsigned kind = 0; kind < NACRE_REPEATED; kind++)
    if (from->last[kind] == distance) return kind;
  return NACRE_ROWS + (row == 1 || distance % row != 0);
}

/* What is stored for a distance that is not repeated. */
static unsigned steps_of(unsigned kind, unsigned distance) {
  return (kind == NACRE_ROWS ? distance / row : distance) - 1;
}

static unsigned near_unit(unsigned at) { return nodes[at].last[0] <= at ? units[at - nodes[at].last[0]] : 0; }

static unsigned first_code(unsigned at) { return nacre_first_code(nodes[at].before, near_unit(at)); }

static unsigned difference(unsigned at) { return (units[at] - (form == NACRE_INDEX ? at : near_unit(at))) & 65535; }

/* A token of one unit has no distance. */
static void offer(unsigned at, unsigned kind, unsigned length, unsigned distance, unsigned cost) {
  node *from = nodes + at, *to = from + length;
  if (from->cost + cost >= to->cost) return;
  *to = (node){.cost = from->cost + cost, .length = length, .distance = distance};
  memcpy(to->last, from->last, sizeof to->last);
  if (distance == 0) return;
  to->before = kind < NACRE_REPEATED ? 1 : 2;
  for (unsigned place = kind < NACRE_REPEATED ? kind : NACRE_REPEATED - 1; place > 0; place--)
    to->last[place] = to->last[place - 1];
  to->last[0] = distance;
}

/* Offers a match with all its lengths. One that is long enough is offered whole, and its length returned. */
static unsigned offer_match(unsigned at, unsigned shortest, unsigned length, unsigned distance) {
  unsigned kind = kind_of(nodes + at, distance), steps = steps_of(kind, distance), cost = 0, code = first_code(at);
  if (kind >= NACRE_ROWS) cost = prices[NACRE_DISTANCE_CODES + kind - NACRE_ROWS][class_of(steps)] + extra_bits(steps);
  while (length >= ENOUGH && at + length < count && units[at + length] == units[at + length - distance]) length++;
  if (length >= ENOUGH) shortest = length;
  for (; shortest <= length; shortest++) {
    unsigned symbol = 256 + kind * NACRE_CLASSES + class_of(shortest - 1);
    offer(at, kind, shortest, distance, cost + prices[code][symbol] + extra_bits(shortest - 1));
  }
  return length >= ENOUGH ? length : 0;
}

/* Offers all tokens for one place; the length of the longest match that is long enough, or 1. */
static unsigned offer_all(unsigned at) {
  unsigned value = difference(at), taken = 1, shortest = 2;
  offer(at, 0, 1, 0, prices[first_code(at)][value >> 8] + prices[nacre_low_code(value >> 8)][value & 255]);
  for (unsigned kind = 0; kind < NACRE_REPEATED; kind++) {
    unsigned distance = nodes[at].last[kind], length = 0;
    if (distance > at) continue;
    while (length < ENOUGH && at + length < count && units[at + length] == units[at + length - distance]) length++;
    length = offer_match(at, 1, length, distance);
    if (length > taken) taken = length;
  }
  for (size_t which = first_found[at]; which < first_found[at + 1]; which++) {
    if (which > first_found[at] && found[which].length <= found[which - 1].length) shortest = 2; /* the second tree */
    if (kind_of(nodes + at, found[which].distance) < NACRE_REPEATED) continue;
    unsigned length = offer_match(at, shortest, found[which].length, found[which].distance);
    if (length > taken) taken = length;
    shortest = found[which].length + 1;
  }
  return taken;
}

/* Chooses the tokens that cost least at the present prices. */
static void choose_tokens(void) {
  for (unsigned at = 1; at <= count; at++) nodes[at].cost = ~0u;
  nodes[0] = (node){.last = {1, row, 2}};
  for (unsigned at = 0; at < count;) at += nodes[at].cost == ~0u ? 1 : offer_all(at);
  for (unsigned at = count; at > 0; at -= nodes[at].length) nodes[at - nodes[at].length].next = at;
}

static void put(unsigned value, unsigned size) {
  while (size-- > 0) {
    bits = bits << 1 | (value >> size & 1);
    if (++bit_count % 8 == 0) packed[packed_size++] = (unsigned char)bits;
  }
}

static void put_symbol(unsigned code, unsigned symbol) {
  counts[code][symbol]++;
  if (writing) put(codes[code][symbol], lengths[code][symbol]);
}

static void put_extra(unsigned number) {
  if (writing) put(number, extra_bits(number));
}

/* Counts the symbols of all tokens, and writes them in the last pass. */
static void put_tokens(void) {
  memset(counts, 0, sizeof counts);
  for (unsigned at = 0; at < count; at = nodes[at].next) {
    const node *to = nodes + nodes[at].next;
    unsigned value = difference(at), kind = kind_of(nodes + at, to->distance), steps = steps_of(kind, to->distance);
    if (to->distance == 0) {
      put_symbol(first_code(at), value >> 8);
      put_symbol(nacre_low_code(value >> 8), value & 255);
      continue;
    }
    put_symbol(first_code(at), 256 + kind * NACRE_CLASSES + class_of(to->length - 1));
    put_extra(to->length - 1);
    if (kind < NACRE_REPEATED) continue;
    put_symbol(NACRE_DISTANCE_CODES + kind - NACRE_ROWS, class_of(steps));
    put_extra(steps);
  }
}

/* Huffman's lengths for counts that are divided by 2^shift; returns the longest. */
static unsigned huffman(unsigned code, unsigned shift) {
  unsigned weights[2 * NACRE_FIRSTS], parents[2 * NACRE_FIRSTS] = {0};
  unsigned size = nacre_symbols(code), longest = 0, top = size;
  for (unsigned at = 0; at < size; at++) weights[at] = counts[code][at] ? (counts[code][at] >> shift) + 1 : 0;
  for (;; top++) {
    unsigned least = 0, second = 0; /* their places + 1 */
    for (unsigned at = 0; at < top; at++) {
      if (weights[at] == 0) continue;
      if (!least || weights[at] < weights[least - 1]) second = least, least = at + 1;
      else if (!second || weights[at] < weights[second - 1]) second = at + 1;
    }
    if (!second) break;
    weights[top] = weights[least - 1] + weights[second - 1];
    weights[least - 1] = weights[second - 1] = 0;
    parents[least - 1] = parents[second - 1] = top;
  }
  for (unsigned at = 0; at < size; at++) {
    unsigned length = counts[code][at] > 0 && parents[at] == 0; /* a symbol that is alone takes one bit */
    for (unsigned above = at; parents[above] != 0; above = parents[above]) length++;
    lengths[code][at] = (unsigned char)length;
    if (length > longest) longest = length;
  }
  return longest;
}

static void make_codes(void) {
  for (unsigned code = 0; code < NACRE_CODES; code++) {
    for (unsigned shift = 0; huffman(code, shift) > NACRE_BITS; shift++) continue;
    unsigned next = 0;
    for (unsigned length = 1; length <= NACRE_BITS; length++, next <<= 1)
      for (unsigned at = 0; at < nacre_symbols(code); at++)
        if (lengths[code][at] == length) codes[code][at] = next++;
    for (unsigned at = 0; at < NACRE_FIRSTS; at++) prices[code][at] = lengths[code][at] ? lengths[code][at] : UNSEEN;
  }
}

static void put_codes(void) {
  for (unsigned code = 0; code < NACRE_CODES; code++) {
    unsigned size = nacre_symbols(code);
    for (unsigned at = 0, zeros; at < size; at += zeros > 0 ? zeros : 1) {
      for (zeros = 0; at + zeros < size && lengths[code][at + zeros] == 0; zeros++) continue;
      if (zeros < 2) put(lengths[code][at], 4);
      else if (zeros < 18) put(NACRE_SHORT_RUN << 4 | (zeros - 2), 8);
      else put(NACRE_LONG_RUN << 9 | (zeros - 18), 13);
    }
  }
}

/* For the first pass: as if the symbols of a code were about equally frequent, and far matches rarer than near ones. */
static void guess_prices(void) {
  memset(prices, 6, sizeof prices);
  for (unsigned code = 0; code < NACRE_LOW_CODES; code++)
    for (unsigned at = 256; at < NACRE_FIRSTS; at++) prices[code][at] = (unsigned char)(5 + (at - 256) / NACRE_CLASSES);
}

static void pack(unsigned new_form, unsigned new_row) {
  form = new_form;
  row = new_row;
  for (unsigned at = 0; at < count; at++) units[at] = (uint16_t)nacre_unit(plain, at);
  for (unsigned at = count; form == NACRE_DELTA && at-- > row;) units[at] = (uint16_t)(units[at] - units[at - row]);
  find_all();
  guess_prices();
  writing = 0;
  for (int pass = 0; pass < PASSES; pass++) {
    choose_tokens();
    put_tokens();
    make_codes();
  }
  writing = 1;
  packed_size = bit_count = 0;
  put(form, 8);
  put(row & 255, 8);
  put(row >> 8, 8);
  if (plain_size & 1) put(plain[plain_size - 1], 8);
  put_codes();
  put_tokens();
  put(0, 7); /* so that the last bits are written */
}

/* The distance at which most units repeat; zeros and runs would repeat at any. 1 where that is less than a quarter. */
static unsigned likely_row(void) {
  unsigned limit = count < ROW_SAMPLE ? count : ROW_SAMPLE, found_row = 1, most = 0, all = 0;
  for (unsigned at = 0; at < count; at++) units[at] = (uint16_t)nacre_unit(plain, at);
  for (unsigned at = 1; at < limit; at++) all += (units[at] != 0) & (units[at] != units[at - 1]);
  for (unsigned distance = 2; distance < MAX_ROW && distance < limit / 2; distance++) {
    unsigned same = 0;
    for (unsigned at = distance; at < limit; at++)
      same += (units[at] == units[at - distance]) & (units[at] != 0) & (units[at] != units[at - 1]);
    if (same <= most + most / 20) continue; /* twice the row is not better */
    found_row = distance;
    most = same;
  }
  return most > all / 4 ? found_row : 1;
}

/* Packs in all forms, where that takes little time, and keeps the smallest. */
static void pack_best(void) {
  unsigned forms[] = {NACRE_NEAR, NACRE_INDEX, NACRE_DELTA}, rows[] = {likely_row(), 1, 2};
  best[0] = NACRE_STORED;
  memcpy(best + 1, plain, plain_size);
  best_size = plain_size + 1;
  for (unsigned at = 0; at < (count <= SMALL ? 3 : 1) && count > 0; at++) {
    pack(forms[at], rows[at]);
    if (packed_size >= best_size) continue;
    memcpy(best, packed, packed_size);
    best_size = packed_size;
  }
}

static void read_plain(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) exit(1);
  plain_size = (size_t)ftell(file);
  rewind(file);
  plain = room_for(NULL, plain_size + 1);
  if (fread(plain, 1, plain_size, file) != plain_size) exit(1);
  fclose(file);
}

int main(int argc, char **names) {
  if (argc != 3) return 2;
  read_plain(names[1]);
  count = plain_size / 2 < MAX_UNITS ? (unsigned)(plain_size / 2) : 0;
  best = room_for(NULL, plain_size + 1);
  packed = room_for(NULL, 8 * plain_size + NACRE_CODES * NACRE_FIRSTS + 64); /* no token takes more than 8 bytes */
  units = room_for(NULL, (count + 1) * sizeof *units);
  nodes = room_for(NULL, (count + 1) * sizeof *nodes);
  first_found = room_for(NULL, (count + 1) * sizeof *first_found);
  any_tree.sons = room_for(NULL, (count + 1) * 2 * sizeof(int));
  row_tree.sons = room_for(NULL, (count + 1) * 2 * sizeof(int));
  pack_best();
  unsigned char *again = calloc(plain_size + 1, 1);
  if (!again) return 1;
  nacre_unpack(best, best_size, again, plain_size);
  if (memcmp(again, plain, plain_size) != 0) {
    fputs("pack: the table does not unpack to itself\n", stderr);
    return 1;
  }
  FILE *file = fopen(names[2], "wb");
  if (!file || fwrite(best, 1, best_size, file) != best_size || fclose(file) != 0) return 1;
  return 0;
}
