import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findProxy } from '#daemon/proxy/find.ts'
import { greet } from '#daemon/proxy/greeting.ts'
import { startSupervisor } from '#daemon/proxy/launch.ts'
import { messageOf } from '#server/errors.ts'
import { ENTRY_SETTINGS, type EntrySettings } from './protocol.ts'
import { removeUnfinished } from './receive.ts'

/** A supervisor that hands over is unreachable for a moment. */
const AWAY_MS = 1_000
const START_MS = 30_000
/** The wait after a start that failed, and for the first settings. */
const PAUSE_MS = 500

/**
 * Keeps a data plane running in a folder: starts that of the settings there whenever none answers. One that the server brings
 * in its place is left alone. Ends only with SIGTERM, and ends the data plane then.
 */
export async function keepDataPlane(folder: string): Promise<void> {
  process.once('SIGTERM', () => {
    void end(folder).finally(() => process.exit())
  })
  await removeUnfinished(folder)
  for (;;) {
    try {
      await follow(folder)
    } catch (error) {
      process.stderr.write(`${messageOf(error)}\n`)
      await delay(PAUSE_MS)
    }
  }
}

/** Waits until the data plane ends, or starts one. Throws why it does not run. */
async function follow(folder: string): Promise<void> {
  const found = await greet(folder, AWAY_MS)
  if (found) {
    const { channel } = found
    return new Promise((resolve) => {
      channel.onClose = resolve
      if (channel.closed) resolve()
    })
  }
  const settings = readSettings(folder)
  if (!settings) return
  const { serverId, program, version, workers } = settings
  const { failed } = await startSupervisor(
    process.execPath,
    { file: program, version },
    {
      ...{ data_directory: folder, server_id: serverId, version, workers },
      ...{ inherited: [], successor: false },
    },
    true,
  )
  failed.catch(() => {})
  const started = await Promise.race([greet(folder, START_MS), failed])
  started?.channel.close()
}

/** The settings that the server has sent; null before the first. */
function readSettings(folder: string): EntrySettings | null {
  try {
    return JSON.parse(readFileSync(join(folder, ENTRY_SETTINGS), 'utf8')) as EntrySettings
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function end(folder: string): Promise<void> {
  await (await findProxy(folder))?.stop()
}
