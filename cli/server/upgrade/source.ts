import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { AppError, messageOf } from '#server/errors.ts'
import { PRIVATE_FILE_MODE } from '#server/files.ts'

/** Several times the size of a release. */
const MAX_RELEASE_BYTES = 1024 ** 3
const MAX_TEXT_BYTES = 64 * 1024
/** A server that sends nothing for so long does not send anything. */
const ANSWER_MS = 60_000

/** A release, and the files next to it. */
export interface ReleaseSource {
  /** The name of the release's file. */
  file: string
  /** Reads a small file beside the release. Throws `io_error` when there is none. */
  text(name: string): Promise<string>
  /** Reads the release. */
  bytes(): Promise<AsyncIterable<Uint8Array>>
}

/** The release at a path or an http(s) URL. Throws `invalid_request` when it is neither. */
export function sourceOf(word: string): ReleaseSource {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return fileSource(resolve(word))
  const url = URL.parse(word)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new AppError('invalid_request', `${word} is not a file or an http(s) URL`)
  return urlSource(url)
}

function fileSource(path: string): ReleaseSource {
  return {
    file: basename(path),
    async text(name) {
      const file = join(dirname(path), name)
      if ((await stat(file).catch((cause: unknown) => fail(file, cause))).size > MAX_TEXT_BYTES)
        throw new AppError('io_error', `${file} is too large`)
      return textOf(createReadStream(file), file)
    },
    async bytes() {
      await stat(path).catch((cause: unknown) => fail(path, cause))
      return createReadStream(path) as AsyncIterable<Uint8Array>
    },
  }
}

function urlSource(url: URL): ReleaseSource {
  const get = async (at: URL): Promise<AsyncIterable<Uint8Array>> => {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error('it does not answer')), ANSWER_MS)
    try {
      const response = await fetch(at, { signal: late.signal })
      if (!response.ok || response.body === null) throw new Error(`the answer is ${response.status}`)
      return Readable.fromWeb(response.body) as AsyncIterable<Uint8Array>
    } catch (cause) {
      return fail(at.href, cause)
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    file: decodeURIComponent(basename(url.pathname)),
    text: async (name) => {
      const at = new URL(name, url)
      at.search = url.search
      return textOf(await get(at), at.href)
    },
    bytes: () => get(url),
  }
}

/** Writes a release to a file. Returns its SHA-256. */
export async function download(source: ReleaseSource, path: string): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, 'wx', PRIVATE_FILE_MODE)
  let bytes = 0
  try {
    for await (const piece of await source.bytes()) {
      bytes += piece.length
      if (bytes > MAX_RELEASE_BYTES)
        throw new AppError('io_error', `${source.file} is larger than any release`)
      hash.update(piece)
      await file.writeFile(piece)
    }
  } catch (cause) {
    return fail(source.file, cause)
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}

async function textOf(pieces: AsyncIterable<Uint8Array>, name: string): Promise<string> {
  const found: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (bytes > MAX_TEXT_BYTES) throw new AppError('io_error', `${name} is too large`)
    found.push(piece)
  }
  return Buffer.concat(found).toString()
}

function fail(name: string, cause: unknown): never {
  if (cause instanceof AppError) throw cause
  throw new AppError('io_error', `${name} cannot be read: ${messageOf(cause)}; nothing was changed`, {
    cause,
  })
}
