import type { Transform } from 'node:stream'
import { zlib } from '../modules.ts'
import type { Coding } from './codings.ts'

/**
 * How many answers one worker compresses at a time. Each costs at most 0.8 MiB, including what waits for a slow reader, and
 * shares the threads of the process. Answers beyond the limit are sent uncompressed.
 */
export const MAX_COMPRESSORS = 64
/** Bytes that may wait before a compressor, and after it, when the client or the processor is slow. */
const WAITING_BYTES = 64 * 1024
/**
 * Content up to this size that is there as a whole is compressed on the worker's own thread. That takes 0.1 to 0.2 ms, for
 * gzip up to 0.8. Handing it to another thread, in pieces of a stream, takes half as long again or more.
 */
export const WHOLE_BYTES = 16 * 1024
/** How far back compressors look, as a power of two. For more, zstd and brotli would take megabytes. */
const WINDOW_BITS = 17
/** The same for gzip: its format allows no more than the maximum, and zlib no less than the minimum. */
const GZIP_WINDOW_BITS = { max: 15, min: 9 }
/** The default of zlib.h: more entries take memory and find little more. */
const GZIP_MEMORY_LEVEL = 8
/** Each level finds most of the redundancy in a tenth of the time that the last few percent would take. */
const GZIP_LEVEL = 5
const BROTLI_QUALITY = 3
const ZSTD_LEVEL = 3
/**
 * Entries of the tables in which zstd looks up what it has seen, as a power of two. By default they take a MiB, and getting
 * that from the kernel for each answer takes longer than compressing 16 KiB. These find 1 % less in a large answer.
 */
const ZSTD_TABLE_BITS = 14

const common = { highWaterMark: WAITING_BYTES }

/** How a coding is produced: piece by piece, or all at once on the calling thread. */
interface Encoder {
  stream(): Transform
  whole(content: Buffer): Buffer
}

/**
 * The encoders of each coding, the cheapest first. They flush after each piece, so a slow upstream does not delay what has
 * already arrived. If the length is known, they take no more memory than it needs.
 */
const ENCODERS: Record<Exclude<Coding, null>, (length: number | null) => Encoder> = {
  zstd(length) {
    const { createZstdCompress, zstdCompressSync, constants } = zlib()
    const params = {
      [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL,
      [constants.ZSTD_c_windowLog]: WINDOW_BITS,
      [constants.ZSTD_c_hashLog]: ZSTD_TABLE_BITS,
      [constants.ZSTD_c_chainLog]: ZSTD_TABLE_BITS,
    }
    const known = length === null ? {} : { pledgedSrcSize: length }
    const options = { ...common, ...known, flush: constants.ZSTD_e_flush, params }
    return {
      stream: () => createZstdCompress(options),
      whole: (content) => zstdCompressSync(content, options),
    }
  },
  br() {
    const { createBrotliCompress, brotliCompressSync, constants } = zlib()
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
    }
    const options = { ...common, flush: constants.BROTLI_OPERATION_FLUSH, params }
    return {
      stream: () => createBrotliCompress(options),
      whole: (content) => brotliCompressSync(content, options),
    }
  },
  gzip(length) {
    const { createGzip, gzipSync, constants } = zlib()
    const { max, min } = GZIP_WINDOW_BITS
    const windowBits = length === null ? max : Math.min(max, Math.max(min, bitsOf(length)))
    // As many symbols as fill the content of the window in one block.
    const memLevel = Math.min(GZIP_MEMORY_LEVEL, windowBits - 6)
    const options = { ...common, flush: constants.Z_SYNC_FLUSH, level: GZIP_LEVEL, windowBits, memLevel }
    return {
      stream: () => createGzip(options),
      whole: (content) => gzipSync(content, options),
    }
  },
}

/** Returns the exponent of the smallest power of two that is at least `length`. */
function bitsOf(length: number): number {
  return Math.ceil(Math.log2(length))
}

/** The codings that answers can be compressed with. The first one wins if a client likes several equally. */
export const LIVE_CODINGS = Object.keys(ENCODERS) as Exclude<Coding, null>[]

let open = 0

/** Compresses one answer. It counts towards `MAX_COMPRESSORS` until it is done or released. */
export class Compressor {
  readonly #coding: Exclude<Coding, null>
  readonly #length: number | null
  #holdsPlace = true

  private constructor(coding: Exclude<Coding, null>, length: number | null) {
    this.#coding = coding
    this.#length = length
  }

  /** Returns a compressor for an answer of `length` bytes (null: unknown), or null when the limit is reached. */
  static take(coding: Exclude<Coding, null>, length: number | null): Compressor | null {
    if (open >= MAX_COMPRESSORS) return null
    open++
    return new Compressor(coding, length)
  }

  /** Returns a stream for content that comes in pieces. Closing it releases the compressor. */
  stream(): Transform {
    return ENCODERS[this.#coding](this.#length)
      .stream()
      .once('close', () => this.release())
  }

  /**
   * Compresses all of the content. The compressor is released only in the next turn of the event loop, so that answers that
   * arrive at once cannot hold up the others beyond the limit either.
   */
  whole(content: Buffer): Buffer {
    setImmediate(() => this.release())
    return ENCODERS[this.#coding](content.length).whole(content)
  }

  /** Frees the place among the answers that are compressed at a time. */
  release(): void {
    if (!this.#holdsPlace) return
    this.#holdsPlace = false
    open--
  }
}
