import { readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { CODINGS, type Coding } from '#proxy/compression/codings.ts'
import { gainsByCoding, MIN_COMPRESSED_BYTES } from '#proxy/compression/gains.ts'
import { mediaType } from '#proxy/sites/media-types.ts'

/** A larger file is rarely text, and would need more memory than the source reader may use. */
const MAX_FILE_BYTES = 8 * 1024 ** 2
/** A deploy is not delayed longer than this; the remaining files are served uncompressed. */
const MAX_MS = 20_000
/** A variant that saves less than a tenth is not worth its space. */
const MAX_SHARE = 0.9
/** Above this quality, brotli takes ten times as long to save another twentieth. */
const BROTLI_QUALITY = 9
/** Above this level, zstd needs hundreds of megabytes to save a few percent. */
const ZSTD_LEVEL = 12
const GZIP_LEVEL = 9

const [brotli, zstd, deflate] = [promisify(brotliCompress), promisify(zstdCompress), promisify(gzip)]

const ENCODERS: Record<Exclude<Coding, null>, (content: Buffer) => Promise<Buffer>> = {
  br: (content) =>
    brotli(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  zstd: (content) => zstd(content, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }),
  gzip: (content) => deflate(content, { level: GZIP_LEVEL }),
}

/**
 * Adds compressed variants next to the files of a folder, in the codings that browsers accept, where they save something and
 * the folder does not bring its own. Returns whether there was time for all files.
 */
export async function precompress(folder: string): Promise<boolean> {
  const until = performance.now() + MAX_MS
  for await (const path of filesBelow(folder)) {
    if (!gainsByCoding(mediaType(path))) continue
    if (performance.now() > until) return false
    await compressFile(path)
  }
  return true
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  // Read completely first, so that the added variants are not visited.
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else yield path
  }
}

async function compressFile(path: string): Promise<void> {
  const { size, mtime } = await stat(path)
  if (size < MIN_COMPRESSED_BYTES || size > MAX_FILE_BYTES) return
  const content = await readFile(path)
  for (const { suffix, coding } of CODINGS) {
    const encoded = await ENCODERS[coding](content)
    if (encoded.length > size * MAX_SHARE) continue
    const variant = path + suffix
    const isMade = await writeFile(variant, encoded, { flag: 'wx' }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        // A variant that came with the folder is kept.
        if (error.code === 'EEXIST' || error.code === 'ENAMETOOLONG') return false
        throw error
      },
    )
    if (isMade) await utimes(variant, mtime, mtime)
  }
}
