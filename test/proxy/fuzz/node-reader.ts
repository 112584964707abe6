import { createServer, request as makeRequest, type IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { pairs, type Message, type Reading } from './message.ts'

const MAX_HEADER_BYTES = 128 * 1024

/** A connection that swallows what is written to it; its input is emitted by hand, so that it is read at once. */
class Pipe extends Duplex {
  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, written: () => void): void {
    written()
  }
}

interface Growing extends Message {
  body: string
  complete: boolean
}

function follow(incoming: IncomingMessage, start: string): Growing {
  const message: Growing = { start, fields: pairs(incoming.rawHeaders), body: '', complete: false }
  incoming.setEncoding('latin1')
  incoming.on('data', (text: string) => (message.body += text))
  incoming.on('end', () => (message.complete = true))
  incoming.on('error', () => {})
  return message
}

/** How node's own server, which is strict unless told otherwise, reads the bytes that a client sends. */
export class NodeRequestReader {
  #messages: Growing[] = []
  #fault: string | null = null
  #server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, insecureHTTPParser: false })

  constructor() {
    const read = (request: IncomingMessage) => {
      this.#messages.push(follow(request, `${request.method} ${request.url}`))
    }
    for (const event of ['request', 'checkContinue', 'checkExpectation']) this.#server.on(event, read)
    this.#server.on('clientError', (error: Error & { code?: string }) => {
      this.#fault = error.code ?? error.message
    })
  }

  async read(pieces: readonly Buffer[]): Promise<Reading> {
    this.#messages = []
    this.#fault = null
    const pipe = new Pipe()
    this.#server.emit('connection', pipe)
    for (const piece of pieces) pipe.emit('data', piece)
    // Bodies are delivered in later ticks.
    await setImmediate()
    const reading = { messages: this.#messages, fault: this.#fault }
    pipe.on('error', () => {})
    pipe.destroy()
    return reading
  }
}

/** How node's own client reads an upstream's answers to one request; the upstream ends the connection after it. */
export async function readAnswerAsNode(method: string, pieces: readonly Buffer[]): Promise<Reading> {
  const pipe = new Pipe()
  const messages: Growing[] = []
  let fault: string | null = null
  const request = makeRequest({
    method,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    createConnection: () => pipe,
  })
  request.on('error', (error: Error & { code?: string }) => (fault ??= error.code ?? error.message))
  request.on('information', ({ statusCode, rawHeaders }) => {
    messages.push({ start: String(statusCode), fields: pairs(rawHeaders), body: '', complete: true })
  })
  request.on('response', (response) => messages.push(follow(response, String(response.statusCode))))
  request.on('upgrade', (response) => {
    messages.push({ ...follow(response, '101'), complete: true })
  })
  request.end()
  await setImmediate()
  for (const piece of pieces) pipe.emit('data', piece)
  pipe.emit('end')
  await setImmediate()
  pipe.destroy()
  await setImmediate()
  return { messages, fault }
}
