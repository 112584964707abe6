import type { Transform } from 'node:stream'
import { zlib } from '../modules.ts'
import type { Coding } from './codings.ts'

/**
 * Answers of one worker that are compressed at a time; each costs at most 0.8 MiB with what waits for a slow reader, and
 * takes its turn in the threads of the process. Those above it go out as they came.
 */
export const MAX_COMPRESSORS = 64
/** What waits before a compressor, and what waits after it, when the client or the processor is slow. */
const WAITING_BYTES = 64 * 1024
/**
 * Content that is there as a whole is compressed by the worker's own thread up to here: 0.1 to 0.2 ms, of the worst for
 * gzip 0.8. To give as little to another, in pieces of a stream, takes half as long again and more.
 */
export const WHOLE_BYTES = 16 * 1024
/** As much of the content is looked back at; zstd and brotli would take megabytes for more. */
const WINDOW_BITS = 17
/** The same of gzip, whose format has no more, and the least that zlib has for it. */
const GZIP_WINDOW_BITS = { most: 15, least: 9 }
/** By default, as zlib.h has it: more entries than this take memory and find little more. */
const GZIP_MEMORY_LEVEL = 8
/** Each finds most of what there is to find in a tenth of the time that the last few percent take. */
const GZIP_LEVEL = 5
const BROTLI_QUALITY = 3
const ZSTD_LEVEL = 3
/**
 * Entries of the tables by which zstd finds what it has seen. By its level they have a MiB, and to have the kernel give
 * that anew for each answer takes longer than to compress 16 KiB; with these it finds one percent less in a large one.
 */
const ZSTD_TABLE_BITS = 14

const common = { highWaterMark: WAITING_BYTES }

/** How a coding is made: of what comes piece by piece, or of all at once, by the thread that asks. */
interface Way {
  stream(): Transform
  whole(content: Buffer): Buffer
}

/**
 * What makes each coding, the cheapest first. What came is out at once, however slowly the rest comes. For content whose
 * length is known no more memory is taken than that has use for.
 */
const WAYS: Record<Exclude<Coding, null>, (length: number | null) => Way> = {
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
    const { most, least } = GZIP_WINDOW_BITS
    const windowBits = length === null ? most : Math.min(most, Math.max(least, bitsOf(length)))
    // As many symbols as fill the window's content in one block.
    const memLevel = Math.min(GZIP_MEMORY_LEVEL, windowBits - 6)
    const options = { ...common, flush: constants.Z_SYNC_FLUSH, level: GZIP_LEVEL, windowBits, memLevel }
    return {
      stream: () => createGzip(options),
      whole: (content) => gzipSync(content, options),
    }
  },
}

/** The exponent of the least power of two that is no less than `length`. */
function bitsOf(length: number): number {
  return Math.ceil(Math.log2(length))
}

/** What answers can be compressed by; of those that a client likes as well the first. */
export const LIVE_CODINGS = Object.keys(WAYS) as Exclude<Coding, null>[]

let open = 0

/** Compresses one answer, and has its place among those that are compressed at a time until it is done or released. */
export class Compressor {
  readonly #coding: Exclude<Coding, null>
  readonly #length: number | null
  #holdsPlace = true

  private constructor(coding: Exclude<Coding, null>, length: number | null) {
    this.#coding = coding
    this.#length = length
  }

  /** One for an answer of so many bytes where `length` is not null; null when as many are compressed as may be. */
  static take(coding: Exclude<Coding, null>, length: number | null): Compressor | null {
    if (open >= MAX_COMPRESSORS) return null
    open++
    return new Compressor(coding, length)
  }

  /** A stream for content that comes in pieces, which releases it when it is closed. */
  stream(): Transform {
    return WAYS[this.#coding](this.#length)
      .stream()
      .once('close', () => this.release())
  }

  /**
   * Compresses all of the content. It is released when the worker next looks at its connections: of answers that are ready
   * at once, too, only so many hold up the others.
   */
  whole(content: Buffer): Buffer {
    setImmediate(() => this.release())
    return WAYS[this.#coding](content.length).whole(content)
  }

  /** Gives up its place. */
  release(): void {
    if (!this.#holdsPlace) return
    this.#holdsPlace = false
    open--
  }
}
