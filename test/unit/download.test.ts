import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sendRange } from '../../proxy/sites/download.ts'
import { SiteFile } from '../../proxy/sites/file.ts'
import { OpenFiles } from '../../proxy/sites/open-files.ts'
import type { Layout, Page } from '../../proxy/wire/page.ts'

/** More than fits into a page of its own size. */
const SIZE = 20_000
const AT_A_TIME = 40
/** 4 MiB of pages of 128 KiB. */
const SPARE = 32

const folder = mkdtempSync(join(tmpdir(), 'deployer-download-'))
const path = join(folder, 'file')
writeFileSync(path, Buffer.alloc(SIZE, 'x'))
afterAll(() => rmSync(folder, { recursive: true }))

const files = new OpenFiles()
const file = new SiteFile({ path, size: SIZE, modifiedAt: 0, etag: '"x"' }, () => {})

/** Downloads the file in each of the layouts, all at a time. Returns the pages that it went through. */
async function pagesOf(layouts: readonly Layout[]): Promise<Page[]> {
  const pages: Page[] = []
  const allTaken = Promise.withResolvers<void>()
  const take = (page: Page) => {
    if (pages.push(page) === layouts.length) allTaken.resolve()
    return allTaken.promise
  }
  await Promise.all(
    layouts.map((layout) =>
      sendRange(
        files,
        file,
        { start: 0, end: SIZE },
        { canceled: false, layout, room: () => Infinity, take },
      ),
    ),
  )
  return pages
}

const times = (layout: Layout) => Array.from({ length: AT_A_TIME }, () => layout)

test('pages of downloads are kept for the next ones within one bound, whatever their layout', async () => {
  const both = [...times('plain'), ...times('framed')]
  const first = new Set(await pagesOf(both))
  expect(first.size).toBe(2 * AT_A_TIME)
  const again = await pagesOf(both)
  expect(again.filter((page) => first.has(page))).toHaveLength(SPARE)
})

test('the requested layout gets the waiting pages', async () => {
  await pagesOf(times('framed'))
  const plain = new Set(await pagesOf(times('plain')))
  const again = await pagesOf(times('plain'))
  expect(again.every(({ layout }) => layout === 'plain')).toBe(true)
  expect(again.filter((page) => plain.has(page))).toHaveLength(SPARE)
})
