import { z } from 'zod'
import { ask } from '../call.ts'
import { lastLines } from '../logs.ts'
import { Deploy, Job, LogLine, MORE, StartedDeploy, StartedJob, text } from '../shapes.ts'
import type { Cut, Made, ToolContext } from '../tool.ts'
import { waitedFor } from '../waiting.ts'

/** How many lines of its log a failed deploy is shown with: enough for the error and what led to it. */
export const FAILED_LINES = 50
/** More would not fit into an answer. */
export const MAX_LOG_LINES = 500

export const LOG_LINES = { log_lines: z.int().min(0).max(MAX_LOG_LINES).optional() }

const LOG = { log: z.array(LogLine).nullish(), ...MORE }

export const DEPLOY_ANSWER = { deploy: Deploy, url: text, ...LOG }
export const STARTED_ANSWER = { deploy: StartedDeploy, url: text, ...LOG }
export const JOB_ANSWER = { job: Job, ...LOG }
export const STARTED_JOB_ANSWER = { job: StartedJob, ...LOG }

/** The oldest lines of a log are left out; `next_cursor` is their end, for `until` of read_logs. */
export const CUT_LOG: Cut = {
  list: 'log',
  keep: 'last',
  next: (kept) => (kept[0] as { ts: string } | undefined)?.ts,
}

const IN_PROGRESS = ['queued', 'building', 'deploying']
const JOB_IN_PROGRESS = ['pending', 'running']
const Owned = z.looseObject({ id: z.string(), service_id: z.string(), status: z.string() })
const Reached = z.object({ url: text })

/** A deploy as it is after the wait: with its address when it is live, with its last lines when it failed. */
export async function deployAnswer(
  queued: unknown,
  seconds: number,
  context: ToolContext,
  logLines?: number,
): Promise<Made> {
  const { call } = context
  const first = Owned.parse(queued)
  const path = `/deploys/${first.id}`
  const deploy = await waitedFor(
    first,
    {
      seconds,
      read: () => ask(call, Owned, 'GET', path),
      isOver: ({ status }) => !IN_PROGRESS.includes(status),
      say: ({ status }) => status,
    },
    context,
  )
  const count = logLines ?? (deploy.status.endsWith('_failed') ? FAILED_LINES : 0)
  const reached =
    deploy.status === 'live' ? await ask(call, Reached, 'GET', `/services/${deploy.service_id}`) : null
  return {
    value: { deploy, url: reached?.url, log: await logOf(path, count, context) },
    cut: CUT_LOG,
  }
}

/** A job as it is after the wait: with what it printed when it has ended. */
export async function jobAnswer(
  queued: unknown,
  seconds: number,
  context: ToolContext,
  logLines?: number,
): Promise<Made> {
  const first = Owned.parse(queued)
  const path = `/jobs/${first.id}`
  const job = await waitedFor(
    first,
    {
      seconds,
      read: () => ask(context.call, Owned, 'GET', path),
      isOver: ({ status }) => !JOB_IN_PROGRESS.includes(status),
      say: ({ status }) => status,
    },
    context,
  )
  const hasEnded = seconds > 0 && !JOB_IN_PROGRESS.includes(job.status)
  const count = logLines ?? (hasEnded || job.status === 'failed' ? FAILED_LINES : 0)
  return { value: { job, log: await logOf(path, count, context) }, cut: CUT_LOG }
}

async function logOf(path: string, count: number, { call }: ToolContext): Promise<unknown[] | undefined> {
  return count === 0 ? undefined : lastLines(call, `${path}/logs`, { count })
}
