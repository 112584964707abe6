import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Machine } from '../stand/machine.ts'
import { obstacle } from './obstacle.ts'
import { PAGE_COMMAND, startPlace, type Place } from './place.ts'

const SLOW = { tags: ['slow'] }
/** A service's own port. */
const PORT = 10_000

/** A container of a service, and the machine on which it runs. */
interface Held {
  machine: Machine
  container: string
  addresses: string[]
}

describe.skipIf(obstacle !== null)('the private network of an environment on several machines', () => {
  let place: Place

  beforeAll(async () => {
    place = await startPlace()
    const [, ...others] = place.machines
    await place.join(...others)
    await place.server.api('POST', '/environments', { name: 'staging' })
    for (const { name } of place.machines) await place.run(`on-${name}`, PAGE_COMMAND, on(name))
    for (const { name } of place.machines) {
      await place.run(`other-${name}`, PAGE_COMMAND, { environment: 'staging', ...on(name) })
    }
  })
  afterAll(() => place?.stop())

  const on = (name: string) => ({ placement: { nodes: [name] } })

  /** The container of a service that is on one machine alone. */
  async function held(name: string, query = ''): Promise<Held> {
    const { body } = await place.server.api('GET', `/services/${name}${query}`)
    const machine = place.machines.find((each) => name.endsWith(each.name))!
    const container = (await place.containers(machine, body.id))[0]!.name
    const format = '{{range .NetworkSettings.Networks}}{{println .IPAddress}}{{end}}'
    const addresses = await machine.docker('inspect', '--format', format, container)
    return { machine, container, addresses: addresses.trim().split('\n') }
  }

  const inside = ({ machine, container }: Held, command: string) =>
    machine.docker('exec', container, 'sh', '-c', command)

  /** The first page at an address, as a container gets it; null if it gets none. */
  async function fetched(from: Held, address: string): Promise<string | null> {
    // BusyBox's wget crashes on some kernels.
    const ask = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 5 ${address} ${PORT}`
    const answer = await inside(from, ask).catch(() => '')
    return /^HTTP\/1\.\d 200/.test(answer) ? answer.split('\r\n\r\n')[1]!.trim() : null
  }

  /** The addresses that a name has for a container. */
  async function resolved(from: Held, name: string): Promise<string[]> {
    const answer = await inside(from, `nslookup -type=a ${name}`).catch(() => '')
    return [...answer.matchAll(/^Address:\s*([\d.]+)$/gm)].map(([, address]) => address!)
  }

  test('has the names of all its services on each node, which lead to them', SLOW, async () => {
    for (const from of place.machines) {
      for (const to of place.machines) {
        const asker = await held(`on-${from.name}`)
        const addresses = await resolved(asker, `on-${to.name}`)
        expect({ to: to.name, addresses }).toEqual({ to: to.name, addresses: [expect.any(String)] })
        const { container } = await held(`on-${to.name}`)
        const host = await to.docker('inspect', '--format', '{{.Config.Hostname}}', container)
        expect(await fetched(asker, addresses[0]!)).toBe(host.trim())
      }
    }
  })

  test(
    'is an environment’s alone on every node: another one reaches nothing by name or by address',
    SLOW,
    async () => {
      for (const from of place.machines) {
        const stranger = await held(`other-${from.name}`, '?environment=staging')
        // It can ask and it can connect.
        expect(await resolved(stranger, `other-${from.name}`)).toHaveLength(1)
        expect(await fetched(stranger, '127.0.0.1')).not.toBeNull()
        for (const to of place.machines) {
          const { addresses } = await held(`on-${to.name}`)
          expect(await resolved(stranger, `on-${to.name}`)).toEqual([])
          const pages = await Promise.all(addresses.map((address) => fetched(stranger, address)))
          expect({ to: to.name, pages }).toEqual({ to: to.name, pages: addresses.map(() => null) })
        }
      }
    },
  )

  test(
    'lets the server reach its services on each node, and gives each node only what runs there',
    SLOW,
    async () => {
      for (const { name } of place.machines) {
        const { bodies, failures } = await place.underLoad(`on-${name}`, async () => {})
        expect(failures).toEqual([])
        expect(bodies.size).toBe(1)
        const node = (await place.nodes()).find((each) => each.name === name)
        expect(node).toMatchObject({ status: 'ready', instances: 2 })
      }
    },
  )
})
