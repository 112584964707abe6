import { setTimeout as sleep } from 'node:timers/promises'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { NameZone } from '../../proxy/protocol.ts'
import { framed } from '../../proxy/resolver/message.ts'
import { askTcp, askUdp, loopbackZone, lookUp, question, readAnswer, TYPE } from './names.ts'
import { start as startStand } from './lifetimes.ts'
import { type ProxyStand, tableOf, waitFor } from './stand.ts'

const GATEWAY = '127.20.0.1'
const CLIENT = '127.20.0.5'
const OTHER_GATEWAY = '127.21.0.1'
const OTHER_CLIENT = '127.21.0.5'
const API = { api: ['127.20.0.16'] }

async function start(zones: Record<string, NameZone>, workers = 1): Promise<ProxyStand> {
  return startStand(tableOf([], { zones }), { workers })
}

test('a name is answered with its addresses for a second, over UDP and TCP, in upper and lower case', async () => {
  await start({ env: loopbackZone(20, API) })
  const answer = { code: 0, addresses: ['127.20.0.16'], ttl: 1 }
  expect(await lookUp(CLIENT, GATEWAY, 'api')).toMatchObject(answer)
  expect(await lookUp(CLIENT, GATEWAY, 'API.')).toMatchObject(answer)
  const both = await askTcp(CLIENT, GATEWAY, question('api'), question('aPi', TYPE.a, { id: 8, edns: true }))
  expect(both.map(readAnswer)).toMatchObject([answer, answer])
  expect(both.map((message) => message.readUInt16BE(0))).toEqual([7, 8])
})

test('a known name without an address of the requested type, or without any, exists and is empty', async () => {
  await start({ env: loopbackZone(20, { ...API, idle: [] }) })
  const empty = { code: 0, addresses: [] }
  expect(await lookUp(CLIENT, GATEWAY, 'api', TYPE.aaaa)).toMatchObject(empty)
  expect(await lookUp(CLIENT, GATEWAY, 'api', TYPE.txt)).toMatchObject(empty)
  expect(await lookUp(CLIENT, GATEWAY, 'idle')).toMatchObject(empty)
})

test('of many addresses sixteen are returned in changing order, in less than 512 bytes', async () => {
  const many = Array.from({ length: 40 }, (_, index) => `127.20.1.${index + 1}`)
  await start({ env: loopbackZone(20, { many }) })
  const seen = new Set<string>()
  const firsts = new Set<string>()
  for (let times = 0; times < 60; times++) {
    const { addresses, bytes } = await lookUp(CLIENT, GATEWAY, 'many')
    expect(new Set(addresses).size).toBe(16)
    expect(bytes).toBeLessThan(512)
    firsts.add(addresses[0]!)
    for (const address of addresses) seen.add(address)
  }
  expect([...seen].toSorted()).toEqual(many.toSorted())
  expect(firsts.size).toBeGreaterThan(5)
})

test('the asking container decides what a name means, whichever gateway was asked; a stranger is refused', async () => {
  await start({
    one: loopbackZone(20, { api: ['127.20.0.16'], only: ['127.20.0.17'] }),
    two: loopbackZone(21, { api: ['127.21.0.16'] }),
  })
  for (const gateway of [GATEWAY, OTHER_GATEWAY]) {
    expect((await lookUp(CLIENT, gateway, 'api')).addresses).toEqual(['127.20.0.16'])
    expect((await lookUp(OTHER_CLIENT, gateway, 'api')).addresses).toEqual(['127.21.0.16'])
    expect((await lookUp(OTHER_CLIENT, gateway, 'only')).addresses).toEqual([])
    for (const name of ['api', 'example.com'])
      expect(await lookUp('127.0.0.1', gateway, name)).toMatchObject({ code: 5, addresses: [] })
  }
})

test('the host itself gets names, but nothing is forwarded for it, which could loop', async () => {
  await start({ env: loopbackZone(20, API) })
  expect((await lookUp(GATEWAY, GATEWAY, 'api')).addresses).toEqual(['127.20.0.16'])
  expect((await lookUp(GATEWAY, GATEWAY, 'example.com')).code).toBe(5)
})

test('an invalid question gets an error or no answer, and the next one is answered', async () => {
  await start({ env: loopbackZone(20, API) })
  const compressed = Buffer.from(question('api'))
  compressed[12] = 0xc0
  const twice = Buffer.from(question('api'))
  twice[5] = 2
  const notify = Buffer.from(question('api'))
  notify[2] = 0x20
  expect(readAnswer(await askUdp(CLIENT, GATEWAY, compressed)).code).toBe(1)
  expect(readAnswer(await askUdp(CLIENT, GATEWAY, twice)).code).toBe(1)
  expect(readAnswer(await askUdp(CLIENT, GATEWAY, notify)).code).toBe(4)
  const socket = createSocket('udp4').bind(0, CLIENT)
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  const ids: number[] = []
  socket.on('message', (message) => ids.push(message.readUInt16BE(0)))
  const answer = Buffer.from(question('api', TYPE.a, { id: 1 }))
  answer[2] = 0x81
  for (const message of [Buffer.from([1, 2, 3]), answer, question('api', TYPE.a, { id: 2 })])
    socket.send(message, 53, GATEWAY)
  await waitFor(
    () => ids.length > 0,
    () => 'no answer',
  )
  await sleep(100)
  expect(ids).toEqual([2])
})

