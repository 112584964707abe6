import { createHash, type Hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { useContext } from '../context.ts'
import { AppError } from '../errors.ts'
import type { ByteRange } from '../http/file.ts'
import { withRenewal } from '../network/renewal.ts'
import { withCurrentKeys, type BucketOptions } from '../options/bucket.ts'
import { hide } from '../text/redaction.ts'
import {
  areKeysRefused,
  ask,
  askText,
  elements,
  textBody,
  type Body,
  type ObjectRequest,
} from './bucket-request.ts'

const MIB = 1024 * 1024
/** A file up to this size is sent in one piece; a larger one in parts, so that only a part that failed is sent again. */
const PART_BYTES = 16 * MIB
/** Read from a file at once. */
const PIECE_BYTES = 256 * 1024
/** Amazon S3 user guide, "Multipart upload limits". */
const MAX_PARTS = 10_000
/** The store has to learn of an aborted upload before the server exits. */
const ABORT_MS = 5_000

/** A file to send. */
interface LocalFile {
  path: string
  size: number
  sha256: string
}

/** One for each set of options, so that all callers use the keys that were read last. */
const buckets = new WeakMap<BucketOptions, Bucket>()

/** The bucket that backups are copied to; null when the server has none. */
export function useBucket(): Bucket | null {
  const { backupBucket } = useContext().options
  if (backupBucket === null) return null
  const bucket = buckets.get(backupBucket) ?? new Bucket(backupBucket)
  buckets.set(backupBucket, bucket)
  return bucket
}

/** A place in a bucket. Files are streamed to and from it: none is ever held in memory. */
export class Bucket {
  #options: BucketOptions

  constructor(options: BucketOptions) {
    this.#options = options
  }

  /** The address of the object of this name. */
  urlOf(name: string): string {
    return `${this.#options.url}/${name}`
  }

  /** Whether an address is in this place. No other is ever requested, since the keys are only for this one. */
  holds(url: string): boolean {
    return url.startsWith(`${this.#options.url}/`)
  }

  /** Writes a file to an address; the store verifies it. Throws `io_error`, and nothing is stored then. */
  async put(url: string, file: LocalFile, signal: AbortSignal): Promise<void> {
    if (file.size > PART_BYTES) return this.#putInParts(url, file, signal)
    const whole = createHash('sha256')
    const body = await partBody(file, 0, file.size, whole, signal)
    assertSame(file, whole)
    await this.#send(url, body, signal)
  }

  /**
   * Reads an object, or a part of it; `size` is that of the whole object. Throws `io_error`, or `not_found`.
   */
  async get(
    url: string,
    signal: AbortSignal,
    range: ByteRange | null = null,
  ): Promise<{ size: number; stream: Readable }> {
    const answer = await this.#ask(ask, { method: 'GET', url, ...(range && { range }) }, signal)
    const whole = { size: Number(answer.headers['content-length']), stream: answer }
    if (!range) return whole
    // A store may ignore ranges (RFC 9110 section 14.2).
    if (answer.statusCode === 200) return { ...whole, stream: partOf(answer, range) }
    const [begins, size] = (answer.headers['content-range'] ?? '').split('/')
    if (begins === `bytes ${range.start}-${range.end - 1}`) return { size: Number(size), stream: answer }
    answer.destroy()
    throw new AppError('io_error', `the bucket sent another part of ${url} than the one requested`)
  }

  /** The names of objects below a folder of this place, in the order of their names. Throws `io_error`. */
  async list(folder: string, signal: AbortSignal): Promise<string[]> {
    const { origin, pathname } = new URL(this.#options.url)
    const [, bucket = '', ...path] = pathname.split('/')
    const prefix = [...path, folder].join('/')
    const names: string[] = []
    for (let after: string | null = null; ;) {
      // ListObjectsV2 of the S3 API reference: at most a thousand at a time.
      const query = new URLSearchParams({
        'list-type': '2',
        prefix,
        ...(after !== null && { 'start-after': after }),
      })
      const listed = await this.#ask(
        askText,
        { method: 'GET', url: `${origin}/${bucket}?${query.toString()}` },
        signal,
      )
      const keys = elements(listed, 'Contents').map((content) => elements(content, 'Key')[0] ?? '')
      names.push(...keys.map((key) => key.slice(prefix.length - folder.length)))
      after = keys.at(-1) ?? null
      if (elements(listed, 'IsTruncated')[0] !== 'true' || after === null) return names
    }
  }

  /** Removes what is at an address, including unfinished uploads. Throws `io_error`. */
  async remove(url: string, signal: AbortSignal): Promise<void> {
    const { origin, pathname } = new URL(url)
    const [, bucket = '', ...path] = pathname.split('/')
    const key = path.join('/')
    const list = `${origin}/${bucket}?uploads&prefix=${encodeURIComponent(key)}`
    const listed = await this.#ask(askText, { method: 'GET', url: list }, signal)
    for (const upload of elements(listed, 'Upload'))
      if (elements(upload, 'Key')[0] === key) await this.#abort(url, elements(upload, 'UploadId')[0]!, signal)
    await this.#ask(askText, { method: 'DELETE', url }, signal).catch(unlessMissing)
  }

  async #putInParts(url: string, file: LocalFile, signal: AbortSignal): Promise<void> {
    const begun = await this.#ask(askText, { method: 'POST', url: `${url}?uploads` }, signal)
    const [upload] = elements(begun, 'UploadId')
    if (upload === undefined)
      throw new AppError(
        'io_error',
        `the bucket ${this.#options.url} started an upload without giving its id`,
      )
    try {
      const tags = await this.#putParts(`${url}?uploadId=${encodeURIComponent(upload)}`, file, signal)
      const list = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
      const body = textBody(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`)
      const whole = `${url}?uploadId=${encodeURIComponent(upload)}`
      await this.#ask(askText, { method: 'POST', url: whole, body }, signal)
    } catch (error) {
      // If this fails, `remove` finds the upload later.
      await this.#abort(url, upload, AbortSignal.timeout(ABORT_MS)).catch(() => {})
      throw error
    }
  }

  /** Sends the parts of a file one after another. Returns the store's ETag of each. */
  async #putParts(url: string, file: LocalFile, signal: AbortSignal): Promise<string[]> {
    const partBytes = Math.max(PART_BYTES, Math.ceil(file.size / MAX_PARTS / MIB) * MIB)
    const whole = createHash('sha256')
    const tags: string[] = []
    for (let start = 0; start < file.size; start += partBytes) {
      const body = await partBody(file, start, Math.min(start + partBytes, file.size), whole, signal)
      const part = `${url}&partNumber=${tags.length + 1}`
      tags.push(await this.#send(part, body, signal))
    }
    assertSame(file, whole)
    return tags
  }

  /**
   * Sends a body. Returns the store's ETag of it. Throws `io_error` also when something other than a store answered with
   * success: a store always sends an ETag (S3 API reference, "PutObject"), and since it identifies an object's bytes, it is
   * never a weak one (RFC 9110 section 8.8.1), such as web servers send for pages.
   */
  async #send(url: string, body: Body, signal: AbortSignal): Promise<string> {
    const answer = await this.#ask(ask, { method: 'PUT', url, body }, signal)
    const tag = answer.headers.etag ?? ''
    const fault = tag === '' ? 'no ETag' : tag.startsWith('W/') ? 'a weak ETag' : null
    // A store sends nothing more.
    if (fault === null) answer.resume()
    else answer.destroy()
    if (fault === null) return tag
    throw new AppError(
      'io_error',
      `what answers at the bucket ${this.#options.url} does not speak Amazon's S3 API: its response has ${fault}`,
    )
  }

  /** Sends a request. If the store refuses the keys, reads them again from their files and retries once with new ones. */
  #ask<T>(
    how: (options: BucketOptions, request: ObjectRequest, signal: AbortSignal) => Promise<T>,
    request: ObjectRequest,
    signal: AbortSignal,
  ): Promise<T> {
    const use = (options: BucketOptions): Promise<T> => how(options, request, signal)
    return withRenewal(this.#options, use, async (fault, refused) => {
      if (!areKeysRefused(fault)) return null
      // Another request may already have read the new keys.
      const other = this.#options === refused ? withCurrentKeys(refused) : this.#options
      if (other === null) return null
      hide(other.secretAccessKey)
      return (this.#options = other)
    })
  }

  async #abort(url: string, upload: string, signal: AbortSignal): Promise<void> {
    const aborted = `${url}?uploadId=${encodeURIComponent(upload)}`
    await this.#ask(askText, { method: 'DELETE', url: aborted }, signal).catch(unlessMissing)
  }
}

