import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { flagsFor } from '../../proxy/control/node-flags.ts'
import { PROGRAM } from './stand.ts'

test('the program is loaded without calling any function so often that a compiler is loaded for it', () => {
  const flags = [...flagsFor(process.execPath, 'worker'), '--trace-opt', '--trace-osr']
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, PROGRAM, 'nobody'], { encoding: 'utf8' })
  expect(stderr).toContain('the first argument must be supervisor, starter or worker')
  expect(stdout).toBe('')
})
