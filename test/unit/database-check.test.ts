import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase, readDatabase } from '#server/database/index.ts'
import { checkDatabase } from '#server/database/copy.ts'

const PAGE_BYTES = 4_096

let folder: string
let file: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deployer-check-'))
  file = join(folder, 'deployer.db')
  const database = await openDatabase(file)
  for (let row = 0; row < 200; row++)
    database.run('INSERT INTO settings (key, value) VALUES (?, ?)', `key ${row}`, 'x'.repeat(500))
  await database.close()
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a sound database has no faults, whether it is in use or not, and no file is left', async () => {
  const before = readdirSync(folder)
  expect(await checkDatabase(file)).toMatchObject({ fault: null })
  const copy = readDatabase(file)
  expect(copy.get<{ count: number }>('SELECT count(*) AS count FROM settings')!.count).toBeGreaterThan(199)
  expect(() => copy.run("DELETE FROM settings WHERE key = 'key 1'")).toThrow(/readonly/)
  await copy.close()
  expect(readdirSync(folder)).toEqual(before)
  const used = await openDatabase(file)
  used.run("DELETE FROM settings WHERE key = 'key 1'")
  expect(await checkDatabase(file)).toMatchObject({ fault: null })
  await used.close()
})

test('damage is found, and so is a file that is no database', async () => {
  const descriptor = openSync(file, 'r+')
  // Behind the schema, where the rows are.
  for (let page = 60; page < 80; page++)
    writeSync(descriptor, Buffer.alloc(100, 7), 0, 100, page * PAGE_BYTES)
  closeSync(descriptor)
  expect((await checkDatabase(file)).fault).toMatch(/malformed|page|tree/i)
  writeFileSync(file, 'hello '.repeat(1_000))
  expect((await checkDatabase(file)).fault).toMatch(/not a database/)
})
