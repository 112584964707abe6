import { statfs } from 'node:fs/promises'
import { certificatesByName, listUploaded } from '#server/certificates/store.ts'
import { timestamp } from '#server/clock.ts'
import { useContext, useDatabase } from '#server/context.ts'
import { happened, lastTold, setTold } from '#server/notifications/happenings.ts'
import type { Task } from '../work/driver.ts'

/** What nobody tells of: time that passes, and a disk that fills. */
const PERIOD_MS = 60_000
const DAY_MS = 86_400_000
/** Told when so many days are left. */
const DAYS_LEFT = [1, 3, 7, 14]
/** Less free is low; said again only after more than the other was free. */
const LOW_PERCENT = 10
const ENOUGH_PERCENT = 15

/** Looks for certificates that end soon and for a disk that is nearly full. */
export function looks(): Task {
  return {
    name: 'notification looks',
    everyMs: PERIOD_MS,
    async run() {
      lookAtCertificates(Date.now())
      await lookAtDisk(useContext().options.dataDirectory)
    },
  }
}

function lookAtCertificates(now: number): void {
  for (const { id, not_after, renew_at } of certificatesByName().values()) {
    // One that is short-lived is renewed in time; only what should have been renewed by now is news.
    if (not_after !== null && (renew_at ?? 0) <= now) lookAtEnd(id, id, not_after, now)
  }
  for (const { id, hosts, not_after } of listUploaded())
    lookAtEnd(id, (JSON.parse(hosts) as string[])[0] ?? id, not_after, now)
}

function lookAtEnd(id: string, host: string, notAfter: number, now: number): void {
  const left = DAYS_LEFT.find((days) => notAfter - now <= days * DAY_MS)
  const key = `expiring ${id}`
  const told = lastTold(key)
  if (left === undefined || (told !== null && Number(told) <= left)) return
  const days_left = Math.max(0, Math.ceil((notAfter - now) / DAY_MS))
  useDatabase().transaction(() => {
    setTold(key, String(left))
    happened('certificate.expiring', host, JSON.stringify({ days_left, not_after: timestamp(notAfter) }))
  })
}

async function lookAtDisk(path: string): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(path)
  const free_percent = blocks === 0 ? 100 : Math.floor((bavail / blocks) * 100)
  const isTold = lastTold('disk') !== null
  if (isTold && free_percent > ENOUGH_PERCENT) setTold('disk', null)
  if (isTold || free_percent >= LOW_PERCENT) return
  useDatabase().transaction(() => {
    setTold('disk', 'low')
    happened(
      'server.disk_low',
      path,
      JSON.stringify({ free_percent, free_bytes: bavail * bsize, total_bytes: blocks * bsize }),
    )
  })
}
