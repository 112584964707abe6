import { crc32, gzipSync } from 'node:zlib'

/** So large that beginning again with an empty window costs nothing. */
const BLOCK_BYTES = 1024 * 1024
/** Enough to see whether a block can be compressed. */
const SAMPLE_BYTES = 32 * 1024
/** A sample that keeps more of its size is compressed already, as archives and backups of datastores are. */
const WORTHLESS_RATIO = 0.95
/** Beyond this level, effort takes several times as long for a few percent. */
const LEVEL = 3
/** The header of a member: gzip, deflated, without a name or a time, by a program of Unix. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
/** The most that a part of deflate which is stored can hold (RFC 1951 section 3.2.4), and the bytes before it. */
const STORED_PART_BYTES = 65_535
const STORED_PART_HEADER_BYTES = 5
/** The checksum and the size at the end of a member. */
const TRAILER_BYTES = 8

/**
 * Compresses a stream as gzip, in members of a block each, which every reader takes for one file (RFC 1952 section 2.2). A block
 * that cannot be compressed is stored: trying would take thirty times as long as everything else. Works in this thread, so
 * that a thread of lower priority does not make the others work for it.
 */
export async function* zip(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  let length = 0
  for await (const piece of stream)
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + BLOCK_BYTES - length)
      block.set(part, length)
      at += part.length
      length += part.length
      if (length < BLOCK_BYTES) continue
      yield zipBlock(block)
      length = 0
    }
  yield zipBlock(block.subarray(0, length))
}

function zipBlock(block: Buffer): Buffer {
  const sample = block.subarray(0, SAMPLE_BYTES)
  const isWorthless =
    sample.length > 0 && gzipSync(sample, { level: LEVEL }).length > sample.length * WORTHLESS_RATIO
  return isWorthless ? store(block) : gzipSync(block, { level: LEVEL })
}

/** As zlib does with level 0, but without parts that only the garbage collector frees. The block must not be empty. */
function store(block: Buffer): Buffer {
  const parts = Math.ceil(block.length / STORED_PART_BYTES)
  const size = HEADER.length + parts * STORED_PART_HEADER_BYTES + block.length + TRAILER_BYTES
  const member = Buffer.allocUnsafeSlow(size)
  let end = HEADER.copy(member)
  for (let at = 0; at < block.length; at += STORED_PART_BYTES) {
    const part = block.subarray(at, at + STORED_PART_BYTES)
    end = member.writeUInt8(at + part.length === block.length ? 1 : 0, end)
    end = member.writeUInt16LE(part.length, end)
    end = member.writeUInt16LE(part.length ^ 0xffff, end)
    end += part.copy(member, end)
  }
  end = member.writeUInt32LE(crc32(block), end)
  member.writeUInt32LE(block.length, end)
  return member
}
