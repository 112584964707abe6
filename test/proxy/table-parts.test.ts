import { expect, onTestFinished, test } from 'vitest'
import { connectChannel, type Channel } from '../../proxy/control/channel.ts'
import { controlSocketFile } from '../../proxy/control/paths.ts'
import type { RouteTable } from '../../proxy/protocol.ts'
import { SentTable } from '../../proxy/table/sent-table.ts'
import { app, start } from './lifetimes.ts'
import { HOST, type HttpUpstream, type ProxyStand, statusOf, tableOf, targetOf } from './stand.ts'

/** Only a hang takes longer. */
const ANSWER_MS = 10_000
/** Enough hosts for a table of many messages. */
const MANY = 2_000

/** A table of many hosts, the app's last: a part of the table does not contain that one. */
function manyHosts(name: string, upstream: HttpUpstream): RouteTable {
  const table = tableOf([upstream.spec], { hosts: {}, targets: {} })
  for (let number = 0; number < MANY; number++) {
    table.hosts[`${name}-${number}.test`] = `srv-${number}`
    const spec = { ...upstream.spec, instance: `${name}-${number}` }
    table.targets[`srv-${number}`] = targetOf([spec], 'serving', `srv-${number}`)
  }
  table.hosts[HOST] = 'app'
  table.targets.app = targetOf([upstream.spec])
  return table
}

/** A control plane that sends the messages of its tables by hand. */
class Sender {
  readonly #channel: Channel
  readonly #sent = new SentTable()
  #held: string[] = []

  static async open(stand: ProxyStand): Promise<Sender> {
    const channel = await connectChannel(controlSocketFile(stand.directory), () => null)
    onTestFinished(() => channel.destroy())
    await channel.request('attach', { server_id: 'server-1', workers: 0 }, ANSWER_MS)
    return new Sender(channel)
  }

  private constructor(channel: Channel) {
    this.#channel = channel
  }

  /** Sends half of the messages of a table. */
  async begin(table: RouteTable): Promise<void> {
    const messages = [...this.#sent.become(table)]
    if (messages.length < 4) throw new Error('the table is too small to come in parts')
    this.#held = messages.splice(messages.length / 2)
    await this.#sendAll(messages)
  }

  /** Sends the rest. */
  async finish(): Promise<void> {
    await this.#sendAll(this.#held)
  }

  async #sendAll(messages: readonly string[]): Promise<void> {
    for (const message of messages) await this.#channel.request('table', message, ANSWER_MS)
  }

  async send(table: RouteTable): Promise<void> {
    await this.begin(table)
    await this.finish()
  }

  leave(): void {
    this.#channel.destroy()
  }
}

/** What answers for a host; the status if nothing does. */
async function serverOf(stand: ProxyStand, host: string): Promise<string | number> {
  const answer = await stand.raw().request('GET / HTTP/1.1', `Host: ${host}`, 'Connection: close').end()
  return statusOf(answer) === 200 ? answer.split(' ').at(-1)! : statusOf(answer)
}

test('a table whose sender is gone before it has arrived completely is not used anywhere', async () => {
  const [one, two, three] = [await app('one'), await app('two'), await app('three')]
  const stand = await start(tableOf([one.spec]), { workers: 2 })
  const sender = await Sender.open(stand)
  await sender.begin(manyHosts('gone', two))
  expect(await serverOf(stand, HOST)).toBe('one')
  sender.leave()
  await stand.client.applyTable(manyHosts('whole', three))
  for (let times = 0; times < 8; times++) {
    expect(await serverOf(stand, HOST)).toBe('three')
    expect(await serverOf(stand, 'whole-7.test')).toBe('three')
    expect(await serverOf(stand, 'gone-7.test')).toBe(404)
  }
  expect(stand.log).not.toContain('is killed')
})

test('a table that is refused at its last message leaves the previous one, and the next is right', async () => {
  const [one, two] = [await app('one'), await app('two')]
  const stand = await start(manyHosts('first', one))
  const { address } = stand.client.bound[0]!
  const listeners = (['http', 'https'] as const).map((protocol) => ({ address, protocol }))
  await expect(stand.client.applyTable({ ...manyHosts('next', two), listeners })).rejects.toThrow('twice')
  expect(await serverOf(stand, HOST)).toBe('one')
  expect(await serverOf(stand, 'first-7.test')).toBe('one')
  expect(await serverOf(stand, 'next-7.test')).toBe(404)
  await stand.client.applyTable(manyHosts('next', two))
  expect(await serverOf(stand, 'first-7.test')).toBe(404)
  expect(await serverOf(stand, 'next-7.test')).toBe('two')
  expect(stand.log).not.toContain('is killed')
})

