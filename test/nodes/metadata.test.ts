import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findProgram } from '../stand/packages.ts'
import { waitFor } from '../support/wait.ts'
import { obstacle } from './obstacle.ts'
import { PAGE_COMMAND, startPlace, type Place } from './place.ts'

/** What plays the metadata service of the other machine, and an ordinary one beside it. */
const METADATA = '169.254.169.254'
const ORDINARY = '198.51.100.1'

describe.skipIf(obstacle !== null)('metadata addresses of another machine', () => {
  let place: Place
  let container: string

  beforeAll(async () => {
    place = await startPlace()
    const [, other] = place.machines
    for (const address of [METADATA, ORDINARY])
      await other.run('ip', 'address', 'add', `${address}/32`, 'dev', 'lo')
    await other.run('sh', '-c', serving)
    await place.join(other)
    const id = await place.run('asking', PAGE_COMMAND, { placement: { nodes: [other.name] } })
    container = (await place.containers(other, id))[0]!.name
  })
  afterAll(() => place?.stop())

  const serving = `${process.execPath} -e "require('http').createServer((_, answer) => answer.end('here')).listen(80, '0.0.0.0')" > /dev/null 2>&1 &`

  /** What a container there gets from an address, or why not. BusyBox's wget crashes on some kernels. */
  const asked = (address: string): Promise<string> => {
    const ask = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 3 ${address} 80 2>&1 || true`
    return place.machines[1].docker('exec', container, 'sh', '-c', ask)
  }

  const tables = () => place.machines[1].run(findProgram('nft')!, 'list', 'tables')

  test('are refused to containers there, until the machine leaves', { tags: ['slow'] }, async () => {
    const [, other] = place.machines
    await waitFor(async () => (await asked(ORDINARY)).endsWith('here'), 'what plays the services')
    expect(await asked(METADATA)).toContain('refused')
    expect((await place.nodes())[1]).toMatchObject({ status: 'ready', reason: null })
    expect(await tables()).toContain('inet deployer_')
    // A drain is refused while a service has no place elsewhere.
    expect(await place.server.api('DELETE', '/services/asking')).toMatchObject({ status: 204 })
    expect(await place.patch(other, { availability: 'drain' })).toMatchObject({ status: 200 })
    await place.becomes(other, 'drained')
    expect(await place.remove(other)).toMatchObject({ status: 204 })
    expect(await tables()).not.toContain('inet deployer_')
  })
})
