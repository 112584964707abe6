import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection on which a test sends exactly what it wants. */
export class Wire {
  readonly socket: Socket
  /** Everything that was received. */
  received = ''
  closed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1').on('data', (text: string) => (this.received += text))
    socket.on('error', () => {}).on('close', () => (this.closed = true))
  }

  static async open(url: string): Promise<Wire> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    await once(socket, 'connect')
    return new Wire(socket)
  }

  /** Sends lines of a head and the empty line after it, then a body as it is. */
  send(lines: string[], body = ''): this {
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
    return this
  }

  /** Waits until the other side has closed it, and returns everything that was received. */
  async end(): Promise<string> {
    if (!this.closed) await once(this.socket, 'close')
    return this.received
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}

/** Sends one request and returns everything that came until the other side closed. */
export async function exchange(url: string, lines: string[], body = ''): Promise<string> {
  using wire = await Wire.open(url)
  return await wire.send([...lines, 'Connection: close'], body).end()
}
