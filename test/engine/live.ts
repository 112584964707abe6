import { execFile, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { request } from 'node:http'
import { promisify } from 'node:util'
import type { TestServer } from '../support/server.ts'
import { standEngine } from '../support/stand-setup.ts'
import { waitFor } from '../support/wait.ts'

/** What the data plane answers for a host; fetch cannot set Host. */
export function fetchFrom(
  server: Pick<TestServer, 'host' | 'httpPort'>,
  host: string,
  path = '/',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: server.host, port: server.httpPort, path, headers: { host } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** Waits for a deploy's end and returns how it ended; `limitMs` for one that compiles much. */
export function endOf(
  server: TestServer,
  deployId: string,
  limitMs?: number,
): Promise<{ status: string; error: string | null }> {
  const end = async () => {
    const { body } = await server.api('GET', `/deploys/${deployId}`)
    return ['queued', 'building', 'deploying'].includes(body.status)
      ? null
      : (body as { status: string; error: string | null })
  }
  return waitFor(end, `the end of ${deployId}`, limitMs)
}

/** Counts what happens to the container of a name from now on, even if it is created again. */
export function countEvents(container: string, event: string): { count: number; stop: () => void } {
  const filters = ['--filter', `container=${container}`, '--filter', `event=${event}`]
  const args = ['-H', standEngine(), 'events', '--format', '{{.Actor.Attributes.name}}', ...filters]
  const watch = spawn('docker', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const counted = { count: 0, stop: () => void watch.kill() }
  // The engine's filter also matches names that begin like this one.
  createInterface(watch.stdout).on('line', (name) => (counted.count += name === container ? 1 : 0))
  return counted
}

/** Runs the engine's client on the test stand's engine. */
export async function docker(...args: string[]): Promise<string> {
  return (await promisify(execFile)('docker', ['-H', standEngine(), ...args])).stdout.trim()
}

/** The names of a service's containers, including stopped ones. */
export async function containersOf(serviceId: string): Promise<string[]> {
  const names = await docker(
    'ps',
    '-a',
    '--filter',
    `label=deployer.service=${serviceId}`,
    '--format',
    '{{.Names}}',
  )
  return names === '' ? [] : names.split('\n')
}
