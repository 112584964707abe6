import { MAX_BLOCK_BYTES } from './decoder.ts'
import { ConnectionFault, ERROR, FLAG } from './protocol.ts'

/** A head of 64 KiB takes four frames; a client that sends it in tiny frames wants to keep us busy. */
const MAX_FRAMES = 16
const PRIORITY_BYTES = 5
const NONE: Buffer[] = []

/** A complete header block. */
export interface HeaderBlock {
  id: number
  endStream: boolean
  bytes: Buffer
  start: number
  end: number
  /** Whether it says that its stream depends on itself (RFC 7540 5.3.1). */
  isSelfDependent: boolean
}

/** Joins header blocks that come in several frames (RFC 9113 6.10). */
export class HeaderBlocks {
  /** The stream whose block is not complete; 0 for none. No other frame may come in between. */
  openId = 0
  #endStream = false
  #isSelfDependent = false
  #parts: Buffer[] = NONE
  #bytes = 0

  /** Takes the content of HEADERS. Returns the block once it is complete. Throws ConnectionFault. */
  begin(id: number, flags: number, bytes: Buffer, start: number, end: number): HeaderBlock | null {
    if ((flags & FLAG.padded) !== 0) {
      const padding = start < end ? bytes[start]! : end
      start++
      end -= padding
    }
    const hasPriority = (flags & FLAG.priority) !== 0
    const contentStart = hasPriority ? start + PRIORITY_BYTES : start
    if (contentStart > end) throw new ConnectionFault(ERROR.protocol, 'HEADERS has more padding than content')
    const isSelfDependent = hasPriority && dependencyIn(bytes, start) === id
    const endStream = (flags & FLAG.endStream) !== 0
    if ((flags & FLAG.endHeaders) !== 0)
      return { id, endStream, bytes, start: contentStart, end, isSelfDependent }
    this.openId = id
    this.#endStream = endStream
    this.#isSelfDependent = isSelfDependent
    this.#parts = []
    this.#bytes = 0
    this.#add(bytes, contentStart, end)
    return null
  }

  /** Takes the content of CONTINUATION. Returns the block once it is complete. Throws ConnectionFault. */
  continueBlock(flags: number, bytes: Buffer, start: number, end: number): HeaderBlock | null {
    this.#add(bytes, start, end)
    if ((flags & FLAG.endHeaders) === 0) return null
    const whole = Buffer.concat(this.#parts, this.#bytes)
    const id = this.openId
    this.openId = 0
    this.#parts = NONE
    return {
      id,
      endStream: this.#endStream,
      bytes: whole,
      start: 0,
      end: whole.length,
      isSelfDependent: this.#isSelfDependent,
    }
  }

  #add(bytes: Buffer, start: number, end: number): void {
    this.#bytes += end - start
    if (this.#bytes > MAX_BLOCK_BYTES || this.#parts.length >= MAX_FRAMES)
      throw new ConnectionFault(ERROR.enhanceYourCalm, 'a header block is too long')
    this.#parts.push(Buffer.from(bytes.subarray(start, end)))
  }
}

/** Returns the stream named by a priority of RFC 7540 whose content begins at `at`. */
export function dependencyIn(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) & 0x7fffffff
}
