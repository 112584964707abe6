import type { Job } from '#server/jobs/schema.ts'
import type { Call } from '../../call.ts'
import { printFields, printList } from '../columns.ts'
import { timeText } from '../figures.ts'
import { jobFailureOf, readJobLog } from '../follow/job.ts'
import { saveMemory } from '../follow/memory.ts'
import { linePrinter } from '../follow/printer.ts'
import { pathTo, segment, serviceOf } from '../target.ts'
import { withApi } from '../with-api.ts'
import { limitOf, tookText } from './deploys.ts'

/** Lists the jobs of a service, newest first. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const limit = limitOf(call)
  const jobs = await withApi(call, async (api) => {
    const service = await serviceOf(call, api)
    return api.get<Job[]>(pathTo('services', service, '/jobs'), { environment: service.environment, limit })
  })
  printList(out, jobs, {
    columns: [
      { title: 'id', text: ({ id }) => id, isWhole: true },
      { title: 'status', text: ({ status }) => status, isWhole: true },
      { title: 'exit', text: ({ exit_code }) => numberText(exit_code) },
      { title: 'trigger', text: ({ trigger }) => trigger },
      { title: 'age', text: ({ created_at }) => timeText(out, created_at) },
      { title: 'took', text: (job) => tookText(out, job) },
      { title: 'command', text: ({ command }) => command?.replaceAll(/\s+/g, ' ') ?? '' },
    ],
    name: ({ id }) => id,
    emptyNote: 'No job ran yet. deployer run <service> -- <command> runs one.',
  })
}

/** Shows a job. */
export async function show(call: Call): Promise<void> {
  const { out } = call
  const job = await withApi(call, (api) => api.get<Job>(jobPath(call)))
  if (out.isJson) return out.json(job)
  printFields(out, [
    ['id', job.id],
    ['service', job.service_id],
    ['status', job.status],
    ['exit code', numberText(job.exit_code)],
    ['error', job.error],
    ['trigger', job.trigger],
    ['command', job.command],
    ['image', job.image],
    ['node', job.node_name ?? job.node],
    ['created', timeText(out, job.created_at)],
    ['started', timeText(out, job.started_at)],
    ['finished', timeText(out, job.finished_at)],
    ['took', tookText(out, job)],
  ])
}

/** Prints the output of a job; followed, it ends as the job does. */
export async function logs(call: Call): Promise<void> {
  const { out, words } = call
  const follows = call.has('follow')
  saveMemory()
  const sink = linePrinter(out, { hasTimes: call.has('timestamps') })
  const job = await withApi(call, (api) => readJobLog(api, out, words[0]!, { follows, sink }))
  const failure = follows ? jobFailureOf(job) : null
  if (failure) throw failure
}

/** Cancels a job. */
export async function cancel(call: Call): Promise<void> {
  const job = await withApi(call, (api) => api.send<Job>('POST', `${jobPath(call)}/cancel`))
  call.out.done(`${job.id} is canceled`, job)
}

function jobPath({ words }: Call): string {
  return `/jobs/${segment(words[0]!)}`
}

function numberText(number: number | null): string {
  return number === null ? '' : String(number)
}
