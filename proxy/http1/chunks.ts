import { CR, LF, TOKEN, VALUE, LOWER } from './bytes.ts'
import { CLAIMED } from './field-kinds.ts'
import { withoutWhitespace } from './whitespace.ts'

const MAX_SIZE_DIGITS = 16
/** Chunk extensions are of use only to attackers who hide requests in them. */
const MAX_EXTENSION_BYTES = 256
const MAX_TRAILER_BYTES = 8 * 1024

/** Fields that a receiver would act upon if it merges trailers into the head (RFC 9110 6.5.1). */
const FORBIDDEN_TRAILERS = new Set([
  ...CLAIMED,
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'max-forwards',
  'proxy',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-real-ip',
  'x-request-id',
])

const SIZE = 0
const SIZE_MORE = 1
const EXTENSION_NAME_START = 2
const EXTENSION_NAME = 3
const EXTENSION_VALUE_START = 4
const EXTENSION_TOKEN = 5
const EXTENSION_QUOTED = 6
const EXTENSION_ESCAPE = 7
const EXTENSION_END = 8
const SIZE_LF = 9
const DATA = 10
const DATA_CR = 11
const DATA_LF = 12
const TRAILER_START = 13
const TRAILER_NAME = 14
const TRAILER_VALUE = 15
const TRAILER_LF = 16
const LAST_LF = 17
const DONE = 18

/** Follows chunked framing (RFC 9112 7.1) through a body that is relayed unchanged, and finds its end. */
export class Chunks {
  #state = SIZE
  #size = 0
  #digits = 0
  #extensionBytes = 0
  #trailerBytes = 0
  #trailerName = ''
  #trailerValue = ''
  /** Alternates names in lower case and values. */
  trailers: string[] = []
  /** Bytes of data so far. */
  taken = 0
  /** After `scan` with an output: the index after the copied data. */
  written = 0

  reset(): void {
    this.taken = 0
    this.#state = SIZE
    this.#size = 0
    this.#digits = 0
    this.#extensionBytes = 0
    this.#trailerBytes = 0
    // Not emptied: the caller that got the array may still need it.
    if (this.trailers.length > 0) this.trailers = []
  }

  get done(): boolean {
    return this.#state === DONE
  }

  /**
   * Reads `input[at, end)`. Returns the index after the body if its end was found, `end` if more must come, or -1 for bad
   * framing. With `output`, only the data is copied there, from `to` on.
   */
  scan(input: Buffer, at: number, end: number, output?: Buffer, to = 0): number {
    this.written = to
    while (at < end) {
      if (this.#state === DATA) {
        const length = Math.min(end - at, this.#size)
        if (output) this.written += input.copy(output, this.written, at, at + length)
        at += length
        this.taken += length
        this.#size -= length
        if (this.#size === 0) this.#state = DATA_CR
        continue
      }
      if (!this.#step(input[at++]!)) return -1
      if (this.#state === DONE) return at
    }
    return at
  }

  /** Reads one byte that is not data; false if it is not allowed there. */
  #step(byte: number): boolean {
    switch (this.#state) {
      case SIZE:
      case SIZE_MORE:
        return this.#sizeByte(byte)
      case SIZE_LF:
        this.#state = this.#size === 0 ? TRAILER_START : DATA
        return byte === LF
      case DATA_CR:
        this.#state = DATA_LF
        return byte === CR
      case DATA_LF:
        this.#state = SIZE
        this.#digits = 0
        this.#extensionBytes = 0
        return byte === LF
      case TRAILER_START:
      case TRAILER_NAME:
      case TRAILER_VALUE:
      case TRAILER_LF:
        return this.#trailerByte(byte)
      case LAST_LF:
        this.#state = DONE
        return byte === LF
      default:
        return ++this.#extensionBytes <= MAX_EXTENSION_BYTES && this.#extensionByte(byte)
    }
  }

  #sizeByte(byte: number): boolean {
    const lower = LOWER[byte]!
    const digit = lower >= 48 && lower <= 57 ? lower - 48 : lower >= 97 && lower <= 102 ? lower - 87 : -1
    if (digit >= 0) {
      this.#size = this.#size * 16 + digit
      this.#state = SIZE_MORE
      return ++this.#digits <= MAX_SIZE_DIGITS && Number.isSafeInteger(this.#size)
    }
    return this.#state === SIZE_MORE && this.#endOrExtension(byte)
  }

  #endOrExtension(byte: number): boolean {
    this.#state = byte === CR ? SIZE_LF : EXTENSION_NAME_START
    return byte === CR || byte === 59
  }

  /** Only `;name`, `;name=token` and `;name="quoted"` are allowed, without the white space that the RFC calls bad anyway. */
  #extensionByte(byte: number): boolean {
    switch (this.#state) {
      case EXTENSION_NAME_START:
        this.#state = EXTENSION_NAME
        return TOKEN[byte] === 1
      case EXTENSION_NAME:
        if (TOKEN[byte] === 1) return true
        if (byte !== 61) return this.#endOrExtension(byte)
        this.#state = EXTENSION_VALUE_START
        return true
      case EXTENSION_VALUE_START:
        this.#state = byte === 34 ? EXTENSION_QUOTED : EXTENSION_TOKEN
        return byte === 34 || TOKEN[byte] === 1
      case EXTENSION_TOKEN:
        return TOKEN[byte] === 1 || this.#endOrExtension(byte)
      case EXTENSION_QUOTED:
        if (byte === 34) this.#state = EXTENSION_END
        else if (byte === 92) this.#state = EXTENSION_ESCAPE
        return VALUE[byte] === 1
      case EXTENSION_ESCAPE:
        this.#state = EXTENSION_QUOTED
        return VALUE[byte] === 1
      default:
        return this.#endOrExtension(byte)
    }
  }

  #trailerByte(byte: number): boolean {
    if (++this.#trailerBytes > MAX_TRAILER_BYTES) return false
    switch (this.#state) {
      case TRAILER_START:
        if (byte === CR) {
          this.#state = LAST_LF
          return true
        }
        this.#trailerName = String.fromCharCode(LOWER[byte]!)
        this.#state = TRAILER_NAME
        return TOKEN[byte] === 1
      case TRAILER_NAME:
        if (TOKEN[byte] === 1) {
          this.#trailerName += String.fromCharCode(LOWER[byte]!)
          return true
        }
        this.#state = TRAILER_VALUE
        this.#trailerValue = ''
        return byte === 58 && trailerAllowed(this.#trailerName)
      case TRAILER_VALUE:
        if (byte === CR) {
          this.#state = TRAILER_LF
          this.trailers.push(this.#trailerName, withoutWhitespace(this.#trailerValue))
          return true
        }
        this.#trailerValue += String.fromCharCode(byte)
        return VALUE[byte] === 1
      default:
        this.#state = TRAILER_START
        return byte === LF
    }
  }
}

function trailerAllowed(name: string): boolean {
  const folded = name.replaceAll('_', '-')
  return !FORBIDDEN_TRAILERS.has(folded) && !folded.startsWith('x-forwarded-')
}