test('two tables that come at the same time are used one after the other, each of them completely', async () => {
  const [one, two, three] = [await app('one'), await app('two'), await app('three')]
  const stand = await start(tableOf([one.spec]), { workers: 2 })
  const slow = await Sender.open(stand)
  await slow.begin(manyHosts('slow', two))
  await stand.client.applyTable(manyHosts('fast', three))
  expect(await serverOf(stand, 'fast-7.test')).toBe('three')
  expect(await serverOf(stand, 'slow-7.test')).toBe(404)
  await slow.finish()
  expect(await serverOf(stand, HOST)).toBe('two')
  expect(await serverOf(stand, 'fast-7.test')).toBe(404)
  expect(await serverOf(stand, 'slow-7.test')).toBe('two')
  expect(stand.log).not.toContain('is killed')
})

test('changes that another table overtakes are refused', async () => {
  const [one, two, three] = [await app('one'), await app('two'), await app('three')]
  const stand = await start(tableOf([one.spec]))
  const slow = await Sender.open(stand)
  await slow.send(manyHosts('many', one))
  await slow.begin(manyHosts('many', two))
  expect(await serverOf(stand, 'many-7.test')).toBe('one')
  await stand.client.applyTable(manyHosts('many', three))
  await expect(slow.finish()).rejects.toThrow('do not apply to the table in use')
  expect(await serverOf(stand, 'many-7.test')).toBe('three')
  expect(stand.log).not.toContain('is killed')
})

test('changes whose sender is gone before all have arrived are not used anywhere', async () => {
  const [one, two, three] = [await app('one'), await app('two'), await app('three')]
  const stand = await start(tableOf([one.spec]), { workers: 2 })
  const gone = await Sender.open(stand)
  await gone.send(manyHosts('many', one))
  await gone.begin(manyHosts('many', two))
  gone.leave()
  expect(await serverOf(stand, 'many-7.test')).toBe('one')
  const next = await Sender.open(stand)
  await next.send(manyHosts('many', one))
  await next.send(manyHosts('many', three))
  for (let times = 0; times < 8; times++) expect(await serverOf(stand, 'many-7.test')).toBe('three')
  expect(stand.log).not.toContain('is killed')
})

test('a worker that starts while a table arrives gets all of it, like those that keep running', async () => {
  const [one, two] = [await app('one'), await app('two')]
  const stand = await start(tableOf([one.spec]), { workers: 2 })
  const sender = await Sender.open(stand)
  await sender.send(manyHosts('many', one))
  await sender.begin(manyHosts('many', two))
  const { workers } = await stand.processes()
  process.kill(workers[0]!, 'SIGKILL')
  const others = async () => (await stand.processes()).workers.filter((pid) => pid !== workers[0])
  await expect.poll(async () => (await others()).length).toBe(2)
  await expect.poll(() => serverOf(stand, 'many-7.test')).toBe('one')
  await sender.finish()
  for (let times = 0; times < 8; times++) expect(await serverOf(stand, 'many-7.test')).toBe('two')
  expect(stand.log).not.toContain('is killed')
})

test('a supervisor that dies while a table arrives leaves the previous one in use', async () => {
  const [one, two, three] = [await app('one'), await app('two'), await app('three')]
  const stand = await start(manyHosts('many', one), { workers: 2 })
  const sender = await Sender.open(stand)
  await sender.begin(manyHosts('many', two))
  const reconnected = stand.reconnection()
  process.kill((await stand.processes()).supervisor, 'SIGKILL')
  expect(await serverOf(stand, 'many-7.test')).toBe('one')
  await reconnected
  expect(await serverOf(stand, 'many-7.test')).toBe('one')
  await stand.client.applyTable(manyHosts('many', three))
  for (let times = 0; times < 8; times++) expect(await serverOf(stand, 'many-7.test')).toBe('three')
  expect(stand.log).not.toContain('is killed')
})
