import { createHash, type Hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { useContext } from '../context.ts'
import { AppError } from '../errors.ts'
import type { ByteRange } from '../http/file.ts'
import { withRenewal } from '../network/renewal.ts'
import { withKeysOfNow, type BucketOptions } from '../options/bucket.ts'
import { hide } from '../text/redaction.ts'
import { areKeysRefused, ask, askText, elements, textBody, type Asked, type Body } from './bucket-request.ts'

const MIB = 1024 * 1024
/** A file up to this is sent at once; of one that is larger, a part that failed is all that is sent again. */
const PART_BYTES = 16 * MIB
/** Of a file, read at once. */
const PIECE_BYTES = 256 * 1024
/** Amazon S3 user guide, "Multipart upload limits". */
const MAX_PARTS = 10_000
/** What is called off has to be told to the store before the server ends. */
const ABORT_MS = 5_000

/** A file that is to be sent. */
interface LocalFile {
  path: string
  size: number
  sha256: string
}

/** One for each set of options, so that keys which were read again are used by all callers. */
const buckets = new WeakMap<BucketOptions, Bucket>()

/** The bucket that backups are copied to; null when the server has none. */
export function useBucket(): Bucket | null {
  const { backupBucket } = useContext().options
  if (backupBucket === null) return null
  const bucket = buckets.get(backupBucket) ?? new Bucket(backupBucket)
  buckets.set(backupBucket, bucket)
  return bucket
}

/** A place in a bucket. Files go there and come back as streams: none is ever in memory. */
export class Bucket {
  #options: BucketOptions

  constructor(options: BucketOptions) {
    this.#options = options
  }

  /** The address of the object of this name. */
  urlOf(name: string): string {
    return `${this.#options.url}/${name}`
  }

  /** Whether an address is one of this place: no other is ever asked for, since only this one's keys are known. */
  holds(url: string): boolean {
    return url.startsWith(`${this.#options.url}/`)
  }

  /** Writes a file to an address; the store checks what arrives. Throws `io_error`; nothing is there then. */
  async put(url: string, file: LocalFile, signal: AbortSignal): Promise<void> {
    if (file.size > PART_BYTES) return this.#putInParts(url, file, signal)
    const whole = createHash('sha256')
    const body = await partBody(file, 0, file.size, whole, signal)
    assertSame(file, whole)
    await this.#send(url, body, signal)
  }

  /**
   * Reads an object, or a part of it; `size` is of all of it. Throws `io_error`, or `not_found` when there is none.
   */
  async get(
    url: string,
    signal: AbortSignal,
    range: ByteRange | null = null,
  ): Promise<{ size: number; stream: Readable }> {
    const answer = await this.#ask(ask, { method: 'GET', url, ...(range && { range }) }, signal)
    const whole = { size: Number(answer.headers['content-length']), stream: answer }
    if (!range) return whole
    // A store may know nothing of ranges (RFC 9110 section 14.2).
    if (answer.statusCode === 200) return { ...whole, stream: partOf(answer, range) }
    const [begins, size] = (answer.headers['content-range'] ?? '').split('/')
    if (begins === `bytes ${range.start}-${range.end - 1}`) return { size: Number(size), stream: answer }
    answer.destroy()
    throw new AppError('io_error', `the bucket was asked for a part of ${url} and sent another`)
  }

  /** Removes what there is at an address, uploads that were never finished too. Throws `io_error`. */
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
      throw new AppError('io_error', `the bucket ${this.#options.url} began an upload without an id`)
    try {
      const tags = await this.#putParts(`${url}?uploadId=${encodeURIComponent(upload)}`, file, signal)
      const list = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
      const body = textBody(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`)
      const whole = `${url}?uploadId=${encodeURIComponent(upload)}`
      await this.#ask(askText, { method: 'POST', url: whole, body }, signal)
    } catch (error) {
      // What cannot be said now is found by `remove` later.
      await this.#abort(url, upload, AbortSignal.timeout(ABORT_MS)).catch(() => {})
      throw error
    }
  }

  /** Sends the parts of a file one after the other; answers with what the store calls each. */
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
   * Sends a body; answers with what the store calls it. Throws `io_error` also where something else answered that all is well:
   * a store always says an ETag (S3 API reference, "PutObject"), and as that of an object's bytes it is never a weak one
   * (RFC 9110 section 8.8.1), as web servers make for pages.
   */
  async #send(url: string, body: Body, signal: AbortSignal): Promise<string> {
    const answer = await this.#ask(ask, { method: 'PUT', url, body }, signal)
    const tag = answer.headers.etag ?? ''
    const fault = tag === '' ? 'no ETag' : tag.startsWith('W/') ? 'a weak ETag' : null
    // Stores have nothing more to say.
    if (fault === null) answer.resume()
    else answer.destroy()
    if (fault === null) return tag
    throw new AppError(
      'io_error',
      `what answers at the bucket ${this.#options.url} is no store with Amazon's S3 API: it gave ${fault}`,
    )
  }

  /** Asks the store; once more with the keys that their files hold now when it refuses those of before. */
  #ask<T>(
    how: (options: BucketOptions, asked: Asked, signal: AbortSignal) => Promise<T>,
    asked: Asked,
    signal: AbortSignal,
  ): Promise<T> {
    const use = (options: BucketOptions): Promise<T> => how(options, asked, signal)
    return withRenewal(this.#options, use, async (fault, refused) => {
      if (!areKeysRefused(fault)) return null
      // Another request may have been refused before this one.
      const other = this.#options === refused ? withKeysOfNow(refused) : this.#options
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

/** A part of a stream of bytes. What comes behind it is not waited for. */
function partOf(stream: Readable, { start, end }: ByteRange): Readable {
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
  // Of one that is ended before it was read nobody has begun to read the stream.
  return part.once('close', () => stream.destroy())
}

/** A part of a file, `end` not in it. It is read twice, since its checksum is signed before it is sent. */
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

/** Reads a part of a file into the same memory again and again: what streams allocate for it is let go of too late. */
async function* readPieces(path: string, start: number, end: number): AsyncGenerator<Buffer, void> {
  const file = await open(path)
  try {
    const memory = Buffer.allocUnsafe(PIECE_BYTES)
    for (let at = start; at < end;) {
      const { bytesRead } = await file.read(memory, 0, Math.min(memory.length, end - at), at)
      if (bytesRead === 0) throw new AppError('io_error', `${path} was cut off`)
      yield memory.subarray(0, bytesRead)
      at += bytesRead
    }
  } finally {
    await file.close()
  }
}

function assertSame({ path, sha256 }: LocalFile, whole: Hash): void {
  if (whole.digest('hex') !== sha256)
    throw new AppError('io_error', `${path} has another checksum than when it was written`)
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
}
