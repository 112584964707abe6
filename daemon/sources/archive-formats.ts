/** The offset of the magic in a tar header (POSIX pax, "ustar Interchange Format"). */
const TAR_MAGIC_OFFSET = 257

/** How many bytes of a file are needed to recognize its format. */
export const SNIFFED_BYTES = TAR_MAGIC_OFFSET + 5

/** The first bytes of formats that are sent by mistake, from their specifications. */
const MAGICS: [bytes: number[], name: string][] = [
  [[0x50, 0x4b, 0x03, 0x04], 'a zip file'],
  [[0x50, 0x4b, 0x05, 0x06], 'an empty zip file'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], 'xz-compressed'],
  [[0x42, 0x5a, 0x68], 'bzip2-compressed'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'zstd-compressed'],
  [[0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], 'a 7-Zip file'],
  [[0x52, 0x61, 0x72, 0x21], 'a RAR file'],
  [[0x2d, 0x2d], 'a multipart form, not the bare file'],
]

/** The format of a file that is not gzip-compressed, from its beginning; null if it is not known (yet). */
export function foreignFormat(start: Buffer): string | null {
  for (const [bytes, name] of MAGICS) {
    if (start.length >= bytes.length && bytes.every((byte, at) => start[at] === byte)) return name
  }
  if (start.subarray(TAR_MAGIC_OFFSET, SNIFFED_BYTES).toString('latin1') === 'ustar') {
    return 'a tar archive without compression'
  }
  return null
}
