import type { ServerHttp2Stream } from 'node:http2'
import { bytesField, bytesStart, numberField, readFields } from './protobuf.ts'
import type { TarEntry } from './tar-reader.ts'

/** The next bytes of a file, valid until the next call; null at its end. */
type Body = (most: number) => Promise<Buffer | null> | Buffer | null

// Packets of fsutil's protocol (tonistiigi/fsutil, types/wire.proto).
const STAT = 0
const REQUEST = 1
const DATA = 2
const FINISHED = 3
const FAILED = 4
/** The bits of a mode in Go (os.FileMode), by the type of an entry. */
const MODE_BITS = { file: 0, directory: 2 ** 31, symlink: 2 ** 27 }

/** A gRPC frame starts with a flag and four bytes of length. */
const FRAME_HEADER_BYTES = 5
/** The numbers and tags of a packet with data. */
const MAX_PACKET_START_BYTES = 32
/** A file up to this size is one packet. */
const PIECE_BYTES = 64 * 1024
/** How much of small files is announced before the engine requests it, so that not each has to wait for its request. */
const MAX_HELD_BYTES = 1024 * 1024
/** What a held file takes in addition to its bytes. */
const HELD_FILE_BYTES = 1024
/** The engine sends ids, and an error as text. */
const MAX_MESSAGE_BYTES = 64 * 1024

/**
 * Sends files to BuildKit as it requests them (fsutil's protocol, send.go and receive.go): each is announced, in the order
 * of a walk by the bytes of the names, and the engine requests its bytes by its place in that order. The files are read only
 * once and in the same order, so the engine must request them all. Little more than 1 MiB is held at a time.
 */
export class FileSender {
  readonly #stream: ServerHttp2Stream
  #announced = 0
  /** Files that were read before they were requested: their packets. */
  readonly #held = new Map<number, Buffer<ArrayBuffer>>()
  #heldBytes = 0
  readonly #requested = new Set<number>()
  #isFinished = false
  #fault: Error | null = null
  #changed = Promise.withResolvers<void>()
  #received = Buffer.alloc(0)

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
    stream.on('data', (bytes: Buffer) => this.#receive(bytes))
    stream.on('drain', () => this.#change())
    this.onClose(() => this.#fail(new Error('the engine ended the transfer')))
  }

  onClose(work: () => void): void {
    this.#stream.once('close', work)
  }

  /** Announces an entry, whose folders come before it, and sends its bytes when they are requested. */
  async add(file: TarEntry, body: Body): Promise<void> {
    const id = this.#announced++
    const isHeld = file.type === 'file' && file.size <= PIECE_BYTES
    if (isHeld) {
      const packet = await packetOf(id, file.size, body)
      this.#held.set(id, packet)
      this.#heldBytes += packet.length + HELD_FILE_BYTES
    }
    await this.#write(frameOf([bytesField(2, statOf(file))]))
    if (isHeld) await this.#until(() => this.#heldBytes <= MAX_HELD_BYTES)
    else if (file.type === 'file') await this.#sendPieces(id, body)
  }

  /** Says that these were all, and waits until the engine has what it requested. */
  async end(): Promise<void> {
    await this.#write(frameOf([]))
    await this.#until(() => this.#isFinished)
    await this.#write(frameOf([numberField(1, FINISHED)]))
  }

  /** Sends a file of any size once it is requested. */
  async #sendPieces(id: number, body: Body): Promise<void> {
    await this.#until(() => this.#requested.delete(id))
    const packet = Buffer.allocUnsafeSlow(FRAME_HEADER_BYTES + MAX_PACKET_START_BYTES + PIECE_BYTES)
    for (let piece; (piece = await body(PIECE_BYTES)) !== null;) {
      const start = startPacket(packet, id, piece.length)
      piece.copy(packet, start)
      const { promise, resolve } = Promise.withResolvers<unknown>()
      this.#stream.write(packet.subarray(0, start + piece.length), resolve)
      await promise
      if (this.#fault) throw this.#fault
    }
    await this.#write(endOf(id))
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    while (this.#received.length >= FRAME_HEADER_BYTES) {
      const end = FRAME_HEADER_BYTES + this.#received.readUInt32BE(1)
      if (end > MAX_MESSAGE_BYTES) return this.#fail(new Error('the engine sent a message that is too long'))
      if (this.#received.length < end) return
      const message = this.#received.subarray(FRAME_HEADER_BYTES, end)
      this.#received = this.#received.subarray(end)
      try {
        this.#read(message)
      } catch (error) {
        return this.#fail(error as Error)
      }
    }
  }

  #read(message: Buffer): void {
    let type = STAT
    let id = 0
    let data = ''
    for (const { number, value } of readFields(message)) {
      if (number === 4) data = value.toString()
      else if (typeof value === 'number' && number === 1) type = value
      else if (typeof value === 'number' && number === 3) id = value
    }
    if (type === REQUEST) this.#request(id)
    else if (type === FINISHED) this.#isFinished = true
    else if (type === FAILED) return this.#fail(new Error(`the engine cannot take the files: ${data}`))
    this.#change()
  }

  #request(id: number): void {
    const packet = this.#held.get(id)
    if (packet === undefined) {
      this.#requested.add(id)
      return
    }
    this.#held.delete(id)
    const bytes = packet.length + HELD_FILE_BYTES
    this.#stream.write(packet, () => {
      this.#heldBytes -= bytes
      // Frees it at once; the garbage collector would let tens of MiB accumulate.
      packet.buffer.transfer(0)
      this.#change()
    })
    this.#stream.write(endOf(id))
  }

  async #write(frame: Buffer): Promise<void> {
    if (!this.#stream.write(frame)) await this.#until(() => !this.#stream.writableNeedDrain)
    if (this.#fault) throw this.#fault
  }

  async #until(isSo: () => boolean): Promise<void> {
    for (;;) {
      if (this.#fault) throw this.#fault
      if (isSo()) return
      await this.#changed.promise
    }
  }

  #fail(fault: Error): void {
    this.#fault ??= fault
    this.#change()
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }
}

