import type { Deploy } from '#server/deploys/schema.ts'
import type { LogLine } from '#server/logs/lines.ts'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import type { Output } from '../../output.ts'
import type { Api } from '../api.ts'
import { confirm } from '../ask.ts'
import { printFields, printList } from '../columns.ts'
import { durationText, sizeText, timeText } from '../figures.ts'
import { failureOf, followDeploy, isDeployOver, timeoutOf } from '../follow/deploy.ts'
import { saveMemory } from '../follow/memory.ts'
import { linePrinter, type Printer } from '../follow/printer.ts'
import { readRunLog, type RunSink } from '../follow/run-log.ts'
import { StepNotes } from '../follow/step-notes.ts'
import { pathTo, segment, serviceOf } from '../target.ts'
import { withApi } from '../with-api.ts'

const SHA_CHARACTERS = 7
/** As many as the server lists. */
const MAX_DEPLOYS = 500

/** Lists the deploys of a service, newest first. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const limit = limitOf(call)
  const deploys = await withApi(call, async (api) => {
    const service = await serviceOf(call, api)
    return api.get<Deploy[]>(pathTo('services', service, '/deploys'), {
      environment: service.environment,
      limit,
    })
  })
  printList(out, deploys, {
    columns: [
      { title: 'id', text: ({ id }) => id, isWhole: true },
      { title: 'status', text: (deploy) => statusText(out, deploy), isWhole: true },
      { title: 'trigger', text: ({ trigger }) => trigger },
      { title: 'commit', text: (deploy) => commitText(out, deploy) },
      { title: 'age', text: ({ created_at }) => timeText(out, created_at) },
      { title: 'took', text: (deploy) => tookText(out, deploy) },
    ],
    name: ({ id }) => id,
    emptyNote: 'Nothing was deployed yet. deployer deploy does.',
  })
}

/** Shows a deploy. */
export async function show(call: Call): Promise<void> {
  const { out } = call
  const deploy = await withApi(call, (api) => api.get<Deploy>(deployPath(call)))
  if (out.isJson) return out.json(deploy)
  const { id, status, trigger, source, image, port, error } = deploy
  printFields(out, [
    ['id', id],
    ['service', deploy.service_id],
    ['status', status],
    ['error', error],
    ['waits for', deploy.waiting && waitingText(out, deploy.waiting)],
    ['trigger', trigger],
    ['source', source.repo_url ?? source.kind],
    ['branch', source.branch],
    ['commit', deploy.commit_sha],
    ['message', deploy.commit_message?.split('\n')[0] ?? null],
    ['author', deploy.commit_author],
    ['image', image],
    ['port', port === null ? null : String(port)],
    ['created', timeText(out, deploy.created_at)],
    ['started', timeText(out, deploy.started_at)],
    ['finished', timeText(out, deploy.finished_at)],
    ['took', tookText(out, deploy)],
  ])
}

/** Prints the log of a deploy; followed, it ends as the deploy does. */
export async function logs(call: Call): Promise<void> {
  const { out, words } = call
  const [id] = words as [string]
  const follows = call.has('follow')
  saveMemory()
  const lines = linePrinter(out, { hasTimes: call.has('timestamps') })
  // In a pipe, the log is as it was stored.
  const print = out.isTerminal && !out.isJson ? withSteps(out, lines) : lines
  await withApi(call, async (api) => {
    const log = { path: deployPath(call), follows, isOver: isDeployOver }
    const deploy = await readRunLog<Deploy>(
      api,
      log,
      { out, what: `the log of ${id}`, again: `deploys logs ${id} -f` },
      print,
    )
    const failure = follows ? failureOf(deploy) : null
    if (failure) throw failure
  })
}

/** Prints the steps of a deploy between its lines. */
function withSteps(out: Output, lines: Printer<LogLine>): RunSink {
  const notes = new StepNotes(out, (text) => lines.note(out.color('bold', text)))
  return {
    line(line) {
      notes.line(line)
      lines.line(line)
    },
    step: (step) => notes.step(step),
    flush: () => lines.flush(),
  }
}

