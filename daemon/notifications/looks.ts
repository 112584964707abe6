import { statfs } from 'node:fs/promises'
import { certificatesByName, listUploaded } from '#server/certificates/store.ts'
import { timestamp } from '#server/clock.ts'
import { useContext, useDatabase } from '#server/context.ts'
import { emitEvent, lastReported, setReported } from '#server/notifications/events.ts'
import type { Task } from '../work/driver.ts'

/** Interval of the checks: there are no events for expiring certificates or a full disk. */
const PERIOD_MS = 60_000
const DAY_MS = 86_400_000
/** Reports when this many days are left. */
const DAYS_LEFT = [1, 3, 7, 14]
/** Below the first the disk is low; that is reported again only after more than the second was free. */
const LOW_PERCENT = 10
const RECOVERED_PERCENT = 15

/** Reports certificates that expire soon and a disk that is nearly full. */
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
    // A short-lived certificate is renewed in time; only one that should have been renewed by now is reported.
    if (not_after !== null && (renew_at ?? 0) <= now) lookAtEnd(id, id, not_after, now)
  }
  for (const { id, hosts, not_after } of listUploaded())
    lookAtEnd(id, (JSON.parse(hosts) as string[])[0] ?? id, not_after, now)
}

function lookAtEnd(id: string, host: string, notAfter: number, now: number): void {
  const left = DAYS_LEFT.find((days) => notAfter - now <= days * DAY_MS)
  const key = `expiring ${id}`
  const reported = lastReported(key)
  if (left === undefined || (reported !== null && Number(reported) <= left)) return
  const days_left = Math.max(0, Math.ceil((notAfter - now) / DAY_MS))
  useDatabase().transaction(() => {
    setReported(key, String(left))
    emitEvent('certificate.expiring', host, JSON.stringify({ days_left, not_after: timestamp(notAfter) }))
  })
}

async function lookAtDisk(path: string): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(path)
  const free_percent = blocks === 0 ? 100 : Math.floor((bavail / blocks) * 100)
  const isReported = lastReported('disk') !== null
  if (isReported && free_percent > RECOVERED_PERCENT) setReported('disk', null)
  if (isReported || free_percent >= LOW_PERCENT) return
  useDatabase().transaction(() => {
    setReported('disk', 'low')
    emitEvent(
      'server.disk_low',
      path,
      JSON.stringify({ free_percent, free_bytes: bavail * bsize, total_bytes: blocks * bsize }),
    )
  })
}
