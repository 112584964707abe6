import { once } from 'node:events'
import { createGunzip, type Gunzip } from 'node:zlib'
import { extract, type Extract, type ExtractEvents, type Header } from 'tar-stream'
import { messageOf } from '#server/errors.ts'
import { BuildFailure } from '#plans/index.ts'
import { EntryRules, type Entry } from './archive-entries.ts'
import { foreignFormat, SNIFFED_BYTES } from './archive-formats.ts'

/** The maximum unpacked size: a checkout with its assets is far below, and the disk is shared with running services. */
const MAX_UNPACKED_BYTES = 4 * 1024 ** 3
/** Source trees compress 3 to 20 times, and gzip at most 1,032 times. Checked only above a size that any disk can take. */
const MAX_RATIO = 200
const RATIO_FREE_BYTES = 64 * 1024 * 1024
/** With this size, 24 to 30 MiB of used pieces wait for the collector in an upload of 512 MiB; with twice that, 65 MiB. */
const UNZIP_CHUNK_BYTES = 16 * 1024
/** A tar archive ends with at least two blocks of zeros (POSIX pax, "ustar Interchange Format"); one must be there. */
const TAR_BLOCK_BYTES = 512

/** The bytes of one entry, as a stream. */
export type EntryContent = ExtractEvents['entry'][1]

/** Handles one entry. It must read `content` to its end; `content` is empty except for files. */
export type EntryHandler = (entry: Entry, content: EntryContent) => Promise<void>

/**
 * Reads a gzip-compressed tar archive that is fed in pieces, judges it on the way and passes on each entry. Needs a few
 * hundred kilobytes, whatever the archive's size. `feed` and `finish` throw BuildFailure for a bad archive.
 */
export class ArchiveReader {
  readonly #onEntry: EntryHandler
  readonly #rules = new EntryRules()
  readonly #gunzip: Gunzip = createGunzip({ chunkSize: UNZIP_CHUNK_BYTES })
  // The option, which the types lack, permits the format before POSIX.
  readonly #tar: Extract = extract({ allowUnknownFormat: true } as object)
  readonly #done: Promise<void>
  readonly #tarClosed: Promise<void>
  #tarFault: Error | undefined
  #failure: Error | undefined
  #ended = false
  #sniffed: Buffer | null = Buffer.alloc(0)
  #packedBytes = 0
  #unpackedBytes = 0
  #trailingZeros = 0
  #entries = 0
  #handling: Promise<void> = Promise.resolve()
  #lastEntry = ''

  constructor(onEntry: EntryHandler) {
    this.#onEntry = onEntry
    this.#tar.on('entry', (header, content, next) => this.#take(header, content, next))
    this.#tar.on('error', (error) => void (this.#tarFault ??= error))
    this.#tarClosed = new Promise((resolve) => this.#tar.on('close', () => resolve()))
    this.#done = this.#pump().then(
      () => void (this.#ended = true),
      (error: unknown) => {
        this.#failure = this.#explain(error)
        this.#ended = true
        this.#destroy()
      },
    )
  }

