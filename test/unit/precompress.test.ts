import { randomBytes } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { precompress } from '../../daemon/sites/precompress.ts'

const WORDS = 'the same words again and again, '.repeat(100)

function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-precompress-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'assets'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, 'latin1')
  return folder
}

function listed(folder: string): string[] {
  return (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name !== 'assets').toSorted()
}

test('compressed variants of suitable files are next to them, with the same time and content', async () => {
  const folder = folderOf({ 'index.html': WORDS, 'assets/app.js': WORDS })
  const time = new Date('2026-01-02T03:04:05Z')
  utimesSync(join(folder, 'index.html'), time, time)
  expect(await precompress(folder)).toBe(true)
  const names = ['assets/app.js', 'index.html'].flatMap((name) =>
    ['', '.br', '.gz', '.zst'].map((end) => name + end),
  )
  expect(listed(folder)).toEqual(names.toSorted())
  const read = (end: string) => readFileSync(join(folder, `index.html${end}`))
  expect(brotliDecompressSync(read('.br')).toString()).toBe(WORDS)
  expect(gunzipSync(read('.gz')).toString()).toBe(WORDS)
  expect(zstdDecompressSync(read('.zst')).toString()).toBe(WORDS)
  expect(statSync(join(folder, 'index.html.br')).mtime).toEqual(time)
})

test('files that are small, of an unsuitable type, or save too little are left alone', async () => {
  const random = randomBytes(4000).toString('latin1')
  const files = {
    'small.css': 'a{}',
    'photo.png': WORDS,
    'no-type': WORDS,
    _redirects: WORDS,
    'keys.txt': random,
  }
  const folder = folderOf(files)
  await precompress(folder)
  expect(listed(folder)).toEqual(Object.keys(files).toSorted())
})

test('a variant that came with the folder stays', async () => {
  const folder = folderOf({ 'index.html': WORDS, 'index.html.gz': 'of its maker' })
  await precompress(folder)
  expect(readFileSync(join(folder, 'index.html.gz'), 'utf8')).toBe('of its maker')
  expect(listed(folder)).toEqual(['index.html', 'index.html.br', 'index.html.gz', 'index.html.zst'])
})