/** Cancels a deploy. */
export async function cancel(call: Call): Promise<void> {
  const deploy = await withApi(call, (api) => api.send<Deploy>('POST', `${deployPath(call)}/cancel`))
  call.out.done(`${deploy.id} is canceled`, deploy)
}

/** Restarts a service, and follows that. */
export async function restart(call: Call): Promise<number> {
  timeoutOf(call)
  return withApi(call, async (api) => {
    const service = await serviceOf(call, api)
    const { environment } = service
    const deploy = await api.send<Deploy>('POST', pathTo('services', service, '/restart'), undefined, {
      query: { environment },
    })
    return followDeploy(call, api, deploy)
  })
}

/** Returns a service to an earlier deploy, and follows that. */
export async function rollback(call: Call): Promise<number> {
  timeoutOf(call)
  return withApi(call, async (api) => {
    const service = await serviceOf(call, api)
    const query = { environment: service.environment }
    const wanted = call.text('to')
    const target =
      wanted === null
        ? await earlierOf(api, pathTo('services', service), query)
        : await api.get<Deploy>(`/deploys/${segment(wanted)}`)
    const what = [
      target.id,
      commitText(call.out, target, { isShort: true }),
      timeText(call.out, target.created_at),
    ]
    await confirm(call, `Roll ${service.name} back to ${what.filter(Boolean).join(', ')}?`)
    const body = { deploy_id: target.id }
    const deploy = await api.send<Deploy>('POST', pathTo('services', service, '/rollback'), body, { query })
    return followDeploy(call, api, deploy)
  })
}

/** The newest deploy before the live one that was live, too. Throws Fault if there is none. */
async function earlierOf(api: Api, path: string, query: { environment: string | null }): Promise<Deploy> {
  const { name, live_deploy_id } = await api.get<Service>(path, query)
  const deploys = await api.get<Deploy[]>(`${path}/deploys`, { ...query, limit: MAX_DEPLOYS })
  // The list is newest first. Without a live one among them, all are earlier.
  const live = deploys.findIndex(({ id }) => id === live_deploy_id)
  const earlier = deploys.slice(live + 1).find(({ status }) => status === 'deactivated')
  if (earlier) return earlier
  throw new Fault(EXIT.conflict, `${name} has no earlier deploy that was live; deployer deploys lists them`)
}

function deployPath({ words }: Call): string {
  return `/deploys/${segment(words[0]!)}`
}

/** The value of `--limit`; null for the server's own. Throws Fault for what is no number. */
export function limitOf(call: Call): number | null {
  const text = call.text('limit')
  if (text === null) return null
  if (!/^[1-9]\d{0,5}$/.test(text)) throw wrong('--limit must be a whole number, 1 or more')
  return Number(text)
}

/** The status; for people also what a queued deploy waits for. */
function statusText(out: Output, { status, waiting }: Deploy): string {
  return waiting && out.isTerminal ? `${status} (${waiting.for})` : status
}

function waitingText(out: Output, waiting: NonNullable<Deploy['waiting']>): string {
  const { free_bytes, floor_bytes, since } = waiting
  return `${waiting.for}: ${sizeText(free_bytes)} free, ${sizeText(floor_bytes)} needed, since ${timeText(out, since)}`
}

function commitText(
  out: Output,
  { commit_sha, commit_message, image }: Deploy,
  { isShort = out.isTerminal } = {},
): string {
  if (commit_sha === null) return image ?? ''
  if (!isShort) return commit_sha
  return [commit_sha.slice(0, SHA_CHARACTERS), commit_message?.split('\n')[0] ?? ''].join(' ').trim()
}

/** How long it took from its start to its end; in seconds for programs. */
export function tookText(
  out: Output,
  { started_at, finished_at }: Pick<Deploy, 'started_at' | 'finished_at'>,
): string {
  if (started_at === null || finished_at === null) return ''
  const seconds = Math.round((Date.parse(finished_at) - Date.parse(started_at)) / 1_000)
  return out.isTerminal ? durationText(seconds) : String(seconds)
}
