import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FLAGS, flagsFor } from '../../proxy/control/node-flags.ts'

const [REFUSED, ...OTHERS] = FLAGS.worker

test.each(['worker', 'supervisor'] as const)('the running node knows every flag of a %s', (role) => {
  expect(flagsFor(process.execPath, role)).toEqual(FLAGS[role])
})

test('a flag that a node refuses is left out', () => {
  const node = nodeThat(`case " $* " in *" ${REFUSED} "*) exit 9 ;; esac`)
  expect(flagsFor(node.file, 'worker')).toEqual(OTHERS)
})

test.each(['exit 1', 'kill -9 $$'])('a node that fails otherwise (%s) keeps the flags', (failure) => {
  expect(flagsFor(nodeThat(failure).file, 'worker')).toEqual(FLAGS.worker)
})

test('a node is asked once, and its replacement again', () => {
  const node = nodeThat('exit 0')
  for (let start = 0; start < 3; start++) flagsFor(node.file, 'worker')
  expect(node.asked).toBe(1)
  node.replace('exit 9')
  expect(flagsFor(node.file, 'worker')).toEqual([])
})

/** A program in place of a node, which records that it was run. */
function nodeThat(does: string) {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-node-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'node')
  const notes = join(folder, 'notes')
  const replace = (script: string) => {
    rmSync(file, { force: true })
    writeFileSync(file, `#!/bin/sh\necho >> ${notes}\n${script}\n`, { mode: 0o755 })
  }
  replace(does)
  return {
    file,
    replace,
    get asked() {
      return readFileSync(notes, 'latin1').length
    },
  }
}
