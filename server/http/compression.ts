import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Encoding = 'br' | 'gzip'

/** Compressing a smaller answer saves no packet. */
export const MIN_COMPRESSED_BYTES = 1024

/** Beyond this quality, brotli takes several times as long for a few percent. */
const BROTLI_QUALITY = 4

const brotliAsync = promisify(brotliCompress)
const gzipAsync = promisify(gzip)

/** Compresses on another thread. */
export function compress(bytes: Uint8Array, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzipAsync(bytes)
  return brotliAsync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
}

/** The encoding that an Accept-Encoding header prefers (RFC 9110 section 12.5.3), brotli on a tie; null for none. */
export function encodingFor(accepted: string | undefined): Encoding | null {
  const weights = new Map<string, number>()
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length)
    weights.set(name, weight === undefined ? 1 : Number(weight) || 0)
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0
  const best = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip'
  return weightOf(best) > 0 ? best : null
}
