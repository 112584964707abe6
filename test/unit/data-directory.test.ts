import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { openDataDirectory } from '../../preset/data-directory.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'deployer-data-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** A process that holds the directory's lock for so long. */
async function holdLock(ms: number): Promise<void> {
  const program = `
    const { takeDataLock } = await import('${new URL('../../server/data-directory.ts', import.meta.url).href}')
    const lock = takeDataLock(process.argv[1])
    process.stdout.write('held')
    setTimeout(() => lock.release(), ${ms})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, directory])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
}

it('can be opened by a server although a command checks at the same moment for a running one', async () => {
  await holdLock(200)
  openDataDirectory(directory).release()
})

it('is refused while another server has it', async () => {
  await holdLock(60_000)
  expect(() => openDataDirectory(directory)).toThrow(`--data-dir ${directory} is in use by another server`)
})
