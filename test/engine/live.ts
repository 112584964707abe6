import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { promisify } from 'node:util'
import type { TestServer } from '../support/server.ts'
import { standEngine } from '../support/stand-setup.ts'
import { waitFor } from '../support/wait.ts'

/** What the data plane answers for a host; fetch cannot set Host. */
export function fetchFrom(
  server: TestServer,
  host: string,
  path = '/',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port: server.httpPort, path, headers: { host } },
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

/** Waits for a deploy's end and answers how it ended. */
export function endOf(
  server: TestServer,
  deployId: string,
): Promise<{ status: string; error: string | null }> {
  return waitFor(async () => {
    const { body } = await server.api('GET', `/deploys/${deployId}`)
    return ['queued', 'building', 'deploying'].includes(body.status)
      ? null
      : (body as { status: string; error: string | null })
  }, `the end of ${deployId}`)
}

/** Runs the engine's client on the test stand's engine. */
export async function docker(...args: string[]): Promise<string> {
  return (await promisify(execFile)('docker', ['-H', standEngine(), ...args])).stdout.trim()
}

/** The names of a service's containers, ended ones included. */
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
