import * as fc from 'fast-check'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readQuery, writeAnswer } from '../../proxy/resolver/message.ts'
import { Resolver } from '../../proxy/resolver/resolver.ts'
import { loopbackZone, nameServer, question, readAnswer, TYPE } from '../proxy/names.ts'

const CLIENT = '127.30.0.5'
/** Where the host's name servers of these tests listen. */
const PORT = 5_399

let directory: string
let file: string
let cleanups: (() => void)[] = []
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'deployer-resolver-'))
  file = join(directory, 'resolv.conf')
})
afterEach(() => {
  for (const cleanup of cleanups.reverse()) cleanup()
  cleanups = []
  rmSync(directory, { recursive: true, force: true })
})

/** A resolver of one zone whose host has these name servers. */
async function resolverWith(...servers: string[]): Promise<Resolver> {
  writeFileSync(file, servers.map((server) => `nameserver ${server}\n`).join(''))
  const resolver = new Resolver({ file, port: PORT })
  cleanups.push(() => resolver.close())
  await resolver.apply({ env: loopbackZone(30, { api: ['127.30.0.16'] }) })
  return resolver
}

async function serve(host: string, answer: (message: Buffer) => Buffer | null): Promise<void> {
  const socket = await nameServer(host, PORT, answer)
  cleanups.push(() => void socket.close())
}

/** The answer with one address, or with a code, to a question of these tests. */
function reply(message: Buffer, address: string | null, code = 0): Buffer {
  const reading = readQuery(message)
  if (!reading || !('query' in reading)) throw new Error('no query was forwarded')
  return writeAnswer(reading.query, address === null ? [] : [address], 60, code)
}

