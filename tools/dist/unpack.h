/* Unpacks one table: matches and single units of two bytes, with Huffman codes. The input was made by pack.c in the
 * same build, so it is checked no further than that nothing is read or written outside the two buffers.
 *
 * A packed table is a byte for the form, two for the length of a row in units, the last byte if the size is odd, and
 * bits: the lengths of all codes, then tokens. The first symbol of a token says what follows:
 * - Below 256 it is the high byte of a unit, and a symbol for the low byte follows. Stored is the difference from the
 *   unit at the last distance, or from the unit's own index: the numbers of a table are often close to one of them.
 * - Above, it is the kind of a match and the class of its length. A match repeats one of the last three distances, or
 *   has a new one, in rows (most tables have rows of one length that resemble each other) or in units.
 * The code of a first symbol depends on the token before and on the unit at the last distance. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The forms: differences from the unit at the last distance; from the index; the first, of a table in which each unit
 * is the difference from the one a row before; the plain bytes. */
enum { NACRE_NEAR, NACRE_INDEX, NACRE_DELTA, NACRE_STORED };

enum {
  NACRE_BITS = 11,    /* of the longest code */
  NACRE_CLASSES = 48, /* of numbers below 2^23 */
  NACRE_REPEATED = 3, /* kinds of match that repeat a distance; then NACRE_ROWS, and one for all others */
  NACRE_ROWS = NACRE_REPEATED,
  NACRE_FIRSTS = 256 + (NACRE_REPEATED + 2) * NACRE_CLASSES,
  NACRE_LOW_CODES = 9, /* the codes before are for first symbols, these for low bytes */
  NACRE_DISTANCE_CODES = NACRE_LOW_CODES + 3,
  NACRE_CODES = NACRE_DISTANCE_CODES + 2,
  NACRE_SHORT_RUN = 14, /* among the lengths of codes: 2 to 17 zeros */
  NACRE_LONG_RUN = 15   /* 18 zeros and more */
};

typedef struct {
  const unsigned char *in, *end;
  uint64_t bits; /* the next ones are the highest */
  unsigned count;
} nacre_reader;

/* At least 57 bits; after the end there are zeros. */
static void nacre_fill(nacre_reader *from) {
  for (; from->count <= 56; from->count += 8)
    if (from->in < from->end) from->bits |= (uint64_t)*from->in++ << (56 - from->count);
}

static unsigned nacre_take(nacre_reader *from, unsigned count) {
  unsigned value = (unsigned)(from->bits >> 1 >> (63 - count));
  from->bits <<= count;
  from->count -= count;
  return value;
}

static unsigned nacre_symbol(nacre_reader *from, const uint16_t *code) {
  unsigned entry = code[from->bits >> (64 - NACRE_BITS)];
  nacre_take(from, entry & 15);
  return entry >> 4;
}

/* A class is a number below 8, or the two highest bits of a number and how many follow them. */
static unsigned nacre_number(nacre_reader *from, unsigned class) {
  if (class < 8) return class;
  unsigned extra = class / 2 - 2;
  return (2 | (class & 1)) << extra | nacre_take(from, extra);
}

static unsigned nacre_symbols(unsigned code) {
  return code < NACRE_LOW_CODES ? NACRE_FIRSTS : code < NACRE_DISTANCE_CODES ? 256 : NACRE_CLASSES;
}

static unsigned nacre_first_code(unsigned before, unsigned near) {
  return 3 * before + (near < 8 ? 0 : near < 512 ? 1 : 2);
}

static unsigned nacre_low_code(unsigned high) { return NACRE_LOW_CODES + (high == 0 ? 0 : high == 255 ? 1 : 2); }

static unsigned nacre_unit(const unsigned char *out, size_t at) {
  return out[2 * at] | (unsigned)out[2 * at + 1] << 8;
}

static void nacre_set(unsigned char *out, size_t at, unsigned unit) {
  out[2 * at] = (unsigned char)unit;
  out[2 * at + 1] = (unsigned char)(unit >> 8);
}

