import { beforeAll, expect, test } from 'vitest'
import { ensurePackages, findProgram } from '../../stand/packages.ts'
import { run } from '../../stand/run.ts'
import { secureTable } from '../secure.ts'
import { app, start as startStand } from '../lifetimes.ts'
import { HOST, type ProxyStand } from '../stand.ts'

const INSTALL_HANG_MS = 300_000
const REQUESTS = 5_000

beforeAll(() => ensurePackages(), INSTALL_HANG_MS)

/** A data plane in front of an app that answers its path and name; returns its encrypted port. */
async function start(): Promise<{ stand: ProxyStand; port: number }> {
  const upstream = await app('app')
  const stand = await startStand(secureTable([upstream.spec]))
  return { stand, port: stand.client.bound.find(({ host }) => host === '127.0.0.2')!.port }
}

function curl(port: number, ...args: string[]): Promise<string> {
  const fixed = ['--silent', '--show-error', '--insecure', '--connect-to', `${HOST}:443:127.0.0.2:${port}`]
  return run(findProgram('curl')!, [...fixed, ...args])
}

test('curl is answered over HTTP/2, over HTTP/1.1 when it asks for that, and with a body', async () => {
  const { port } = await start()
  const write = ['--write-out', ' over %{http_version} %{http_code}']
  const url = `https://${HOST}/page`
  expect(await curl(port, ...write, '--http2', url)).toBe('/page app over 2 200')
  expect(await curl(port, ...write, '--http1.1', url)).toBe('/page app over 1.1 200')
  expect(await curl(port, ...write, '--http2', '--data', 'x'.repeat(100_000), url)).toBe(
    '/page app over 2 200',
  )
  expect(await curl(port, '--http2', '--head', url)).toMatch(/^HTTP\/2 200 \r\n[^]*\r\n\r\n$/)
})

test('h2load gets an answer to every request on many streams of many connections', async () => {
  const { stand, port } = await start()
  const args = ['-n', String(REQUESTS), '-c', '8', '-m', '32', '--connect-to', `127.0.0.2:${port}`]
  const report = await run(findProgram('h2load')!, [...args, `https://${HOST}/load`])
  expect(report).toContain(
    `requests: ${REQUESTS} total, ${REQUESTS} started, ${REQUESTS} done, ${REQUESTS} succeeded, 0 failed`,
  )
  expect(report).toContain(`status codes: ${REQUESTS} 2xx`)
  await expect.poll(async () => (await stand.client.counts()).targets['srv-app']!.status_2xx).toBe(REQUESTS)
})
