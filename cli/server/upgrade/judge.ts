import { setTimeout as delay } from 'node:timers/promises'
import { schedule } from '#server/options/schedule.ts'
import type { ServerInfo } from '#server/info.ts'
import { readServerFile } from '../running.ts'
import { isAlive, isServerOf } from './end.ts'

/** A start migrates the database and takes over the data plane. */
const READY_WITHIN_MS = 60_000
const POLL_EVERY_MS = 250
const ANSWER_MS = 5_000
/** A machine may be busy for a moment. */
const MISSES = 3

/** What the new version is judged by. */
export interface Trial {
  dataDirectory: string
  /** The former server's process. */
  formerPid: number
  /** The new process; null when systemd started it. */
  pid: number | null
  /** A token that is valid for both. */
  token: string
  /** Whether the engine answered the former server. */
  engineAnswered: boolean
  /** Ends the trial early. */
  signal: AbortSignal
}

/**
 * Waits until the new server is ready, and watches it for the time of a trial. Returns why it must not stay; null when it may.
 */
export async function judge(trial: Trial): Promise<string | null> {
  const server = await ready(trial)
  if (typeof server === 'string') return server
  const until = performance.now() + schedule.trialMs
  let misses = 0
  let hasEngine = false
  while (performance.now() < until || misses > 0) {
    if (trial.signal.aborted) return 'the upgrade was interrupted'
    if (!isServerOf(trial.dataDirectory, server.pid)) return 'it ended'
    const info = (await isHealthy(server.url)) ? await infoOf(server.url, trial.token) : null
    misses = info === null ? misses + 1 : 0
    if (misses === MISSES) return 'it did not answer'
    if (info !== null) hasEngine = info.runtime_version !== null
    await delay(POLL_EVERY_MS)
  }
  return hasEngine || !trial.engineAnswered ? null : 'the container engine answered before, and does not now'
}

/** The new server, once it answers, or why it does not. */
async function ready({
  dataDirectory,
  formerPid,
  pid,
  signal,
}: Trial): Promise<{ pid: number; url: string } | string> {
  const until = performance.now() + READY_WITHIN_MS
  while (performance.now() < until) {
    if (signal.aborted) return 'the upgrade was interrupted'
    if (pid !== null && !isAlive(pid)) return 'it ended before it was ready: see its log'
    const server = readServerFile(dataDirectory)
    const isNew = server && server.pid !== formerPid && isServerOf(dataDirectory, server.pid)
    if (isNew && (await isHealthy(server.url))) return server
    await delay(POLL_EVERY_MS)
  }
  return `it was not ready within ${READY_WITHIN_MS / 1_000} s`
}

/** Whether a server says that it is alive. */
export async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** What a server says about itself; null when it does not. */
export async function infoOf(url: string, token: string): Promise<ServerInfo | null> {
  try {
    const response = await fetch(`${url}/api/v1/info`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    return response.ok ? ((await response.json()) as ServerInfo) : null
  } catch {
    return null
  }
}
