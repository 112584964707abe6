import { createGzip } from 'node:zlib'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'

/** Positions of the fields of a tar header (POSIX pax, "ustar Interchange Format"). */
const HEADER_BYTES = 512
const CHECKSUM_OFFSET = 148
const FOLDERS = 1_000

/** A `.tar.gz` of so many empty files; the maximum number for an archive is written in a second. */
export function archiveOfManyEntries(count: number): Promise<Buffer> {
  const gzip = createGzip({ level: 1 })
  Readable.from(headers(count)).pipe(gzip)
  return buffer(gzip)
}

function* headers(count: number): Generator<Buffer> {
  const perPiece = 1_000
  for (let first = 0; first < count; first += perPiece) {
    const length = Math.min(perPiece, count - first)
    yield Buffer.concat(Array.from({ length }, (_, index) => header(first + index)))
  }
  yield Buffer.alloc(2 * HEADER_BYTES)
}

function header(index: number): Buffer {
  const block = Buffer.alloc(HEADER_BYTES)
  block.write(`folder-${index % FOLDERS}/file-${index}`, 0)
  block.write('0000644\0' + '0000000\0'.repeat(2) + '00000000000\0'.repeat(2), 100)
  block.write(' '.repeat(8), CHECKSUM_OFFSET)
  block.write('0ustar\x0000', 156)
  block.copyWithin(257, 157, 165)
  block.fill(0, 157, 165)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM_OFFSET)
  return block
}
