import type { Transform } from 'node:stream'
import { zlib } from '../modules.ts'
import type { Coding } from './codings.ts'

/**
 * Answers of one worker that are compressed at a time; each costs about 0.9 MiB with what waits for a slow reader, and
 * takes its turn in the process's four threads. Those above it go out as they came.
 */
export const MAX_COMPRESSORS = 64
/** What waits before a compressor, and what waits after it, when the client or the processor is slow. */
const WAITING_BYTES = 64 * 1024
/** As much of the content is looked back at; zstd and brotli would take megabytes for more. */
const WINDOW_BITS = 17
/** Each finds most of what there is to find in a tenth of the time that the last few percent take. */
const GZIP_LEVEL = 5
const BROTLI_QUALITY = 4
const ZSTD_LEVEL = 3

const common = { highWaterMark: WAITING_BYTES }

/** What makes each coding, the cheapest first. What came is out at once, however slowly the rest comes. */
const MAKERS: Record<Exclude<Coding, null>, () => Transform> = {
  zstd() {
    const { createZstdCompress, constants } = zlib()
    const params = {
      [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL,
      [constants.ZSTD_c_windowLog]: WINDOW_BITS,
    }
    return createZstdCompress({ ...common, flush: constants.ZSTD_e_flush, params })
  },
  br() {
    const { createBrotliCompress, constants } = zlib()
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
    }
    return createBrotliCompress({ ...common, flush: constants.BROTLI_OPERATION_FLUSH, params })
  },
  gzip() {
    const { createGzip, constants } = zlib()
    return createGzip({ ...common, flush: constants.Z_SYNC_FLUSH, level: GZIP_LEVEL })
  },
}

/** What answers can be compressed by; of those that a client likes as well the first. */
export const LIVE_CODINGS = Object.keys(MAKERS) as Exclude<Coding, null>[]

let open = 0

/** A stream that compresses one answer; null when as many are compressed as may be. */
export function makeCompressor(coding: Exclude<Coding, null>): Transform | null {
  if (open >= MAX_COMPRESSORS) return null
  open++
  return MAKERS[coding]().once('close', () => open--)
}
