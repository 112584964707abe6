import type { Deploy } from '#server/deploys/schema.ts'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import { onInterrupt } from '../../interrupts.ts'
import type { Output } from '../../output.ts'
import { ApiFault, type Api } from '../api.ts'
import { saveMemory } from './memory.ts'
import { readRunLog, type RunSink } from './run-log.ts'
import { StepNotes } from './step-notes.ts'

const DEPLOY_IN_PROGRESS: readonly Deploy['status'][] = ['queued', 'building', 'deploying']
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600 }
/** setTimeout takes no longer ones. */
const MAX_TIMEOUT_S = 24 * 3_600

/**
 * Ends a command that has started a deploy, by its flags `detach`, `no-follow` and `timeout` (see FOLLOW_FLAGS): follows the
 * deploy to its end, its log on standard error, and prints the URL of the service; with `--json` the deploy with `url`.
 * Resolves with the exit code. Throws Fault if the deploy does not go live, or if following ends before.
 */
export async function followDeploy(call: Call, api: Api, deploy: Deploy): Promise<number> {
  const { out } = call
  if (call.has('detach')) {
    if (out.isJson) out.json(deploy)
    else out.line(deploy.id)
    return 0
  }
  saveMemory()
  const isSilent = call.has('no-follow') || out.isJson || out.isQuiet
  const notes = new StepNotes(out, (text) => out.note(text))
  const log = isSilent ? SILENT : logPrinter(out, notes)
  const ended = await untilLeft(call, deploy, (signal) =>
    awaitDeploy(api, out, deploy.id, { signal, log }),
  ).finally(() => notes.end())
  const url = await urlOf(api, ended)
  if (out.isJson) out.json({ ...ended, url })
  const failure = failureOf(ended)
  if (failure) throw failure
  if (!out.isJson) out.line(url ?? ended.id)
  return 0
}

const SILENT: RunSink = { line: () => {}, flush: async () => {} }

/** Prints the log of a deploy with its steps on standard error. */
function logPrinter(out: Output, notes: StepNotes): RunSink {
  return {
    line(line) {
      notes.clear()
      notes.line(line)
      out.foreign(line.line)
    },
    step(step) {
      notes.clear()
      notes.step(step)
    },
    flush: async () => notes.draw(),
  }
}

interface Awaiting {
  signal?: AbortSignal
  /** Takes the log. */
  log?: RunSink
}

/** Waits for the end of a deploy, across lost connections. Resolves with the ended deploy. Throws as `acrossCuts` does. */
export function awaitDeploy(
  api: Api,
  out: Output,
  id: string,
  { signal, log = SILENT }: Awaiting = {},
): Promise<Deploy> {
  return readRunLog<Deploy>(
    api,
    { path: `/deploys/${encodeURIComponent(id)}`, follows: true, isOver: isDeployOver },
    { out, what: `the log of ${id}`, again: `deploys logs ${id} -f`, ...(signal ? { signal } : {}) },
    log,
  )
}

export function isDeployOver({ status }: Deploy): boolean {
  return !DEPLOY_IN_PROGRESS.includes(status)
}

/** The fault of an ended deploy that did not go live; null for one that did, even if another has replaced it since. */
export function failureOf({ id, status, error }: Deploy): Fault | null {
  if (status === 'live' || status === 'deactivated') return null
  const verb = status === 'canceled' ? 'was canceled' : 'failed'
  const why = error?.replaceAll(/\s+/g, ' ').trim()
  const text = why?.startsWith('superseded') ? `${id} was ${why}` : `${id} ${verb}${why ? `: ${why}` : ''}`
  return new Fault(EXIT.failed, text, { code: status })
}

/** Where an ended deploy is served; null if it is not, or its service is gone. */
async function urlOf(api: Api, { service_id, status }: Deploy): Promise<string | null> {
  if (status !== 'live' && status !== 'deactivated') return null
  try {
    return (await api.get<Service>(`/services/${service_id}`)).url
  } catch (error) {
    if (error instanceof ApiFault && error.status === 404) return null
    throw error
  }
}

/**
 * Does work that follows a deploy, until Ctrl-C or the time of `--timeout`, neither of which stops the deploy. Throws Fault
 * that says how to follow it again.
 */
export async function untilLeft<T>(
  call: Call,
  { id }: Pick<Deploy, 'id'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController()
  const advice = `${id} goes on; deployer deploys logs ${id} -f follows it`
  const forget = onInterrupt(() =>
    leaving.abort(new Fault(EXIT.interrupted, advice, { code: 'interrupted' })),
  )
  const seconds = timeoutOf(call)
  const timer =
    seconds === null
      ? undefined
      : setTimeout(() => {
          const message = `${id} has not ended within ${call.text('timeout')}: it goes on; deployer deploys logs ${id} -f follows it`
          leaving.abort(new Fault(EXIT.failed, message, { code: 'timeout' }))
        }, seconds * 1_000)
  try {
    return await work(leaving.signal)
  } catch (error) {
    throw leaving.signal.aborted ? leaving.signal.reason : error
  } finally {
    clearTimeout(timer)
    forget()
  }
}

/** The seconds of `--timeout`; null without it. Call it before anything is started: it throws Fault for a wrong value. */
export function timeoutOf(call: Call): number | null {
  const text = call.text('timeout')
  if (text === null) return null
  const [, count, unit = 's'] = /^(\d{1,6})([smh])?$/.exec(text) ?? []
  const seconds = Number(count) * SECONDS[unit]!
  if (count === undefined || seconds === 0 || seconds > MAX_TIMEOUT_S)
    throw wrong('--timeout must be a time such as 90s, 30m or 2h, at most 24h')
  return seconds
}
