import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { endOlder, greet, type Greeted } from '../../daemon/proxy/greeting.ts'
import { Channel } from '../../proxy/control/channel.ts'

/** A data directory with the folder of a data plane. */
function dataDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'deployer-greeting-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'proxy'))
  return directory
}

interface Said {
  version: string
  pid?: number
  server_id?: string
}

/** A supervisor that identifies itself, and nothing more. */
async function supervise(socket: string, said: Said): Promise<void> {
  const server = createServer((connection) => new Channel(connection, () => null).event('hello', said))
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  onTestFinished(() => void server.close())
}

/** The data plane that is found in a data directory. */
async function meet(directory: string): Promise<Greeted | null> {
  const met = await greet(directory, 0)
  met?.channel.destroy()
  return met
}

/** A process that a supervisor claims to be. */
function claimed(): ChildProcess {
  const child = spawn('sleep', ['60'])
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test('a data plane whose socket is where older ones had it is found, which changes nothing', async () => {
  const directory = dataDirectory()
  await supervise(join(directory, 'proxy.sock'), { version: 'older' })
  expect((await meet(directory))?.hello.version).toBe('older')
  expect((await meet(directory))?.hello.version).toBe('older')
  expect(readdirSync(directory, { recursive: true }).sort()).toEqual(['proxy', 'proxy.sock'])
})

test('it is found behind the socket of one that has died, and without a folder', async () => {
  const directory = dataDirectory()
  await supervise(join(directory, 'proxy.sock'), { version: 'older' })
  writeFileSync(join(directory, 'proxy/control.sock'), '')
  expect((await meet(directory))?.hello.version).toBe('older')
  rmSync(join(directory, 'proxy'), { recursive: true })
  expect((await meet(directory))?.hello.version).toBe('older')
})

test('if an older data plane has died none is found', async () => {
  const directory = dataDirectory()
  writeFileSync(join(directory, 'proxy.sock'), '')
  expect(await meet(directory)).toBeNull()
})

describe('if an older data plane accepts next to the one that is found', () => {
  /** Finds the one of server `a`, and whether the older one, which says this about itself, was ended. */
  async function endBeside(older: Said): Promise<boolean> {
    const directory = dataDirectory()
    await supervise(join(directory, 'proxy/control.sock'), { version: 'today', pid: 1, server_id: 'a' })
    await supervise(join(directory, 'proxy.sock'), older)
    const met = await meet(directory)
    expect(met?.hello.version).toBe('today')
    return endOlder(directory, met!)
  }

  test('one of another server is left alone', async () => {
    const child = claimed()
    expect(await endBeside({ version: 'older', pid: child.pid!, server_id: 'b' })).toBe(false)
    expect(child.kill(0)).toBe(true)
  })

  test('the same one is left alone', async () => {
    expect(await endBeside({ version: 'today', pid: 1, server_id: 'a' })).toBe(false)
  })
})
