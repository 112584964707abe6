import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { greet } from '../../daemon/proxy/greeting.ts'
import { Channel } from '../../proxy/control/channel.ts'

/** A data directory with the folder of a data plane. */
function dataDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'deployer-greeting-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'proxy'))
  return directory
}

/** A supervisor that says a version, and nothing more. */
async function supervise(socket: string, version: string): Promise<void> {
  const server = createServer((connection) => new Channel(connection, () => null).event('hello', { version }))
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  onTestFinished(() => void server.close())
}

/** The version of the data plane that is met in a data directory. */
async function versionOf(directory: string): Promise<string | undefined> {
  const met = await greet(directory, 0)
  met?.channel.destroy()
  return met?.hello.version
}

test('a data plane whose socket lies where older ones had it is met, each time', async () => {
  const directory = dataDirectory()
  await supervise(join(directory, 'proxy.sock'), 'older')
  expect(await versionOf(directory)).toBe('older')
  expect(await versionOf(directory)).toBe('older')
})

test('a socket that an older data plane left takes nobody its place', async () => {
  const directory = dataDirectory()
  await supervise(join(directory, 'proxy/control.sock'), 'today')
  await supervise(join(directory, 'proxy.sock'), 'older')
  expect(await versionOf(directory)).toBe('today')
})

test('where an older data plane has died nobody is met', async () => {
  const directory = dataDirectory()
  writeFileSync(join(directory, 'proxy.sock'), '')
  expect(await versionOf(directory)).toBeUndefined()
})
