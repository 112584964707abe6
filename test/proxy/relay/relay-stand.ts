import { afterAll, afterEach, beforeAll } from 'vitest'
import { ProxyStand, RawUpstream, tableOf } from '../stand.ts'

export let stand: ProxyStand
let upstreams: { close(): void }[] = []

beforeAll(async () => {
  stand = await ProxyStand.start(tableOf([]))
})
afterAll(() => stand.stop())
afterEach(() => {
  for (const upstream of upstreams) upstream.close()
  upstreams = []
})

/** An upstream that says these lines to each request, as the only instance of the host. */
export async function answering(...lines: string[]): Promise<RawUpstream> {
  return use(await RawUpstream.answering(...lines))
}

/** Makes an upstream the only instance of the host, until the test ends. */
export async function use<
  T extends { close(): void; spec: { instance: string; host: string; port: number } },
>(upstream: T): Promise<T> {
  upstreams.push(upstream)
  await stand.client.applyTable(tableOf([upstream.spec]))
  return upstream
}
