import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Channel, ChannelError, connectChannel } from '../../proxy/control/channel.ts'
import type { RouteTable, TableMessage } from '../../proxy/protocol.ts'
import { ComingChanges } from '../../proxy/supervisor/coming-changes.ts'
import { ServedTable } from '../../proxy/supervisor/served-table.ts'
import { TableDelivery } from '../../proxy/supervisor/table-delivery.ts'
import { TableImage } from '../../proxy/table/image.ts'
import { SentTable } from '../../proxy/table/sent-table.ts'

/** Enough for changes of many messages. */
const MANY = 1_000

function tableOf(name: string): RouteTable {
  const numbers = Array.from({ length: MANY }, (_, number) => number)
  const targetOf = (id: string) => ({
    id,
    state: 'serving' as const,
    upstreams: [{ instance: `${id}-${name}`, host: '127.0.0.1', port: 3000 }],
  })
  return {
    version: 1,
    listeners: [],
    hosts: {},
    targets: Object.fromEntries(numbers.map((number) => [`srv-${number}`, targetOf(`srv-${number}`)])),
    zones: {},
    certificates: {},
    acme_challenges: {},
    tls_challenges: {},
    verification_key: '',
    hsts_seconds: 0,
    h2c: false,
    trusted_proxies: [],
    upstream_timeout_ms: 1_000,
    max_connections_per_ip: 1_000,
  }
}

/** Tables that follow each other, as a supervisor has them. */
function served(...names: string[]): ServedTable[] {
  const sender = new SentTable()
  const reader = TableImage.reader()
  let image: TableImage | null = null
  return names.map((name) => {
    for (const message of sender.become(tableOf(name))) {
      const text = reader.read(JSON.parse(message) as object, message)
      if (!text) continue
      const table = ServedTable.after(image, text)
      image = table.image
      return table
    }
    throw new Error('the table has no end')
  })
}

/** The other end of a worker's channel: it records what it gets, and refuses what it is asked to refuse. */
class Worker {
  readonly taken: TableMessage[] = []
  refuses: (message: TableMessage) => boolean = () => false
  readonly delivery: TableDelivery

  private constructor(delivery: TableDelivery) {
    this.delivery = delivery
  }

  static async open({ isOlder = false } = {}): Promise<Worker> {
    const folder = mkdtempSync(join(tmpdir(), 'deployer-delivery-'))
    const file = join(folder, 'worker.sock')
    const holder: { worker?: Worker } = {}
    const server = createServer((socket) => new Channel(socket, (_op, body) => holder.worker!.#take(body)))
    await new Promise<void>((resolve) => server.listen(file, resolve))
    const channel = await connectChannel(file, () => null)
    onTestFinished(() => {
      channel.destroy()
      server.close()
      rmSync(folder, { recursive: true })
    })
    return (holder.worker = new Worker(new TableDelivery(channel, isOlder)))
  }

  #take(body: object): object | null {
    const message = body as TableMessage
    if (this.refuses(message)) throw new ChannelError('invalid_table', 'refused')
    this.taken.push(message)
    return message.settings ? { listeners: [] } : null
  }

  /** The parts that came since the last call, and whether they are changes. */
  parts(): [part: number, base: boolean][] {
    return this.taken.splice(0).map(({ part, base }) => [part, base])
  }
}

/** How the messages of a table are numbered. */
function partsOf(messages: readonly string[]): [part: number, base: boolean][] {
  return messages.map((message) => {
    const { part, base } = JSON.parse(message) as TableMessage
    return [part, base]
  })
}

test('a worker has all changes but the last when they are known to be a table, and gets none twice', async () => {
  const [first, second] = served('a', 'b') as [ServedTable, ServedTable]
  const worker = await Worker.open()
  await worker.delivery.give(first)
  worker.parts()
  const messages = second.changesTo(first.image)!
  const coming = new ComingChanges(first.image)
  worker.delivery.follow(coming)
  for (const [index, message] of messages.slice(0, -1).entries()) {
    coming.add(message)
    await expect.poll(() => worker.taken.length).toBe(index + 1)
  }
  await worker.delivery.give(second)
  expect(messages.length).toBeGreaterThan(3)
  expect(worker.parts()).toEqual(partsOf(messages))
})

test('abandoned changes are followed by those of another table from their beginning', async () => {
  const [first, second] = served('a', 'b') as [ServedTable, ServedTable]
  const [, other] = served('a', 'c') as [ServedTable, ServedTable]
  const worker = await Worker.open()
  await worker.delivery.give(first)
  worker.parts()
  const abandoned = new ComingChanges(first.image)
  worker.delivery.follow(abandoned)
  for (const message of other.messages.slice(0, 3)) abandoned.add(message)
  await expect.poll(() => worker.taken.length).toBe(3)
  const coming = new ComingChanges(first.image)
  worker.delivery.follow(coming)
  abandoned.add('comes too late')
  const messages = second.changesTo(first.image)!
  for (const message of messages.slice(0, 2)) coming.add(message)
  await worker.delivery.give(second)
  expect(worker.parts()).toEqual([...partsOf(other.messages.slice(0, 3)), ...partsOf(messages)])
})

test('changes that are still arriving delay no other table', async () => {
  const [first, second] = served('a', 'b') as [ServedTable, ServedTable]
  const [, other] = served('a', 'c') as [ServedTable, ServedTable]
  const worker = await Worker.open()
  await worker.delivery.give(first)
  worker.parts()
  const coming = new ComingChanges(first.image)
  worker.delivery.follow(coming)
  coming.add(other.messages[0]!)
  await expect.poll(() => worker.taken.length).toBe(1)
  await worker.delivery.give(second)
  coming.add(other.messages[1]!)
  expect(worker.parts()).toEqual(partsOf([other.messages[0]!, ...second.changesTo(first.image)!]))
})

test('a worker that refuses changes while they come gets the whole table', async () => {
  const [first, second] = served('a', 'b') as [ServedTable, ServedTable]
  const worker = await Worker.open()
  await worker.delivery.give(first)
  worker.parts()
  worker.refuses = ({ base }) => base
  const coming = new ComingChanges(first.image)
  worker.delivery.follow(coming)
  for (const message of second.changesTo(first.image)!.slice(0, -1)) coming.add(message)
  await worker.delivery.give(second)
  expect(worker.parts()).toEqual(partsOf([...second.image.messages()]))
})

test('a worker that has another table, or an older program, does not follow changes', async () => {
  const [first, second] = served('a', 'b') as [ServedTable, ServedTable]
  for (const [given, isOlder] of [
    [second, false],
    [first, true],
  ] as const) {
    const worker = await Worker.open({ isOlder })
    await worker.delivery.give(given)
    worker.parts()
    const coming = new ComingChanges(first.image)
    worker.delivery.follow(coming)
    const messages = second.changesTo(first.image)!
    coming.add(messages[0]!)
    await worker.delivery.give(second)
    const expected = isOlder ? messages : [...second.image.messages()]
    expect(worker.parts()).toEqual(partsOf(expected))
  }
})
