import type { Datastore } from '#server/datastores/schema.ts'
import type { LogEntry } from '#server/log.ts'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { wrong } from '../../fault.ts'
import type { Output } from '../../output.ts'
import type { Api, Query } from '../api.ts'
import { readKeptLog } from '../follow/kept-log.ts'
import { saveMemory } from '../follow/memory.ts'
import { linePrinter, Printer } from '../follow/printer.ts'
import { environmentOf, pathTo, qualifiedName, serviceOf, targetOf, type Target } from '../target.ts'
import { withApi } from '../with-api.ts'

const DEFAULT_TAIL = 100
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Prints the log of a service, or those of several. */
export async function logs(call: Call): Promise<void> {
  const tail = tailOf(call)
  const isAll = call.has('all')
  if (isAll && (call.words.length > 0 || call.text('service') !== null))
    throw wrong('--all is every service of the environment: name none, or leave it out')
  await withApi(call, async (api) => {
    if (isAll || call.words.length > 1) return printLogs(call, api, tail)
    const target = await serviceOf(call, api)
    await printLog(call, api, { collection: 'services', target, tail })
  })
}

/** Prints the logs of the services that are named, otherwise of all in the environment. */
async function printLogs(call: Call, api: Api, tail: number): Promise<void> {
  if (call.text('service') !== null) throw wrong('name the services as words or with --service, not both')
  saveMemory()
  const follows = call.has('follow')
  const named = call.words.map((word) => targetOf(call, api, word))
  const things = follows ? await Promise.all(named.map((target) => idOf(api, 'services', target))) : named
  const which: Query =
    things.length === 0
      ? { environment: environmentOf(call, api) }
      : { service: things.map(qualifiedName).join(',') }
  const what = things.length === 0 ? '--all' : named.map(qualifiedName).join(' ')
  const { out } = call
  await readKeptLog(
    api,
    { path: '/logs', query: queryOf(call, which), tail, follows, hasSince: true },
    {
      out,
      what:
        things.length === 0
          ? 'the logs of all services'
          : `the logs of ${named.map(({ name }) => name).join(', ')}`,
      again: `logs ${what} -f`,
    },
    linePrinter(out, { hasTimes: call.has('timestamps') }),
  )
}

/** Prints the log of a datastore. */
export async function datastoreLogs(call: Call): Promise<void> {
  const tail = tailOf(call)
  await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    await printLog(call, api, { collection: 'datastores', target, tail })
  })
}

/** Prints the server's own log. */
export async function serverLogs(call: Call): Promise<void> {
  saveMemory()
  const tail = tailOf(call)
  const { out } = call
  const log = {
    path: '/server/logs',
    query: () => ({ level: call.text('level') }),
    tail,
    follows: call.has('follow'),
    hasSince: false,
  }
  await withApi(call, (api) =>
    readKeptLog(
      api,
      log,
      { out, what: "the server's log", again: 'server logs -f' },
      new Printer<LogEntry>(out, (entry) => entryText(out, entry)),
    ),
  )
}

interface Wanted {
  collection: 'services' | 'datastores'
  target: Target
  tail: number
}

async function printLog(call: Call, api: Api, { collection, target, tail }: Wanted): Promise<void> {
  saveMemory()
  const { out } = call
  const follows = call.has('follow')
  // By its id, a log that is followed ends with what it is of, and not with another of the same name.
  const thing = follows ? await idOf(api, collection, target) : target
  await readKeptLog(
    api,
    {
      path: pathTo(collection, thing, '/logs'),
      query: queryOf(call, { environment: thing.environment }),
      tail,
      follows,
      hasSince: true,
    },
    { out, what: `the log of ${target.name}`, again: `${call.command.name} ${target.name} -f` },
    linePrinter(out, { hasTimes: call.has('timestamps') }),
  )
}

/** The filters of a command, and which log it is about, as they are whenever it is read. */
function queryOf(call: Call, which: Query): () => Query {
  const filters: Query = {
    ...which,
    until: call.text('until'),
    search: call.text('search'),
    instance: call.text('instance'),
    deploy: call.text('deploy'),
    stream: call.text('stream'),
    level: call.text('level'),
  }
  const since = sinceOf(call.text('since'))
  return () => ({ ...filters, since: since() })
}

async function idOf(api: Api, collection: Wanted['collection'], target: Target): Promise<Target> {
  const query = { environment: target.environment }
  const { id } = await api.get<Service | Datastore>(pathTo(collection, target), query)
  return { name: id, environment: null }
}

/** How many recent lines to print. Throws Fault for what is no number. */
function tailOf(call: Call): number {
  const text = call.text('tail')
  if (text === null) return DEFAULT_TAIL
  if (!/^\d{1,9}$/.test(text)) throw wrong('--tail must be a whole number, 0 or more')
  return Number(text)
}

/** The value of `--since` as it is later: what was an hour ago at the beginning is longer ago then. */
function sinceOf(text: string | null): () => string | null {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text ?? '') ?? []
  if (count === undefined) return () => text
  const seconds = Number(count) * UNIT_S[unit]!
  const began = performance.now()
  return () => `${seconds + Math.floor((performance.now() - began) / 1_000)}s`
}

function entryText(out: Output, { ts, level, target, message, fields }: LogEntry): string {
  const extra = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`
  const color = level === 'error' ? 'red' : level === 'warn' ? 'yellow' : level === 'debug' ? 'dim' : null
  const text = level.padEnd(5)
  return `${out.color('dim', ts)} ${color === null ? text : out.color(color, text)} ${out.cleaned(`${target}: ${message}${extra}`)}`
}
