import { z } from 'zod'
import { ask, segment } from '../call.ts'
import { CURSOR, paged } from '../paging.ts'
import { OF_SERVICE, placeOf } from '../places.ts'
import { Job, MORE, StartedJob } from '../shapes.ts'
import { defineTool, type Tool } from '../tool.ts'
import { WAIT } from '../waiting.ts'
import { JOB_ANSWER, jobAnswer, LOG_LINES, STARTED_JOB_ANSWER } from './deploy-answers.ts'

/** As many as the API lists. */
const MAX_LISTED = 500
const Listed = z.array(z.looseObject({ id: z.string() }))

const JOB_ID = { job_id: z.string().min(1) }

export const JOB_READERS: Tool[] = [
  defineTool({
    name: 'list_jobs',
    title: 'List jobs',
    description:
      'The runs of a cron job and the one-off commands of a service, newest first. Statuses: pending, running, succeeded, failed, canceled.',
    effect: 'read',
    input: { ...OF_SERVICE, limit: z.int().min(1).max(100).default(10), ...CURSOR },
    output: { jobs: z.array(Job), ...MORE },
    async run({ service, environment, limit, cursor }, { call }) {
      const { path, query } = placeOf('services', service, environment)
      const wanted = cursor === undefined ? limit + 1 : MAX_LISTED
      const items = await ask(call, Listed, 'GET', `${path}/jobs`, { query: { ...query, limit: wanted } })
      return paged({ list: 'jobs', items, keyOf: ({ id }) => id, cursor, limit })
    },
  }),
  defineTool({
    name: 'get_job',
    title: 'Get a job',
    description:
      'One job with its exit code and the last lines of its output: 50 when it failed, else none unless log_lines asks for them.',
    effect: 'read',
    input: { ...JOB_ID, ...LOG_LINES },
    output: JOB_ANSWER,
    async run({ job_id, log_lines }, context) {
      const job = await ask(context.call, z.unknown(), 'GET', `/jobs/${segment(job_id)}`)
      return jobAnswer(job, 0, context, log_lines)
    },
  }),
]

export const JOB_WRITERS: Tool[] = [
  defineTool({
    name: 'run_job',
    title: 'Run a command',
    description:
      "Runs a command with sh -c in a new container of the service's live image, with its variables and network but not its disk. Without a command a cron job runs its own. With wait_seconds it answers with exit code and output.",
    effect: 'change',
    input: { ...OF_SERVICE, command: z.string().optional(), ...WAIT },
    output: STARTED_JOB_ANSWER,
    async run({ service, environment, command, wait_seconds }, context) {
      const { path, query } = placeOf('services', service, environment)
      const job = await ask(context.call, z.unknown(), 'POST', `${path}/jobs`, { query, body: { command } })
      return jobAnswer(job, wait_seconds, context)
    },
  }),
  defineTool({
    name: 'cancel_job',
    title: 'Cancel a job',
    description: 'Kills the program of a job that waits or runs.',
    effect: 'change',
    input: JOB_ID,
    output: { job: StartedJob },
    async run({ job_id }, { call }) {
      const path = `/jobs/${segment(job_id)}/cancel`
      return { value: { job: await ask(call, z.unknown(), 'POST', path) } }
    },
  }),
]
