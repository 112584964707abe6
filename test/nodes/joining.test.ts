import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type ConnectionOptions } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Machine } from '../stand/machine.ts'
import { makeSelfSigned } from '../support/certificate.ts'
import { waitFor } from '../support/wait.ts'
import { obstacle } from './obstacle.ts'
import { startPlace, type Place } from './place.ts'

/** Where agents, and the server for them, listen. */
const NODE_PORT = 7879
/** A stranger that is let in has its answer by then. */
const ANSWER_MS = 5_000

const SLOW = { tags: ['slow'] }

describe.skipIf(obstacle !== null)('a join', () => {
  let place: Place

  beforeAll(async () => {
    place = await startPlace()
  })
  afterAll(() => place?.stop())

  /** The part of the command that gets the agent's image. */
  const download = (machine: Machine, command: string) =>
    machine.run('sh', '-c', `${command.split('|')[0]} -o /dev/null`)

  test('is not possible with the token of an earlier command', SLOW, async () => {
    const [, second] = place.machines
    const earlier = await place.invite()
    const later = await place.invite()
    await expect(download(second, earlier)).rejects.toThrow(/exit code 22/)
    await download(second, later)
    await expect(second.run('sh', '-ec', earlier)).rejects.toThrow(/exit code/)
    expect(await place.nodes()).toHaveLength(1)
  })

  test('is possible once with a token', SLOW, async () => {
    const [own, second, third] = place.machines
    const command = await place.invite()
    await second.run('sh', '-c', command)
    await place.becomes(second, 'ready')
    await waitFor(
      () =>
        download(third, command).then(
          () => false,
          () => true,
        ),
      'the end of the token',
    )
    await expect(third.run('sh', '-ec', command)).rejects.toThrow(/exit code/)
    // Nor without the server: Swarm soon has another token.
    await waitFor(
      async () => !command.includes((await own.docker('swarm', 'join-token', '-q', 'worker')).trim()),
      'the end of the token of the swarm',
    )
    const swarm = command.slice(command.indexOf('docker swarm join'))
    await expect(third.run('sh', '-c', swarm)).rejects.toThrow(/token/)
    expect(await place.nodes()).toHaveLength(2)
  })

  test('is checked between all pairs of nodes, in words that name what is closed', SLOW, async () => {
    const [, second] = place.machines
    const check = async () => (await place.server.api('POST', `/nodes/${second.name}/check`)).body
    expect(await check()).toMatchObject({ ok: true })
    const rule = ['INPUT', '-p', 'udp', '--dport', '4789', '-j', 'DROP']
    await second.run('iptables', '-I', ...rule)
    const { ok, checks } = await check()
    await second.run('iptables', '-D', ...rule)
    expect(ok).toBe(false)
    const closed = checks.filter((each: { ok: boolean }) => !each.ok)
    expect(closed).not.toEqual([])
    for (const { message } of closed) expect(message).toContain('4789')
  })

  test('opens nothing to a stranger, neither on the node nor on the server', SLOW, async () => {
    const [own, second] = place.machines
    const folder = mkdtempSync(join(tmpdir(), 'deployer-stranger-'))
    try {
      const made = await makeSelfSigned(folder, 'server.deployer')
      const identity = { cert: readFileSync(made.certificate), key: readFileSync(made.key) }
      for (const options of [{}, identity]) {
        for (const ALPNProtocols of [['deployer-engine'], ['http/1.1']]) {
          const heard = await hear(second, { ...options, ALPNProtocols })
          expect(heard).not.toContain('HTTP/1.1 200')
          expect(heard).not.toContain('Containers')
        }
        expect(await hear(own, options, '/v2/')).toMatch(/^HTTP\/1\.1 401/)
      }
      for (const machine of [own, second]) {
        const engines = await Promise.all([2375, 2376].map((port) => isOpen(machine, port)))
        expect(engines).toEqual([false, false])
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe.skipIf(obstacle !== null)('a server whose engine has live-restore', () => {
  let place: Place

  beforeAll(async () => {
    place = await startPlace({ configuration: { 'live-restore': true } })
  })
  afterAll(() => place?.stop())

  test('refuses further nodes with one sentence, and changes nothing', SLOW, async () => {
    const { status, body } = await place.server.api('POST', '/nodes', {})
    expect({ status, body }).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(body.error.message).toContain('live-restore')
    const [own] = place.machines
    expect(await own.docker('info', '--format', '{{.Swarm.LocalNodeState}}')).toBe('inactive\n')
    expect(await place.nodes()).toHaveLength(1)
  })
})

/** What a machine answers to a request over TLS, until it closes the connection or no more comes. */
function hear(machine: Machine, options: ConnectionOptions, path = '/info'): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let heard = ''
  const socket = connect({ host: machine.address, port: NODE_PORT, rejectUnauthorized: false, ...options })
  const end = setTimeout(() => socket.destroy(), ANSWER_MS)
  socket.on('secureConnect', () =>
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  )
  socket.setEncoding('latin1').on('data', (text: string) => (heard += text))
  // It is turned away during the handshake or after it.
  socket.on('error', () => {})
  socket.on('close', () => {
    clearTimeout(end)
    resolve(heard)
  })
  return promise
}

function isOpen(machine: Machine, port: number): Promise<boolean> {
  return machine.run('curl', '-s', '-m', '2', `telnet://${machine.address}:${port}`).then(
    () => true,
    (error: Error) => !error.message.includes('exit code 7'),
  )
}
