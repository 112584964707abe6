import type { Job } from '#server/jobs/schema.ts'
import { EXIT, Fault } from '../../fault.ts'
import type { Output } from '../../output.ts'
import type { Api } from '../api.ts'
import { segment } from '../target.ts'
import { readRunLog, type RunSink } from './run-log.ts'

const JOB_IN_PROGRESS: readonly Job['status'][] = ['pending', 'running']

interface Reading {
  follows: boolean
  sink: RunSink
  signal?: AbortSignal
}

/** Reads the log of a job across lost connections; followed, to the job's end. Resolves with the job as it is then. */
export function readJobLog(
  api: Api,
  out: Output,
  id: string,
  { follows, sink, signal }: Reading,
): Promise<Job> {
  return readRunLog<Job>(
    api,
    { path: `/jobs/${segment(id)}`, follows, isOver: isJobOver },
    { out, what: `the log of ${id}`, again: `jobs logs ${id} -f`, ...(signal ? { signal } : {}) },
    sink,
  )
}

export function isJobOver({ status }: Job): boolean {
  return !JOB_IN_PROGRESS.includes(status)
}

/** The fault of an ended job that did not succeed; null for one that did. */
export function jobFailureOf({ id, status, error, exit_code }: Job): Fault | null {
  if (status === 'succeeded') return null
  const verb = status === 'canceled' ? 'was canceled' : 'failed'
  const why = error?.replaceAll(/\s+/g, ' ').trim() || (exit_code === null ? '' : `exit code ${exit_code}`)
  return new Fault(EXIT.failed, `${id} ${verb}${why ? `: ${why}` : ''}`, { code: status })
}