/** What describes an entry (tonistiigi/fsutil, types/stat.proto). All belongs to root, as in the tar. */
function statOf({ name, type, mode, size, modifiedMs, link }: TarEntry): Buffer {
  return Buffer.concat([
    bytesField(1, name),
    numberField(2, MODE_BITS[type] + mode),
    numberField(5, size),
    numberField(6, Math.round(modifiedMs * 1e6)),
    ...(type === 'symlink' ? [bytesField(7, link)] : []),
  ])
}

function frameOf(fields: Buffer[]): Buffer {
  const frame = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), ...fields])
  frame.writeUInt32BE(frame.length - FRAME_HEADER_BYTES, 1)
  return frame
}

/** The packets with all bytes of a small file. */
async function packetOf(id: number, size: number, body: Body): Promise<Buffer<ArrayBuffer>> {
  const packet = Buffer.allocUnsafeSlow(FRAME_HEADER_BYTES + MAX_PACKET_START_BYTES + size)
  const start = startPacket(packet, id, size)
  let end = start
  for (let piece; (piece = await body(PIECE_BYTES)) !== null;) end += piece.copy(packet, end)
  return packet.subarray(size === 0 ? end : 0, end)
}

/** Writes the beginning of a packet with so much data; returns where the data begins. */
function startPacket(packet: Buffer, id: number, length: number): number {
  const fields = Buffer.concat([numberField(1, DATA), numberField(3, id), bytesStart(4, length)])
  packet[0] = 0
  packet.writeUInt32BE(fields.length + length, 1)
  return FRAME_HEADER_BYTES + fields.copy(packet, FRAME_HEADER_BYTES)
}

function endOf(id: number): Buffer {
  return frameOf([numberField(1, DATA), numberField(3, id)])
}
