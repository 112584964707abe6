import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  acceptUpgrade,
  beginUpgrade,
  readUpgrade,
  settleUpgrade,
  takeUpgradeBack,
  type Upgrade,
} from '../../server/upgrade/record.ts'

const UPGRADE: Upgrade = {
  from: '1.0.0',
  to: '2.0.0',
  engineAnswered: true,
  former: { by: 'systemd', node: '/node', entry: '/old/server/index.mjs' },
  tokenId: 'tok-1',
}

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deployer-upgrade-'))
  write('CREATE TABLE notes (text); INSERT INTO notes VALUES (1)')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a start after an upgrade that is not decided', () => {
  test('puts the new version on trial, and keeps the database as it was at its first start', async () => {
    beginUpgrade(folder, UPGRADE)
    expect(await settleUpgrade(folder, '2.0.0')).toEqual(UPGRADE)
    write('INSERT INTO notes VALUES (2)')
    expect(await settleUpgrade(folder, '2.0.0')).toEqual(UPGRADE)
    expect(await settleUpgrade(folder, '1.0.0')).toBeNull()
    expect(notes()).toEqual([1])
    expect(readUpgrade(folder)).toBeNull()
    expect(existsSync(join(folder, 'deployer.db.before-upgrade'))).toBe(false)
  })

  test('brings the database back although its log was not written into it', async () => {
    beginUpgrade(folder, UPGRADE)
    await settleUpgrade(folder, '2.0.0')
    const killed = new DatabaseSync(join(folder, 'deployer.db'))
    killed.exec('PRAGMA journal_mode = WAL; INSERT INTO notes VALUES (2)')
    expect(existsSync(join(folder, 'deployer.db-wal'))).toBe(true)
    await settleUpgrade(folder, '1.0.0')
    expect(notes()).toEqual([1])
    killed.close()
  })

  test('changes nothing when the new version has not started yet', async () => {
    beginUpgrade(folder, UPGRADE)
    write('INSERT INTO notes VALUES (2)')
    expect(await settleUpgrade(folder, '1.0.0')).toBeNull()
    expect(notes()).toEqual([1, 2])
    expect(readUpgrade(folder)).toBeNull()
  })

  test('does not start once it was not kept, and the former one has its database back', async () => {
    beginUpgrade(folder, UPGRADE)
    await settleUpgrade(folder, '2.0.0')
    write('INSERT INTO notes VALUES (2)')
    expect(takeUpgradeBack(folder)).toBe(true)
    await expect(settleUpgrade(folder, '2.0.0')).rejects.toThrow('was not kept')
    expect(notes()).toEqual([1, 2])
    expect(await settleUpgrade(folder, '1.0.0')).toBeNull()
    expect(notes()).toEqual([1])
  })
})

test('an upgrade is decided once', () => {
  beginUpgrade(folder, UPGRADE)
  expect(acceptUpgrade(folder)).toBe(true)
  expect(acceptUpgrade(folder)).toBe(false)
  expect(takeUpgradeBack(folder)).toBe(false)

  beginUpgrade(folder, UPGRADE)
  expect(takeUpgradeBack(folder)).toBe(true)
  expect(acceptUpgrade(folder)).toBe(false)
})

test('an accepted upgrade leaves the database as it is', async () => {
  beginUpgrade(folder, UPGRADE)
  await settleUpgrade(folder, '2.0.0')
  write('INSERT INTO notes VALUES (2)')
  acceptUpgrade(folder)
  expect(await settleUpgrade(folder, '2.0.0')).toBeNull()
  expect(notes()).toEqual([1, 2])
})

function write(sql: string): void {
  const database = new DatabaseSync(join(folder, 'deployer.db'))
  database.exec(sql)
  database.close()
}

function notes(): unknown[] {
  const database = new DatabaseSync(join(folder, 'deployer.db'))
  try {
    return database
      .prepare('SELECT text FROM notes ORDER BY text')
      .all()
      .map(({ text }) => text)
  } finally {
    database.close()
  }
}
