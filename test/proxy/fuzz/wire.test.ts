import { expect, test } from 'vitest'
import { closed } from '../apps.ts'
import { watched } from '../smuggling/witness.ts'
import { offersUpgrade, piecesOf, refusedByNode } from './agreement.ts'
import { FUZZ_TIMEOUT_MS, fuzz } from './fuzz.ts'
import { readRequests, type RelayMessage } from './relay-reader.ts'
import { REQUEST_SEEDS } from './seeds.ts'

/** A slow machine takes longer than the time for so many. */
const FEWEST_CASES = 50

const both = watched()

/** Its answer is the upstream's first: nothing else answers it, asks for its body or makes another protocol of it. */
function isPlain(message: RelayMessage): boolean {
  const known = message.fields.some(
    ([name, value]) => name.toLowerCase() === 'host' && /^app\.test\.?(?::\d+)?$/i.test(value),
  )
  return known && !message.expects && !refusedByNode(message) && !offersUpgrade(message)
}

async function wireFault(bytes: Buffer, cuts: readonly number[]): Promise<string | null> {
  const { messages, fault } = readRequests(bytes)
  if (!messages.every(isPlain) || fault === '405') return null
  both.witness.forget()
  const client = both.stand.raw()
  client.socket.setNoDelay()
  for (const piece of piecesOf(bytes, cuts)) client.socket.write(piece)
  client.socket.end()
  await closed(client)
  client.close()
  const whole = messages.filter(({ complete }) => complete)
  const read = JSON.stringify(both.witness.read)
  if (read !== JSON.stringify(whole.map(({ start, body }) => [start, body])))
    return `the upstream read ${read}`
  const statuses = [...client.received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)
  const expected = whole.map(() => '200')
  // A client that ends in the middle of a line is not told that the line is bad.
  if (fault && statuses.length > expected.length) expected.push(fault)
  return statuses.join() === expected.join()
    ? null
    : `the statuses are ${statuses.join()}, not ${expected.join()}`
}

test(
  'whatever bytes a client sends, the upstream reads the requests in them and nothing else',
  { timeout: FUZZ_TIMEOUT_MS },
  async () => {
    expect(await fuzz(REQUEST_SEEDS, FEWEST_CASES, wireFault)).toBeGreaterThanOrEqual(FEWEST_CASES)
  },
)