/* Reads the lengths of a canonical code and fills its table: for all next bits, a symbol and how many bits it takes. */
static void nacre_code(nacre_reader *from, uint16_t *code, unsigned symbols) {
  unsigned char lengths[NACRE_FIRSTS] = {0};
  unsigned next = 0, used = 0;
  for (unsigned at = 0; at < symbols;) {
    nacre_fill(from);
    unsigned length = nacre_take(from, 4);
    if (length == NACRE_LONG_RUN) at += 18 + nacre_take(from, 9);
    else if (length == NACRE_SHORT_RUN) at += 2 + nacre_take(from, 4);
    else lengths[at++] = (unsigned char)length;
    used |= 1u << length;
  }
  for (unsigned length = 1; length <= NACRE_BITS; length++)
    for (unsigned at = 0; at < symbols && used >> length & 1; at++)
      if (lengths[at] == length)
        for (unsigned left = 1u << (NACRE_BITS - length); left > 0 && next < 1u << NACRE_BITS; left--)
          code[next++] = (uint16_t)(at << 4 | length);
  while (next < 1u << NACRE_BITS) code[next++] = 0;
}

static void nacre_unpack(const unsigned char *in, size_t in_size, unsigned char *out, size_t out_size) {
  uint16_t codes[NACRE_CODES][1 << NACRE_BITS];
  if (in_size > 0 && in[0] == NACRE_STORED && in_size - 1 == out_size) memcpy(out, in + 1, out_size);
  if (in_size < 4 || in[0] == NACRE_STORED) return;
  unsigned form = in[0];
  size_t row = in[1] | (size_t)in[2] << 8, units = out_size / 2, at = 0;
  if (out_size & 1) out[out_size - 1] = in[3];
  nacre_reader from = {in + 3 + (out_size & 1), in + in_size, 0, 0};
  for (unsigned code = 0; code < NACRE_CODES; code++) nacre_code(&from, codes[code], nacre_symbols(code));
  size_t last[NACRE_REPEATED] = {1, row, 2};
  unsigned before = 0; /* 0 after a unit, 1 after a match with a repeated distance, 2 after another match */
  while (at < units) {
    nacre_fill(&from);
    unsigned near = last[0] <= at ? nacre_unit(out, at - last[0]) : 0;
    unsigned symbol = nacre_symbol(&from, codes[nacre_first_code(before, near)]);
    if (symbol < 256) {
      unsigned difference = symbol << 8 | nacre_symbol(&from, codes[nacre_low_code(symbol)]);
      nacre_set(out, at, difference + (form == NACRE_INDEX ? (unsigned)at : near));
      at++;
      before = 0;
      continue;
    }
    unsigned kind = (symbol - 256) / NACRE_CLASSES;
    size_t length = (size_t)nacre_number(&from, (symbol - 256) % NACRE_CLASSES) + 1, distance;
    before = kind < NACRE_REPEATED ? 1 : 2;
    if (kind < NACRE_REPEATED) {
      distance = last[kind];
    } else {
      nacre_fill(&from);
      symbol = nacre_symbol(&from, codes[NACRE_DISTANCE_CODES + kind - NACRE_ROWS]);
      distance = ((size_t)nacre_number(&from, symbol) + 1) * (kind == NACRE_ROWS ? row : 1);
      kind = NACRE_REPEATED - 1;
    }
    for (; kind > 0; kind--) last[kind] = last[kind - 1];
    last[0] = distance;
    if (distance == 0 || distance > at || length > units - at) return;
    /* Where the two overlap, what was copied is copied again, twice as much each time. */
    for (size_t step; length > 0; at += step, length -= step, distance += step) {
      step = distance < length ? distance : length;
      memcpy(out + 2 * at, out + 2 * (at - distance), 2 * step);
    }
  }
  if (form == NACRE_DELTA)
    for (at = row; at < units; at++) nacre_set(out, at, nacre_unit(out, at) + nacre_unit(out, at - row));
}
