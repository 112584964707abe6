import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { FULL } from '#server/access/access.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { addToken } from '#server/tokens/operations.ts'
import {
  acceptUpgrade,
  beginUpgrade,
  readUpgrade,
  takeUpgradeBack,
  type Start,
} from '#server/upgrade/record.ts'
import type { Call } from '../../call.ts'
import { findServer, openBesideServer, type RunningServer } from '../running.ts'
import { systemctl } from '../install/systemd.ts'
import { CONTROL_UNIT } from '../install/layout.ts'
import { endServer, isServerOf } from './end.ts'
import { infoOf, isHealthy, judge } from './judge.ts'
import { folderOf, startServer } from './start.ts'

/** The token of the trial ends by itself, should this process be killed. */
const TOKEN_MS = 3_600_000
const READY_WITHIN_MS = 60_000
const POLL_EVERY_MS = 100

/** What replaces what. */
interface Switch {
  dataDirectory: string
  server: RunningServer
  former: Start
  next: Start
  from: string
  to: string
}

/**
 * Ends the former server and puts the new one on trial. Throws `io_error` when the new one was no good; then the former one
 * is back, with its database.
 */
export async function switchTo(call: Call, change: Switch): Promise<void> {
  const { dataDirectory, server, former, next, from, to } = change
  const interrupted = new AbortController()
  const interrupt = (): void => interrupted.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  const token = await makeToken(dataDirectory)
  try {
    const engineAnswered = ((await infoOf(server.url, token.secret))?.runtime_version ?? null) !== null
    beginUpgrade(dataDirectory, { from, to, engineAnswered, former, tokenId: token.id })
    call.out.note(`starting version ${to}`)
    const trial = { dataDirectory, formerPid: server.pid, token: token.secret, engineAnswered }
    const fault = await tryStart(next, dataDirectory, (pid) =>
      judge({ ...trial, pid, signal: interrupted.signal }),
    )
    if (fault === null && acceptUpgrade(dataDirectory)) return await revoke(next, dataDirectory, token.id)
    // It may have been decided by the new server itself, after this process was held up for long.
    if (readUpgrade(dataDirectory) === null) {
      await revoke(next, dataDirectory, token.id)
      if (fault === null) return
      throw new AppError('io_error', `version ${to} had already been accepted, so it stays; but ${fault}`)
    }
    call.out.note(`version ${to} is no good, bringing ${from} back: ${fault}`)
    await takeBack(dataDirectory)
    throw new AppError('io_error', `version ${to} was not kept, and ${from} runs again: ${fault}`)
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

async function tryStart(
  next: Start,
  dataDirectory: string,
  watch: (pid: number | null) => Promise<string | null>,
): Promise<string | null> {
  try {
    if (next.by === 'hand') await endServer(dataDirectory)
    return await watch(await startServer(next, dataDirectory))
  } catch (error) {
    return messageOf(error)
  }
}

/**
 * Brings the former version back after an upgrade that is not decided, with its database: the server restores that when it
 * starts. Throws `io_error` when it does not become ready.
 */
export async function takeBack(dataDirectory: string): Promise<void> {
  const upgrade = readUpgrade(dataDirectory)
  if (!upgrade || !takeUpgradeBack(dataDirectory)) return
  // It may still be the former one; a start of it sees what was decided.
  if (upgrade.former.by === 'systemd') await systemctl('stop', CONTROL_UNIT)
  else await endServer(dataDirectory)
  await startServer(upgrade.former, dataDirectory)
  const until = performance.now() + READY_WITHIN_MS
  while (performance.now() < until) {
    const server = findServer(dataDirectory)
    const isBack = readUpgrade(dataDirectory) === null && server && isServerOf(dataDirectory, server.pid)
    if (isBack && (await isHealthy(server.url))) return revoke(upgrade.former, dataDirectory, upgrade.tokenId)
    await delay(POLL_EVERY_MS)
  }
  throw new AppError(
    'io_error',
    `version ${upgrade.from} did not become ready: start ${folderOf(upgrade.former)} by hand, and see its log`,
  )
}

async function makeToken(dataDirectory: string): Promise<{ id: string; secret: string }> {
  const database = await openBesideServer(join(dataDirectory, 'deployer.db'), 'server.upgrade_started')
  try {
    const { token, api_token } = addToken(
      database,
      'upgrade on this host',
      Date.now() + TOKEN_MS,
      FULL,
      'host',
    )
    return { id: api_token.id, secret: token }
  } finally {
    await database.close()
  }
}

/** Revokes the token of the trial by the program that runs now, which knows its database. */
async function revoke(start: Start, dataDirectory: string, id: string): Promise<void> {
  const node = start.by === 'systemd' ? start.node : start.command[0]!
  const words = [
    join(folderOf(start), 'server/index.mjs'),
    'token',
    'revoke',
    id,
    '--data-dir',
    dataDirectory,
  ]
  // It ends by itself within the hour.
  await promisify(execFile)(node, words).catch(() => {})
}
