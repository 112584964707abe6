import { announceServer } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { readSetting, writeSetting } from '../database/settings.ts'
import type { ServerSettings, ServerSettingsPatch } from './schema.ts'

const KEY = 'server_settings'
/** Up to when the schedule is handled, in milliseconds. */
const SEEN_KEY = 'server_backups_seen_at'
/** Since when there should be a backup, in milliseconds. */
const SINCE_KEY = 'server_backups_since'

const DEFAULTS: ServerSettings = {
  backup_schedule: '17 3 * * *',
  backup_retention: 7,
  backup_disks: false,
  backup_datastores: true,
}

export function serverSettings(): ServerSettings {
  const kept = readSetting(useDatabase(), KEY)
  return { ...DEFAULTS, ...(kept && (JSON.parse(kept) as Partial<ServerSettings>)) }
}

/** Changes settings. A new schedule counts from now. */
export function patchServerSettings(patch: ServerSettingsPatch): ServerSettings {
  const before = serverSettings()
  const after = { ...before, ...patch }
  useDatabase().transaction(() => {
    writeSetting(useDatabase(), KEY, JSON.stringify(after))
    if (after.backup_schedule !== before.backup_schedule) {
      setScheduleMark(Date.now())
      writeSetting(useDatabase(), SINCE_KEY, String(Date.now()))
    }
  })
  announceServer()
  return after
}

/** Up to when the schedule is handled; null when it never was. */
export function scheduleMark(): number | null {
  return numberOf(SEEN_KEY)
}

export function setScheduleMark(at: number): void {
  writeSetting(useDatabase(), SEEN_KEY, String(at))
  if (numberOf(SINCE_KEY) === null) writeSetting(useDatabase(), SINCE_KEY, String(at))
}

/** Since when there should be a backup; null when its schedule was not looked at yet. */
export function scheduledSince(): number | null {
  return numberOf(SINCE_KEY)
}

function numberOf(key: string): number | null {
  const text = readSetting(useDatabase(), key)
  return text === undefined ? null : Number(text)
}
