import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { receive, removeUnfinished } from '#agent/receive.ts'
import { packed } from '#daemon/entries/sending.ts'

let from: string
let to: string

beforeEach(() => {
  from = mkdtempSync(join(tmpdir(), 'deployer-sent-'))
  to = mkdtempSync(join(tmpdir(), 'deployer-received-'))
  mkdirSync(join(from, 'site', 'files', 'a'), { recursive: true })
  writeFileSync(join(from, 'site', 'files', 'a', `${'long-'.repeat(40)}ü.html`), 'hello')
  writeFileSync(join(from, 'site', 'rules.json'), '{}')
  writeFileSync(join(from, 'key.pem'), 'secret', { mode: 0o644 })
})
afterEach(() => {
  for (const folder of [from, to]) rmSync(folder, { recursive: true })
})

const parcels = () => [
  { path: join(from, 'site'), to: 'files/dep-1' },
  { path: join(from, 'key.pem'), to: 'files/1.pem' },
  { text: 'first', to: 'keeper/settings.json' },
]

test('what is sent arrives with all names and times, for its owner alone', async () => {
  expect((await receive(packed(parcels()), to)).toSorted()).toEqual(['1.pem', 'dep-1'])
  const name = `files/a/${'long-'.repeat(40)}ü.html`
  expect(readFileSync(join(to, 'files', 'dep-1', name), 'utf8')).toBe('hello')
  expect(readFileSync(join(to, 'files', '1.pem'), 'utf8')).toBe('secret')
  expect(statSync(join(to, 'files', '1.pem')).mode & 0o777).toBe(0o600)
  for (const path of ['', 'rules.json', name])
    expect(seconds(join(to, 'files', 'dep-1', path))).toBe(seconds(join(from, 'site', path)))
  expect(readdirSync(to).toSorted()).toEqual(['files', 'keeper'])
})

test('a file replaces an earlier one, and a folder that is there stays', async () => {
  await receive(packed(parcels()), to)
  writeFileSync(join(from, 'site', 'rules.json'), 'other')
  await receive(packed([parcels()[0]!, { text: 'second', to: 'keeper/settings.json' }]), to)
  expect(readFileSync(join(to, 'keeper', 'settings.json'), 'utf8')).toBe('second')
  expect(readFileSync(join(to, 'files', 'dep-1', 'rules.json'), 'utf8')).toBe('{}')
})

test('nothing of what was cut is there, wherever that was', async () => {
  const whole = await buffer(packed(parcels()))
  // A tar stream consists of blocks of this size, so that these are between two entries as well as within one.
  const cuts = Array.from({ length: whole.length / 512 - 2 }, (_, index) => index * 512)
  for (const bytes of [...cuts, ...cuts.map((at) => at + 100)]) {
    const cut = Readable.from([whole.subarray(0, bytes)])
    if (whole.subarray(bytes).some((byte) => byte !== 0)) await expect(receive(cut, to)).rejects.toThrow()
  }
  expect(readdirSync(to)).toEqual([])
})

test('what a killed container left is removed', async () => {
  mkdirSync(join(to, 'incoming-12', 'files'), { recursive: true })
  mkdirSync(join(to, 'files'))
  await removeUnfinished(to)
  expect(readdirSync(to)).toEqual(['files'])
})

test('what is there is told of an entry that has nothing, too', async () => {
  expect(await receive(packed([]), to)).toEqual([])
})

test('a name outside of the folder is refused', async () => {
  await expect(receive(packed([{ text: '', to: '../files/x' }]), to)).rejects.toThrow(/outside/)
})

function seconds(path: string): number {
  return Math.floor(statSync(path).mtimeMs / 1_000)
}
