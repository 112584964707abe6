import { Writable } from 'node:stream'

/** A file, a folder or a link of a tar. */
export interface TarEntry {
  /** Without a slash at its end. */
  name: string
  type: 'file' | 'directory' | 'symlink'
  /** The permissions alone. */
  mode: number
  size: number
  modifiedMs: number
  /** Where a link leads; else empty. */
  link: string
}

const BLOCK_BYTES = 512
/** A name and the target of a link, each of which Linux limits to 4 KiB. */
const MAX_PAX_BYTES = 64 * 1024
const NOTHING = Buffer.alloc(0)

/** By the flag of a header (POSIX pax, "ustar Header Block"). */
const TYPES: Record<string, TarEntry['type']> = {
  '\0': 'file',
  '0': 'file',
  '2': 'symlink',
  '5': 'directory',
}
const PAX_HEADER = 'x'

/**
 * Reads a tar that is written to it, one entry after another and one piece after another: it holds no more than a piece, and
 * reports each as written only when its bytes were read, so that the writer can free it. Understands what `tar-stream` packs.
 */
export class TarReader extends Writable {
  #piece: Buffer = NOTHING
  #written: (() => void) | null = null
  #hasEnded = false
  #waiting: (() => void) | null = null
  /** Unread bytes of the entry, and the zeros after them. */
  #left = 0
  #padding = 0

  constructor() {
    super({ highWaterMark: 1 })
  }

  /** The next entry, whatever of the one before was read; null at the end of the tar. Throws when it is cut off or invalid. */
  next(): Promise<TarEntry | null> {
    return this.#next(false)
  }

  async #next(isNamed: boolean): Promise<TarEntry | null> {
    await this.#skip(this.#left + this.#padding)
    this.#left = 0
    this.#padding = 0
    const block = await this.#take(BLOCK_BYTES)
    if (block.every((byte) => byte === 0)) {
      // Only when the writer has ended without a fault is the tar complete.
      while ((await this.#some(Infinity)).length > 0);
      return null
    }
    const size = numberAt(block, 124, 12)
    const flag = block.toString('latin1', 156, 157)
    if (flag === PAX_HEADER && !isNamed) return await this.#named(size)
    const type = TYPES[flag]
    if (type === undefined) throw new Error(`a tar has an entry of the unknown type ${JSON.stringify(flag)}`)
    this.#left = type === 'file' ? size : 0
    this.#padding = paddingOf(this.#left)
    const prefix = textAt(block, 345, 155)
    return {
      name: `${prefix === '' ? '' : `${prefix}/`}${textAt(block, 0, 100)}`.replace(/\/$/, ''),
      type,
      mode: numberAt(block, 100, 8) & 0o777,
      size: this.#left,
      modifiedMs: numberAt(block, 136, 12) * 1000,
      link: type === 'symlink' ? textAt(block, 157, 100) : '',
    }
  }

  /** The next bytes of the entry, valid until the next call; null at its end. */
  async piece(most: number): Promise<Buffer | null> {
    if (this.#left === 0) return null
    const piece = await this.#some(Math.min(this.#left, most))
    if (piece.length === 0) throw cutOff()
    this.#left -= piece.length
    return piece
  }

  /** The entry after a header with the names that are too long for its own. */
  async #named(size: number): Promise<TarEntry> {
    if (size > MAX_PAX_BYTES) throw new Error('a tar has a header that is too long')
    const records = readPax(await this.#take(size))
    this.#padding = paddingOf(size)
    const entry = await this.#next(true)
    if (entry === null) throw cutOff()
    const name = records.get('path')?.replace(/\/$/, '')
    return { ...entry, ...(name !== undefined && { name }), link: records.get('linkpath') ?? entry.link }
  }

  async #take(size: number): Promise<Buffer> {
    const taken = Buffer.allocUnsafe(size)
    for (let at = 0; at < size;) {
      const some = await this.#some(size - at)
      if (some.length === 0) throw cutOff()
      at += some.copy(taken, at)
    }
    return taken
  }

  async #skip(size: number): Promise<void> {
    for (let left = size; left > 0;) {
      const { length } = await this.#some(left)
      if (length === 0) throw cutOff()
      left -= length
    }
  }

  /** At least one byte, except at the end; what the call before returned is given back. */
  async #some(most: number): Promise<Buffer> {
    while (this.#piece.length === 0) {
      const written = this.#written
      this.#written = null
      written?.()
      if (this.#written !== null) continue
      if (this.errored) throw this.errored
      if (this.destroyed && !this.#hasEnded) throw cutOff()
      if (this.#hasEnded) return NOTHING
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting = resolve
      await promise
    }
    const some = this.#piece.subarray(0, most)
    this.#piece = this.#piece.subarray(some.length)
    return some
  }

  #wake(): void {
    this.#waiting?.()
    this.#waiting = null
  }

  override _write(piece: Buffer, _encoding: string, written: () => void): void {
    this.#piece = piece
    this.#written = written
    this.#wake()
  }

  override _final(done: () => void): void {
    this.#hasEnded = true
    this.#wake()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    done(error)
    this.#wake()
  }
}

function cutOff(): Error {
  return new Error('a tar is cut off')
}

function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES
}

function textAt(block: Buffer, from: number, length: number): string {
  const field = block.subarray(from, from + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end === -1 ? length : end)
}

/** An octal number or, from 8 GiB on, one of big-endian bytes after 0x80. */
function numberAt(block: Buffer, from: number, length: number): number {
  if (block[from] === 0x80) return block.readUIntBE(from + length - 6, 6)
  const value = Number.parseInt(textAt(block, from, length).trim() || '0', 8)
  if (!Number.isSafeInteger(value)) throw new Error('a tar has an invalid header')
  return value
}

/** Records are `LENGTH KEY=VALUE\n`, where the length includes itself. */
function readPax(records: Buffer): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at < records.length;) {
    const length = Number.parseInt(records.toString('latin1', at, at + 8), 10)
    if (!(length > 0)) throw new Error('a tar has an invalid header')
    const record = records.toString('utf8', at, at + length - 1)
    const equals = record.indexOf('=')
    found.set(record.slice(record.indexOf(' ') + 1, equals), record.slice(equals + 1))
    at += length
  }
  return found
}
