import type { Socket } from 'node:net'
import { WebSocket } from 'ws'

/** The largest message to the client. */
const MAX_MESSAGE_BYTES = 64 * 1024
/** What may wait for a slow client before the datastore is read no further. Twice this and a message are under 1 MiB. */
const HELD_BYTES = 256 * 1024
/** How long bytes that the client sent may still take to reach the datastore after the client has left. */
const FLUSH_WITHIN_MS = 5_000

/** Why a tunnel closes (RFC 6455 section 7.4.1). */
export const CLOSE = { ended: 1000, goingAway: 1001, notBinary: 1003, notAllowed: 1008 } as const

/**
 * Passes bytes between a WebSocket and a connection to a datastore, both ways and in order. Whoever reads slowly slows the
 * other side: what is held for it is bounded.
 */
export class Tunnel {
  /** How many bytes have passed in each direction. */
  toDatastore = 0
  fromDatastore = 0
  readonly #client: WebSocket
  readonly #datastore: Socket
  /** Messages that are not sent yet. */
  #sending = 0
  #hasEnded = false
  /** How many bytes have come from the client: a pong, or a part of a long message, shows as well that it is there. */
  readonly #received: () => number
  #receivedBefore = 0
  /** Whether something else explains, since the last probe, that nothing came: bytes were taken, or none were read. */
  #isExcused = true

  constructor(client: WebSocket, datastore: Socket, received: () => number) {
    this.#client = client
    this.#datastore = datastore
    this.#received = received
    client.on('message', (bytes, isBinary) => this.#receive(bytes as Buffer, isBinary))
    client.on('close', () => this.#leave())
    // Its close follows, with the code that the fault has.
    client.on('error', () => {})
    datastore.on('drain', () => client.resume())
    datastore.on('data', (bytes: Buffer) => this.#send(bytes))
    datastore.on('end', () => {
      this.#hasEnded = true
      if (this.#sending === 0) this.close(CLOSE.ended, 'the datastore closed the connection')
    })
    datastore.on('error', () => this.close(CLOSE.goingAway, 'the connection to the datastore broke'))
    // The connection may have ended before anybody listened.
    if (datastore.destroyed) this.close(CLOSE.goingAway, 'the connection to the datastore broke')
  }

  /** Closes it, after what was sent before. */
  close(code: number, reason: string): void {
    this.#client.close(code, reason)
    // The client's answer comes behind whatever it has sent.
    this.#client.resume()
    if (code !== CLOSE.ended) this.#datastore.destroy()
  }

  /** Asks the client for a sign of life. Returns false when it gave none since the last time. */
  probe(): boolean {
    const received = this.#received()
    if (received === this.#receivedBefore && !this.#isExcused) return false
    this.#receivedBefore = received
    // What the client sends is not read while the datastore is slow, its pongs included.
    this.#isExcused = this.#client.isPaused
    if (this.#client.readyState === WebSocket.OPEN) this.#client.ping()
    return true
  }

  #receive(bytes: Buffer, isBinary: boolean): void {
    // It is closing already, and the client has not seen that yet.
    if (this.#client.readyState !== WebSocket.OPEN) return
    if (!isBinary) return this.close(CLOSE.notBinary, 'only binary messages are understood')
    this.toDatastore += bytes.length
    if (this.#datastore.write(bytes)) return
    this.#client.pause()
    this.#isExcused = true
  }

  #send(bytes: Buffer): void {
    this.fromDatastore += bytes.length
    for (let at = 0; at < bytes.length; at += MAX_MESSAGE_BYTES) {
      this.#sending++
      this.#client.send(bytes.subarray(at, at + MAX_MESSAGE_BYTES), () => this.#sent())
    }
    if (this.#client.bufferedAmount > HELD_BYTES) this.#datastore.pause()
  }

  #sent(): void {
    this.#sending--
    this.#isExcused = true
    if (this.#client.bufferedAmount <= HELD_BYTES) this.#datastore.resume()
    // Only now, because a close must be answered in time, while a slow client may take long to read what was sent before it.
    if (this.#hasEnded && this.#sending === 0) this.close(CLOSE.ended, 'the datastore closed the connection')
  }

  /** Ends the connection to the datastore after what the client sent. */
  #leave(): void {
    const datastore = this.#datastore
    datastore.removeAllListeners('data').resume()
    datastore.destroySoon()
    const timer = setTimeout(() => datastore.destroy(), FLUSH_WITHIN_MS)
    datastore.once('close', () => clearTimeout(timer))
  }
}
