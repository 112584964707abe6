import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { beginAppendOnly, probePlace } from '#daemon/datastores/probe.ts'
import type { DatastoreKind } from '#server/datastores/kinds.ts'

const MIB = 1024 * 1024

let stop: () => void = () => {}
afterEach(() => stop())

/** Checks a server that says these words to every client that connects and speaks, at its own port. */
async function ask(kind: DatastoreKind, answer: (socket: Socket) => void): Promise<void> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => answer(socket))
  })
  stop = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await probePlace(kind, { host: '127.0.0.1', port, username: 'u', password: 'p', database: 'd' })
}

test('a store may send any number of answers until its append-only file is written', async () => {
  const TIMES = 12
  let asked = 0
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (question) => {
        if (!question.includes('INFO')) return void socket.write('+OK\r\n')
        const state = `aof_rewrite_in_progress:${++asked < TIMES ? 1 : 0}\r\naof_rewrite_scheduled:0\r\n`
        const info = `${state}${'x'.repeat(100 * 1024)}`
        socket.write(`$${info.length}\r\n${info}\r\n`)
      })
  })
  stop = () => server.close()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const place = { host: '127.0.0.1', port, username: 'u', password: 'p', database: null }
  await beginAppendOnly(place, new AbortController().signal)
  expect(asked).toBe(TIMES)
})

describe('another program in place of a datastore', () => {
  test.each([
    ['relational', 'an authentication', Buffer.from([0x52, 0x7f, 0xff, 0xff, 0xf0])],
    ['keyvalue', 'a string', Buffer.from('$2147483632\r\n')],
    ['keyvalue', 'a line', Buffer.from('+')],
  ] as const)('of kind %s that begins %s of 2 GiB is cut off soon', async (kind, _what, beginning) => {
    let said = 0
    const goOn = (socket: Socket) => {
      socket.write(beginning)
      const more = () => {
        said = socket.bytesWritten
        while (!socket.destroyed && socket.write(Buffer.alloc(MIB, 0x41)));
      }
      socket.on('drain', more)
      more()
    }
    await expect(ask(kind, goOn)).rejects.toThrow('it answers with more than 1 MiB')
    expect(said).toBeLessThan(64 * MIB)
  })

  test('that ends the connection, or refuses, is reported as such', async () => {
    await expect(ask('keyvalue', (socket) => socket.end())).rejects.toThrow('closed the connection')
    stop()
    await expect(ask('keyvalue', (socket) => socket.end('-WRONGPASS no\r\n'))).rejects.toThrow('WRONGPASS no')
  })

  test('answers in pieces', async () => {
    await ask('keyvalue', (socket) => {
      socket.write('+O')
      socket.write('K\r')
      socket.write('\n')
      socket.on('data', () => socket.write('$4\r\nPONG\r\n'))
    })
  })
})