test('a TCP client that does not read its answers is not answered without end', async () => {
  const sixteen = Array.from({ length: 16 }, (_, index) => `127.20.1.${index + 1}`)
  await start({ env: loopbackZone(20, { many: sixteen }) })
  const socket = connect({ host: GATEWAY, port: 53, localAddress: CLIENT }).pause()
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  const questions = Buffer.concat(Array.from({ length: 1_000 }, () => framed(question('many'))))
  for (let times = 0; times < 200 && socket.writable; times++)
    await new Promise((resolve) => socket.write(questions, resolve))
  expect(socket.writable).toBe(false)
  expect((await lookUp(CLIENT, GATEWAY, 'many')).addresses).toHaveLength(16)
})

test('a new table changes names at once; a removed zone is no longer answered', async () => {
  const stand = await start({ one: loopbackZone(20, API), two: loopbackZone(21, {}) }, 2)
  const next = { two: loopbackZone(21, { api: ['127.21.0.99'] }) }
  await stand.client.applyTable(tableOf([], { zones: next }))
  expect((await lookUp(OTHER_CLIENT, OTHER_GATEWAY, 'api')).addresses).toEqual(['127.21.0.99'])
  expect((await lookUp(CLIENT, OTHER_GATEWAY, 'api')).code).toBe(5)
  await expect(askTcp(CLIENT, GATEWAY, question('api'))).rejects.toThrow(/ECONNREFUSED/)
})

test('a gateway that another program holds, or that does not exist yet, is tried again and reported once', async () => {
  const holder = createSocket('udp4').bind(53, GATEWAY)
  await once(holder, 'listening')
  const nowhere: NameZone = { subnet: '192.0.2.0/24', gateway: '192.0.2.1', names: {} }
  const stand = await start({ one: loopbackZone(20, API), two: loopbackZone(21, API), nowhere })
  expect((await lookUp(OTHER_CLIENT, OTHER_GATEWAY, 'api')).code).toBe(0)
  await sleep(1_500)
  const complaints = stand.log.split('\n').filter((line) => line.includes('the resolver cannot listen'))
  expect(complaints).toHaveLength(2)
  expect(complaints.join('\n')).toMatch(/EADDRINUSE[^]*EADDRNOTAVAIL|EADDRNOTAVAIL[^]*EADDRINUSE/)
  holder.close()
  await waitFor(
    () => stand.log.includes('the resolver is listening again'),
    () => stand.log,
  )
  expect((await lookUp(CLIENT, GATEWAY, 'api')).addresses).toEqual(['127.20.0.16'])
})

/** A datagram that is in a socket when that closes is lost, as any may be: a client asks a second time. */
const SECOND_TRY_MS = 1_000

/** Asks again and again, each question at most twice, until it is told to stop; returns how often it was answered. */
function asking(): { stop(): Promise<{ answered: number; wrong: string[] }> } {
  let going = true
  let answered = 0
  const wrong: string[] = []
  const loop = (async () => {
    while (going) {
      const ask = () => askUdp(CLIENT, GATEWAY, question('api'), SECOND_TRY_MS)
      const answer = await ask()
        .catch(ask)
        .catch((error: Error) => error)
      answered++
      const told = answer instanceof Error ? answer.message : readAnswer(answer).addresses.join()
      if (told !== '127.20.0.16') wrong.push(told)
    }
  })()
  return {
    stop: async () => {
      going = false
      await loop
      return { answered, wrong }
    },
  }
}

test('names are answered while a worker is killed', { timeout: 30_000 }, async () => {
  const stand = await start({ env: loopbackZone(20, API) }, 2)
  const load = asking()
  const { workers } = await stand.processes()
  process.kill(workers[0]!, 'SIGKILL')
  await waitFor(
    () => stand.log.includes('a worker has died and will be replaced'),
    () => stand.log,
  )
  await sleep(2_500)
  const { answered, wrong } = await load.stop()
  expect(wrong).toEqual([])
  expect(answered).toBeGreaterThan(20)
})

test(
  'names are answered while another version takes over, and while listen addresses change',
  { timeout: 60_000 },
  async () => {
    const zones = { env: loopbackZone(20, API) }
    const stand = await start(zones)
    const load = asking()
    const table = tableOf([], { zones })
    stand.client.close()
    stand.client = await stand.connect(table, { version: '2.0.0', workers: 2 })
    const onlyNewWorkers = async () =>
      await expect.poll(async () => (await stand.processes()).workers.length, { timeout: 20_000 }).toBe(2)
    await onlyNewWorkers()
    const { port } = stand
    for (const address of [`0.0.0.0:${port}`, `[::]:${port}`])
      await stand.client.applyTable({ ...table, listeners: [{ address, protocol: 'http' }] })
    await onlyNewWorkers()
    const { answered, wrong } = await load.stop()
    expect(wrong).toEqual([])
    expect(answered).toBeGreaterThan(100)
  },
)
