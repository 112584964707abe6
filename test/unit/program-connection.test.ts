import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { Attachment } from '#daemon/engine/attachment.ts'
import { ProgramConnection } from '#daemon/entries/dialing.ts'
import { Channel } from '#proxy/control/channel.ts'

let connection: ProgramConnection
/** The engine's end of the connection to the program. */
let far: Duplex

beforeEach(() => {
  const [near, end] = duplexPair()
  far = end
  connection = new ProgramConnection(new Attachment(near, new AbortController().signal))
})

/** What the program prints, as the engine frames it. */
function print(text: string): void {
  const header = Buffer.alloc(8)
  header[0] = 1
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  far.write(Buffer.concat([header, Buffer.from(text)]))
}

test('a program that leads to a control socket carries requests and answers of any size', async () => {
  const asked: string[] = []
  far.on('data', (data: Buffer) => {
    asked.push(data.toString())
    if (asked.join('').endsWith('\n')) print(`{"re":1,"result":{"length":${asked.join('').length}}}\n`)
  })
  const text = 'x'.repeat(3 * 1024 * 1024)
  const answer = await new Channel(connection, () => null).request('table', { text }, 5_000)
  expect(answer).toEqual({ length: '{"id":1,"op":"table","body":{"text":""}}\n'.length + text.length })
})

test('its end ends the connection, and what waits for an answer', async () => {
  const channel = new Channel(connection, () => null)
  const answer = channel.request('counts', {}, 5_000)
  far.end()
  await expect(answer).rejects.toMatchObject({ code: 'closed' })
  expect(channel.closed).toBe(true)
})

test('the end of the connection ends it, after what was sent', async () => {
  const pieces: Buffer[] = []
  far.on('data', (data: Buffer) => pieces.push(data))
  const ended = new Promise((resolve) => far.once('end', resolve))
  const channel = new Channel(connection, () => null)
  print('{"event":"hello","body":{}}\n')
  await turn()
  channel.event('bye', {})
  channel.close()
  await ended
  expect(Buffer.concat(pieces).toString()).toBe('{"event":"bye","body":{}}\n')
})