describe('a name that no zone knows', () => {
  test('is asked of the host, under another id, and comes back as it was', async () => {
    const ids: number[] = []
    await serve('127.0.0.1', (message) => {
      ids.push(message.readUInt16BE(0))
      return reply(message, '198.51.100.7')
    })
    const resolver = await resolverWith('127.0.0.1')
    for (let id = 1; id <= 8; id++) {
      const answer = await resolver.answer(question('www.example.com', TYPE.a, { id }), CLIENT, 'udp')
      expect(answer!.readUInt16BE(0)).toBe(id)
      expect(readAnswer(answer!).addresses).toEqual(['198.51.100.7'])
    }
    expect(ids).not.toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('is asked of the next server if one is silent, broken or missing, and fails if all are', async () => {
    await serve('127.0.0.3', (message) => reply(message, null, 2))
    await serve('127.0.0.4', (message) => reply(message, '198.51.100.8'))
    const resolver = await resolverWith('127.0.0.2', '127.0.0.3', '127.0.0.4')
    const answer = await resolver.answer(question('www.example.com'), CLIENT, 'udp')
    expect(readAnswer(answer!).addresses).toEqual(['198.51.100.8'])
    const alone = await resolverWith('127.0.0.2')
    expect(readAnswer((await alone.answer(question('www.example.com'), CLIENT, 'udp'))!).code).toBe(2)
  })

  test('is never taken from an answer to something else', async () => {
    await serve('127.0.0.1', (message) => {
      const wrong = Buffer.from(reply(message, '198.51.100.66'))
      wrong[0]! ^= 1
      return wrong
    })
    await serve('127.0.0.2', (message) => reply(message, '198.51.100.9'))
    const resolver = await resolverWith('127.0.0.1', '127.0.0.2')
    const answer = await resolver.answer(question('www.example.com'), CLIENT, 'udp')
    expect(readAnswer(answer!).addresses).toEqual(['198.51.100.9'])
  })

  test('never comes back to the resolver itself, by whichever gateway', async () => {
    const resolver = await resolverWith('127.30.0.1')
    let asked = 0
    await serve('127.30.0.1', (message) => {
      asked++
      return reply(message, '198.51.100.1')
    })
    expect(readAnswer((await resolver.answer(question('www.example.com'), CLIENT, 'udp'))!).code).toBe(2)
    expect(asked).toBe(0)
  })

  test('is marked as too long for a datagram, and then comes over TCP', async () => {
    await serve('127.0.0.1', (message) => {
      const cut = reply(message, null)
      cut[2]! |= 2
      return cut
    })
    const server = createServer((socket) => {
      socket.once('data', (data) => {
        const answer = reply((data as Buffer).subarray(2), '198.51.100.10')
        socket.write(Buffer.from([answer.length >> 8]))
        socket.write(Buffer.concat([Buffer.from([answer.length & 255]), answer]))
      })
    }).listen(PORT, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(() => void server.close())
    const resolver = await resolverWith('127.0.0.1')
    const ask = async (transport: 'udp' | 'tcp') =>
      readAnswer((await resolver.answer(question('www.example.com'), CLIENT, transport))!)
    expect(await ask('udp')).toMatchObject({ truncated: true, addresses: [] })
    expect(await ask('tcp')).toMatchObject({ truncated: false, addresses: ['198.51.100.10'] })
  })

  test('is asked of new servers once the host has others', async () => {
    await serve('127.0.0.2', (message) => reply(message, '198.51.100.2'))
    const resolver = await resolverWith('127.0.0.3')
    expect(readAnswer((await resolver.answer(question('a.example.com'), CLIENT, 'udp'))!).code).toBe(2)
    writeFileSync(file, '# moved\nsearch example.com\nnameserver 127.0.0.2\noptions edns0\n')
    await expect
      .poll(
        async () => readAnswer((await resolver.answer(question('b.example.com'), CLIENT, 'udp'))!).addresses,
        { timeout: 10_000 },
      )
      .toEqual(['198.51.100.2'])
  })

  test("is limited for each client, so that one cannot take the others' share", async () => {
    await serve('127.0.0.1', (message) => {
      const name = message.subarray(13, 13 + message[12]!).toString()
      return name === 'slow' ? null : reply(message, '198.51.100.3')
    })
    const resolver = await resolverWith('127.0.0.1')
    const flood = Array.from({ length: 500 }, () =>
      resolver.answer(question('slow.example.com'), CLIENT, 'udp'),
    )
    const late = await Promise.race(flood)
    expect(readAnswer(late!).code).toBe(2)
    const other = await resolver.answer(question('fast.example.com'), '127.30.0.6', 'udp')
    expect(readAnswer(other!).addresses).toEqual(['198.51.100.3'])
    await Promise.all(flood)
  })
})

describe('any input', () => {
  test('is answered well formed or not at all', async () => {
    const resolver = await resolverWith('127.0.0.1')
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.uint8Array({ maxLength: 600 }), mutated()),
        fc.constantFrom(CLIENT, '192.0.2.1', 'x', '::1', '127.30.0.1'),
        async (bytes, source) => {
          const message = Buffer.from(bytes)
          const reading = readQuery(message)
          const isForwarded = reading && 'query' in reading && source === CLIENT
          // Forwarded names are tested above.
          if (isForwarded && reading.query.labels.join('.').toLowerCase() !== 'api') return
          const answer = await resolver.answer(message, source, 'udp')
          if (answer === null) expect(message.length < 12 || message[2]! >= 0x80).toBe(true)
          else {
            expect(answer.readUInt16BE(0)).toBe(message.readUInt16BE(0))
            expect(answer[2]! & 0x80).toBe(0x80)
            expect(answer.length).toBeLessThan(512)
          }
        },
      ),
      { numRuns: 5_000 },
    )
  })

  test('as a name that fits the wire is read as it was written', () => {
    const label = fc.stringMatching(/^[a-z0-9-]{1,63}$/)
    fc.assert(
      fc.property(fc.array(label, { maxLength: 3 }), (labels) => {
        const reading = readQuery(question(labels.join('.')))
        expect(reading).toMatchObject({ query: { labels, wantsAddresses: true, edns: false } })
      }),
    )
  })
})

/** Questions with some bytes changed, cut off or appended. */
function mutated(): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(
      fc.constantFrom('api', 'API', '', 'a.b.c', 'x'.repeat(63)),
      fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 4 }),
      fc.nat(90),
      fc.uint8Array({ maxLength: 20 }),
    )
    .map(([name, changes, length, tail]) => {
      const bytes = Buffer.from(question(name, TYPE.a, { edns: length % 2 === 0 }))
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
      return Buffer.concat([bytes.subarray(0, Math.max(length, 10)), tail])
    })
}