/** A part of a stream of bytes. Ends without waiting for what follows it. */
export function partOf(stream: Readable, { start, end }: ByteRange): Readable {
  const pieces = async function* (): AsyncGenerator<Buffer, void> {
    let at = 0
    for await (const piece of stream as AsyncIterable<Buffer>) {
      const part = piece.subarray(Math.max(0, start - at), Math.max(0, end - at))
      at += piece.length
      if (part.length > 0) yield part
      if (at >= end) return
    }
  }
  const part = Readable.from(pieces(), { objectMode: false })
  // If the part is closed before anyone reads it, the generator never starts and so never closes the stream.
  return part.once('close', () => stream.destroy())
}

/** A part of a file, `end` excluded. It is read twice, since its checksum is signed before it is sent. */
async function partBody(
  { path }: LocalFile,
  start: number,
  end: number,
  whole: Hash,
  signal: AbortSignal,
): Promise<Body> {
  const hash = createHash('sha256')
  for await (const piece of readPieces(path, start, end)) {
    signal.throwIfAborted()
    hash.update(piece)
    whole.update(piece)
  }
  return { size: end - start, sha256: hash.digest('hex'), pieces: () => readPieces(path, start, end) }
}

/** Reads a part of a file into the same memory again and again: what streams allocate for it is freed too late. */
async function* readPieces(path: string, start: number, end: number): AsyncGenerator<Buffer, void> {
  const file = await open(path)
  try {
    const memory = Buffer.allocUnsafe(PIECE_BYTES)
    for (let at = start; at < end;) {
      const { bytesRead } = await file.read(memory, 0, Math.min(memory.length, end - at), at)
      if (bytesRead === 0) throw new AppError('io_error', `${path} is shorter than when it was written`)
      yield memory.subarray(0, bytesRead)
      at += bytesRead
    }
  } finally {
    await file.close()
  }
}

function assertSame({ path, sha256 }: LocalFile, whole: Hash): void {
  if (whole.digest('hex') !== sha256)
    throw new AppError('io_error', `the checksum of ${path} has changed since it was written`)
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
}
