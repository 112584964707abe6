import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defineEventHandler, getRequestHeader, setResponseHeaders } from 'h3'
import assets from '#dashboard-assets'
import { encodingFor } from '#server/http/compression.ts'
import { isKnown } from '#server/http/conditional.ts'
import { assetAt } from '#server/http/pages.ts'
import { refusalOfUnmatched } from '#server/http/unmatched.ts'

/** The names of the files contain a hash of their content, so a file never changes under its name. */
const KEPT = { 'cache-control': `public, max-age=${365 * 24 * 60 * 60}, immutable` }

const SUFFIXES = { br: '.br', gzip: '.gz' }

/**
 * All of them together are 2 MiB. Kept in memory, so that clients that ask again and again and do not read share the same
 * bytes.
 */
const read = new Map<string, Promise<Buffer>>()

/** A file of the dashboard, as compressed by the build. */
export default defineEventHandler(async (event) => {
  const path = event.path.split('?')[0]!
  const plain = assetAt(path)
  if (!plain) throw await refusalOfUnmatched(event)
  const encoding = encodingFor(getRequestHeader(event, 'accept-encoding'))
  const compressed = encoding && assets[path + SUFFIXES[encoding]]
  const { etag, size, path: file } = compressed ?? plain
  const bytes = await bytesOf(file)
  setResponseHeaders(event, KEPT)
  if (isKnown(event, etag)) return
  setResponseHeaders(event, {
    'content-type': plain.type,
    'content-length': size,
    ...(compressed && { 'content-encoding': encoding }),
  })
  event.node.res.end(bytes)
})

function bytesOf(file: string): Promise<Buffer> {
  const known = read.get(file)
  if (known) return known
  const bytes = readFile(join(dirname(process.argv[1]!), file))
  read.set(file, bytes)
  bytes.catch(() => read.delete(file))
  return bytes
}
