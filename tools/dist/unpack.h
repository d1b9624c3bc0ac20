/* Unpacks one table: the LZ4 block format. The input was made by pack.c in the same build, so it is not checked beyond
 * its two ends. */

#include <stddef.h>
#include <string.h>

static size_t nacre_length(const unsigned char **in, size_t length) {
  if (length == 15) {
    unsigned char more;
    do {
      more = *(*in)++;
      length += more;
    } while (more == 255);
  }
  return length;
}

static void nacre_unpack(const unsigned char *in, size_t in_size, unsigned char *out, size_t out_size) {
  const unsigned char *in_end = in + in_size;
  unsigned char *out_end = out + out_size;
  while (in < in_end) {
    unsigned token = *in++;
    size_t literals = nacre_length(&in, token >> 4);
    if (literals > (size_t)(in_end - in) || literals > (size_t)(out_end - out)) return;
    memcpy(out, in, literals);
    in += literals;
    out += literals;
    if (in >= in_end) return;
    size_t offset = in[0] | (size_t)in[1] << 8;
    in += 2;
    size_t length = nacre_length(&in, token & 15) + 4;
    if (length > (size_t)(out_end - out)) return;
    const unsigned char *from = out - offset;
    if (offset >= length) {
      memcpy(out, from, length);
      out += length;
      continue;
    }
    /* The two overlap: what was copied is copied again, twice as much each time. */
    while (length > 0) {
      size_t step = (size_t)(out - from) < length ? (size_t)(out - from) : length;
      memcpy(out, from, step);
      out += step;
      length -= step;
    }
  }
}
