import { existsSync, readFileSync, renameSync, rmSync, unlinkSync } from 'node:fs'
import { copyFile, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { copyDatabase } from '../database/copy.ts'
import { AppError } from '../errors.ts'
import { PRIVATE_FILE_MODE, writePrivateFile } from '../files.ts'

/** How a server is started again. */
export type Start =
  | { by: 'systemd'; node: string; entry: string }
  /** What was started by hand: its words, its environment and its working directory. */
  | { by: 'hand'; command: string[]; environment: Record<string, string>; directory: string; output: string }

/** An upgrade that has begun and is not decided. */
export interface Upgrade {
  from: string
  to: string
  /** Whether the engine answered the former server. */
  engineAnswered: boolean
  former: Start
  /** The token by which the trial asks; it is revoked when that is decided. */
  tokenId: string
}

/*
 * An upgrade is a file of the data directory: under the first name while the new version is on trial, under the second once it
 * is decided that the former one comes back. Removing the first is what accepts the new version. So it is decided once, by one
 * rename or removal, however the processes around it end.
 */
const TRIAL = 'upgrade.json'
const RETURN = 'upgrade-back.json'
/** The database as the former version left it. */
const DATABASE_BEFORE = 'deployer.db.before-upgrade'

/** The upgrade that is on trial or being taken back; null when there is none. */
export function readUpgrade(dataDirectory: string): Upgrade | null {
  for (const name of [TRIAL, RETURN]) {
    const text = unlessMissing(() => readFileSync(join(dataDirectory, name), 'utf8'))
    if (text !== undefined) return JSON.parse(text) as Upgrade
  }
  return null
}

/** Records an upgrade that begins, before the former server ends. */
export function beginUpgrade(dataDirectory: string, upgrade: Upgrade): void {
  forgetFormerDatabase(dataDirectory)
  writePrivateFile(join(dataDirectory, TRIAL), JSON.stringify(upgrade))
}

/** Decides for the new version. Returns false when it was decided otherwise. */
export function acceptUpgrade(dataDirectory: string): boolean {
  return unlessMissing(() => (unlinkSync(join(dataDirectory, TRIAL)), true)) ?? false
}

/** Removes the copy of the database, once the new version stays. */
export function forgetFormerDatabase(dataDirectory: string): void {
  rmSync(join(dataDirectory, DATABASE_BEFORE), { force: true })
}

/** Decides for the former version; it is back once a server of it has started. Returns false when the new one was accepted. */
export function takeUpgradeBack(dataDirectory: string): boolean {
  unlessMissing(() => renameSync(join(dataDirectory, TRIAL), join(dataDirectory, RETURN)))
  return existsSync(join(dataDirectory, RETURN))
}

/**
 * Brings the database to the state that a start of this version needs, before it is opened and under the lock of the data
 * directory. Returns the upgrade when this version is on trial. Throws `conflict` for a version that was not kept.
 */
export async function settleUpgrade(dataDirectory: string, version: string): Promise<Upgrade | null> {
  const upgrade = readUpgrade(dataDirectory)
  const copy = join(dataDirectory, DATABASE_BEFORE)
  if (!upgrade) {
    await rm(copy, { force: true })
    return null
  }
  if (upgrade.to === version && existsSync(join(dataDirectory, TRIAL))) {
    if (!existsSync(copy)) await keepDatabase(join(dataDirectory, 'deployer.db'), copy)
    return upgrade
  }
  // It was not kept: a start of it would have neither its trial nor a way back.
  if (upgrade.to === version)
    throw new AppError(
      'conflict',
      `version ${version} was not kept, and ${upgrade.from} is to run again: start that, or run deployer upgrade`,
    )
  takeUpgradeBack(dataDirectory)
  if (existsSync(copy)) await putBack(copy, join(dataDirectory, 'deployer.db'))
  await rm(join(dataDirectory, RETURN), { force: true })
  await rm(copy, { force: true })
  return null
}

function unlessMissing<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function keepDatabase(database: string, copy: string): Promise<void> {
  const part = `${copy}.part`
  await rm(part, { force: true })
  await copyDatabase(database, part)
  await sync(part)
  await rename(part, copy)
  await sync(dirname(copy))
}

/** Can be repeated after a kill at any moment, as long as the copy is there. */
async function putBack(copy: string, database: string): Promise<void> {
  const part = `${database}.part`
  await copyFile(copy, part)
  await sync(part)
  // They belong to the database of the newer version.
  for (const end of ['-wal', '-shm']) await rm(`${database}${end}`, { force: true })
  await rename(part, database)
  await sync(dirname(database))
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r', PRIVATE_FILE_MODE)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
