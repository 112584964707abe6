import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Repository } from './remotes.ts'

import { bench, contentOf, get, large, mirror, packs, repository, useMirrors } from './mirror-bench.ts'
useMirrors()

describe('a damaged mirror', () => {
  let itsHome: string
  let source: Repository

  beforeAll(async () => {
    bench.home = itsHome = mkdtempSync(join(tmpdir(), 'mirrors-'))
    source = repository()
    source.push({ a: 'first', big: large(3) })
    await get(source)
  })
  afterAll(() => rmSync(itsHome, { recursive: true, force: true }))

  const file = (path: string) => join(mirror(), path)
  const eachPack = (change: (path: string) => void) => {
    for (const pack of packs()) {
      execFileSync('chmod', ['u+w', file(`objects/pack/${pack}`)])
      change(file(`objects/pack/${pack}`))
    }
  }
  const inIt = (path: string) => execFileSync('sh', ['-c', `cat ${path}`], { cwd: mirror() }).toString()

  test.each<[string, () => void, RegExp]>([
    ['by a pack that was cut off', () => eachPack((path) => truncateSync(path, 200)), /is damaged: fetching/],
    [
      'by a pack of zeros',
      () => eachPack((path) => writeFileSync(path, Buffer.alloc(4_096))),
      /is damaged: fetching/,
    ],
    ['by a pack with other bytes in it', () => eachPack(garble), /is damaged \(/],
    ['by packs that are missing', () => eachPack((path) => rmSync(path)), /is damaged \(|cleaned up/],
    ['by another HEAD', () => writeFileSync(file('HEAD'), 'nothing\n'), /is damaged: fetching all of it/],
    ['by a strange configuration', () => writeFileSync(file('config'), '[core\n=\0'), /is damaged: fetching/],
    ['by references to nothing', () => spoilReferences(), /is damaged \(/],
    ['by a folder that is a file', () => replaceByFile('objects'), /is damaged \(/],
    ['by nothing in it', () => empty(), /is damaged: fetching/],
  ])('%s is created again', async (_what, damage, said) => {
    bench.home = itsHome
    damage()
    const sha = source.push({ a: 'second' })
    expect(await get(source)).toMatchObject({ sha })
    expect(contentOf('a') + contentOf('big')).toBe(`second${large(3)}`)
    expect(bench.lines.join('\n')).toMatch(said)
    bench.lines = []
    source.push({ a: 'third' })
    await get(source)
    expect([contentOf('a'), bench.lines]).toEqual(['third', []])
  })

  test('by a git that was killed is repaired', async () => {
    bench.home = itsHome
    const left = [
      'shallow.lock',
      'config.lock',
      'HEAD.lock',
      'packed-refs.lock',
      `refs/deployer/${readdirSync(file('refs/deployer'))[0]}.lock`,
      'objects/pack/tmp_pack_abc',
      'objects/pack/.tmp-1-pack-abc.pack',
      `objects/pack/pack-${'0'.repeat(40)}.keep`,
      `objects/pack/pack-${'1'.repeat(40)}.pack`,
      'objects/info/alternates',
      'hooks/post-checkout',
      'refs/deployer/history/heads/main',
    ]
    for (const path of left) {
      mkdirSync(join(file(path), '..'), { recursive: true })
      writeFileSync(file(path), 'left')
    }
    const sha = source.push({ a: 'second' })
    expect(await get(source)).toMatchObject({ sha })
    expect(bench.lines).toEqual([
      'the mirror of the repository was cleaned up: its last use had been interrupted',
    ])
    expect(left.filter((path) => existsSync(file(path)))).toEqual([])
  })

  test('runs nothing that its configuration names', async () => {
    bench.home = itsHome
    const witness = join(bench.home, 'ran')
    const program = `touch ${witness}`
    writeFileSync(
      join(mirror(), 'config'),
      `${inIt('config')}[core]\n\tsshCommand = ${program}\n\tfsmonitor = ${program}\n\tgitProxy = ${program}\n[credential]\n\thelper = !${program}\n[filter "x"]\n\tsmudge = ${program}\n[uploadpack]\n\tpackObjectsHook = ${program}\n[include]\n\tpath = /etc/passwd\n`,
    )
    source.push({ a: 'second', '.gitattributes': '* filter=x\n' })
    await get(source)
    expect(contentOf('a')).toBe('second')
    expect(() => statSync(witness)).toThrow('ENOENT')
  })

  /** Its end stays as it is. */
  function garble(path: string): void {
    const bytes = readFileSync(path)
    for (let at = 100; at < bytes.length - 40; at += 7) bytes[at]! ^= 0x55
    writeFileSync(path, bytes)
  }

  function spoilReferences(): void {
    for (const place of readdirSync(file('refs/deployer')))
      writeFileSync(file(`refs/deployer/${place}`), '\0\0')
  }

  function empty(): void {
    for (const name of readdirSync(mirror())) rmSync(file(name), { recursive: true })
  }

  function replaceByFile(folder: string): void {
    rmSync(file(folder), { recursive: true })
    writeFileSync(file(folder), '')
  }
})
