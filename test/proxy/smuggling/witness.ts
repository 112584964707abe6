import { once } from 'node:events'
import { METHODS, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Upstream } from '../../../proxy/protocol.ts'
import { pairs } from '../fuzz/message.ts'
import { ProxyStand, tableOf } from '../stand.ts'

/** More than the proxy lets pass. */
const MAX_HEADER_BYTES = 128 * 1024

/** What node calls the end of a connection within a request. */
const CUT = 'HPE_INVALID_EOF_STATE'

/** What node calls a method that it does not know, or that is not one. */
const BAD_METHOD = 'HPE_INVALID_METHOD'

/** The method of what begins as a request with one that node does not know, and others may. */
function otherMethod(packet: Buffer | undefined): string | undefined {
  const [, method] = /^([!#$%&'*+.^_`|~\w-]+) \S+ HTTP\/1\.1\r\n/.exec(packet?.toString('latin1') ?? '') ?? []
  return method !== undefined && METHODS.includes(method) ? undefined : method
}

/** An upstream on node's own server that remembers every byte and every request that it read, and answers what it read. */
export class Witness {
  /** All bytes that came. */
  received = ''
  /** Method, target and body of each request that came completely. */
  read: (readonly [line: string, body: string])[] = []
  /** The fields of each, as they came. */
  fields: (readonly (readonly [name: string, value: string])[])[] = []
  /** What could not be read as requests, other than one that was cut. */
  unread: string[] = []
  /** Methods that node does not know; one that no client has sent is the rest of something else. */
  otherMethods: string[] = []
  #server = createServer({ maxHeaderSize: MAX_HEADER_BYTES })

  static async start(): Promise<Witness> {
    const witness = new Witness()
    witness.#server.listen(0, '127.0.0.1')
    await once(witness.#server, 'listening')
    return witness
  }

  private constructor() {
    this.#server.on('connection', (socket) => {
      socket.on('data', (piece: Buffer) => (this.received += piece.toString('latin1')))
    })
    this.#server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
      const { code, message, rawPacket } = error
      const other = code === BAD_METHOD ? otherMethod(rawPacket) : undefined
      if (other !== undefined) this.otherMethods.push(other)
      else if (code?.startsWith('HPE_') && code !== CUT) this.unread.push(message)
      socket.destroy()
    })
    this.#server.on('request', (request, response) => {
      let body = ''
      request.setEncoding('latin1')
      request.on('data', (text: string) => (body += text))
      request.on('error', () => {})
      request.on('end', () => {
        const line = `${request.method} ${request.url}`
        this.read.push([line, body])
        this.fields.push(pairs(request.rawHeaders))
        response.end(`<read ${line.slice(0, 40)}>`)
      })
    })
  }

  get spec(): Upstream {
    return { instance: 'witness', host: '127.0.0.1', port: (this.#server.address() as AddressInfo).port }
  }

  forget(): void {
    this.received = ''
    this.read = []
    this.fields = []
    this.unread = []
    this.otherMethods = []
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

/** A data plane in front of a witness, for all tests of a file. */
export interface Watched {
  stand: ProxyStand
  witness: Witness
}

/** Starts both before the tests of the file, which find them here, and makes the witness forget between them. */
export function watched(): Watched {
  const both = {} as Watched
  beforeAll(async () => {
    both.witness = await Witness.start()
    both.stand = await ProxyStand.start(tableOf([both.witness.spec]))
  })
  afterAll(async () => {
    await both.stand.stop()
    both.witness.close()
  })
  beforeEach(() => both.witness.forget())
  return both
}