  /** Accepts the next piece and waits until there is room for another. */
  async feed(chunk: Buffer): Promise<void> {
    this.#packedBytes += chunk.length
    if (this.#sniffed) {
      this.#sniffed = Buffer.concat([this.#sniffed, chunk])
      if (!this.#isGzip(this.#sniffed, false)) return
      chunk = this.#sniffed
      this.#sniffed = null
    }
    if (!this.#ended && !this.#gunzip.write(chunk))
      await Promise.race([once(this.#gunzip, 'drain'), this.#done])
    if (this.#failure) throw this.#failure
  }

  /** Ends the input, and waits until all entries were handled. */
  async finish(): Promise<void> {
    if (this.#packedBytes === 0) throw new BuildFailure(`the archive is empty: send ${WANTED}`)
    if (this.#sniffed) this.#isGzip(this.#sniffed, true)
    if (!this.#ended) this.#gunzip.end()
    await this.#done
    if (this.#failure) throw this.#failure
    if (this.#entries === 0)
      throw new BuildFailure('the archive contains no files: pack the folder with the source')
    if (this.#trailingZeros < TAR_BLOCK_BYTES) throw this.#truncated(undefined)
  }

  /** Frees everything and waits for the entry that is being handled; must be called when reading ends early. */
  async close(): Promise<void> {
    this.#destroy()
    await this.#handling
  }

  #destroy(): void {
    this.#gunzip.destroy()
    this.#tar.destroy(null)
  }

  /** Whether the input is gzip (RFC 1952 section 2.3.1); false while too little has arrived. Throws for other formats. */
  #isGzip(start: Buffer, whole: boolean): boolean {
    if (start[0] === 0x1f && start[1] === 0x8b) return true
    if (!whole && start.length < SNIFFED_BYTES && foreignFormat(start) === null) return false
    throw new BuildFailure(`the upload is ${foreignFormat(start) ?? 'not gzip-compressed'}: send ${WANTED}`)
  }

  async #pump(): Promise<void> {
    for await (const chunk of this.#gunzip as AsyncIterable<Buffer>) {
      this.#measure(chunk)
      if (!this.#tar.write(chunk)) await Promise.race([once(this.#tar, 'drain'), this.#tarClosed])
      if (this.#tarFault) break
    }
    this.#tar.end(null)
    await this.#tarClosed
    if (this.#tarFault) throw this.#tarFault
  }

  #measure(chunk: Buffer): void {
    this.#unpackedBytes += chunk.length
    if (this.#unpackedBytes > MAX_UNPACKED_BYTES) {
      throw new BuildFailure(
        `the archive unpacks to more than ${MAX_UNPACKED_BYTES / 1024 ** 3} GiB: leave out what the build does not need`,
      )
    }
    if (this.#unpackedBytes > RATIO_FREE_BYTES && this.#unpackedBytes > this.#packedBytes * MAX_RATIO) {
      throw new BuildFailure(
        `the archive unpacks to more than ${MAX_RATIO} times its size, like a zip bomb: leave out files of zeros`,
      )
    }
    let zeros = 0
    while (zeros < TAR_BLOCK_BYTES && zeros < chunk.length && chunk[chunk.length - 1 - zeros] === 0)
      zeros += 1
    this.#trailingZeros = zeros === chunk.length ? this.#trailingZeros + zeros : zeros
  }

  #take(header: Header, content: EntryContent, next: (error?: Error | null) => void): void {
    // When the archive fails, its content stream reports the error a second time.
    content.on('error', () => {})
    this.#handling = this.#handle(header, content).then(
      () => next(),
      (error: unknown) => {
        this.#tarFault ??= error instanceof Error ? error : new Error(messageOf(error))
        next(this.#tarFault)
      },
    )
  }

  async #handle(header: Header, content: EntryContent): Promise<void> {
    const entry = this.#rules.judge(header)
    this.#lastEntry = header.name
    if (entry === null) {
      content.resume()
      return
    }
    this.#entries += 1
    await this.#onEntry(entry, content)
  }

  #explain(error: unknown): Error {
    if (error instanceof BuildFailure) return error
    const code = (error as NodeJS.ErrnoException).code ?? ''
    const message = messageOf(error)
    if (code === 'Z_BUF_ERROR' || message === 'Unexpected end of data') {
      if (this.#lastEntry === '' && this.#unpackedBytes < TAR_BLOCK_BYTES && code !== 'Z_BUF_ERROR')
        return notTar(error)
      return this.#truncated(error)
    }
    if (code.startsWith('Z_')) {
      return new BuildFailure(
        `the archive is damaged (${message})${this.#where()}: pack it again and send all of it`,
        { cause: error },
      )
    }
    if (message.startsWith('Invalid tar header') && this.#lastEntry === '') return notTar(error)
    if (/^(Invalid|Header exceeds)/.test(message)) {
      return new BuildFailure(`the archive is damaged (${message})${this.#where()}: pack it again`, {
        cause: error,
      })
    }
    return error instanceof Error ? error : new Error(message)
  }

  #truncated(cause: unknown): BuildFailure {
    return new BuildFailure(`the archive ends too early${this.#where()}: send all of it`, { cause })
  }

  #where(): string {
    return this.#lastEntry === '' ? '' : ` after ${JSON.stringify(this.#lastEntry)}`
  }
}

const WANTED = 'a gzip-compressed tar archive (tar -czf source.tar.gz .)'

function notTar(cause: unknown): BuildFailure {
  return new BuildFailure(
    `the upload is gzip-compressed, but its content is not a tar archive: send ${WANTED}`,
    { cause },
  )
}
