import type { Datastore } from '#server/datastores/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import type { Api } from '../api.ts'
import { confirm } from '../ask.ts'
import { printFields, printList } from '../columns.ts'
import { fieldsOf, readFields } from '../fields.ts'
import { sizeText, timeText } from '../figures.ts'
import { settled } from '../settled.ts'
import { listOf, pathTo, qualifiedName, targetOf } from '../target.ts'
import { withApi } from '../with-api.ts'

const PATH = '/datastores'
/** The API's words are neutral; people know the names. */
const KIND_LABELS: Record<Datastore['kind'], string> = {
  relational: 'PostgreSQL',
  keyvalue: 'key-value store',
}
/** What `--kind` takes. */
export const KINDS: Readonly<Record<string, Datastore['kind']>> = {
  relational: 'relational',
  postgresql: 'relational',
  keyvalue: 'keyvalue',
  valkey: 'keyvalue',
}
/** While it has one of these, something is under way. */
const UNSETTLED: readonly Datastore['status'][] = ['creating', 'restoring', 'upgrading', 'deleting']

/** Lists the datastores of an environment, or of all; never their passwords, but with `--json`. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const { rows, isOfAll } = await withApi(call, (api) => listOf<Datastore>(call, api, 'datastores'))
  printList(out, rows, {
    columns: [
      { title: 'name', text: ({ name }) => name, isWhole: true },
      { title: 'environment', text: ({ environment }) => environment, isWhole: true },
      { title: 'kind', text: ({ kind }) => (out.isTerminal ? KIND_LABELS[kind] : kind) },
      { title: 'version', text: ({ version }) => version },
      { title: 'status', text: ({ status }) => status },
      { title: 'size', text: ({ disk_bytes: bytes }) => (bytes === null ? '' : sizeText(bytes)) },
      { title: 'why', text: ({ error }) => error ?? '' },
    ],
    name: (datastore) => (isOfAll ? qualifiedName(datastore) : datastore.name),
    emptyNote: 'There are no datastores. deployer db create <name> --kind postgresql creates one.',
  })
}

/** Shows a datastore without its password. */
export async function show(call: Call): Promise<void> {
  const { out } = call
  const datastore = await withApi(call, async (api) => (await datastoreOf(call, api)).datastore)
  if (out.isJson) return out.json(datastore)
  if (out.isQuiet) return out.line(datastore.name)
  const { kind, disk_bytes: bytes, memory_limit_mb: memory, cpu_limit: cpus } = datastore
  printFields(out, [
    ['name', datastore.name],
    ['id', datastore.id],
    ['environment', datastore.environment],
    ['kind', out.isTerminal ? KIND_LABELS[kind] : kind],
    ['version', datastore.version],
    ['status', datastore.status],
    ['error', datastore.error],
    ['database', datastore.database],
    ['user', datastore.username],
    ['internal address', `${datastore.internal_host}:${datastore.internal_port}`],
    ['port on the server', datastore.host_port === null ? null : String(datastore.host_port)],
    ['size', bytes === null ? null : sizeText(bytes)],
    ['memory limit', memory === 0 ? null : `${memory} MiB`],
    ['CPU limit', cpus === 0 ? null : String(cpus)],
    ['backups', datastore.backup_schedule ?? 'on demand'],
    ['backups kept', String(datastore.backup_retention)],
    ['created', timeText(out, datastore.created_at)],
  ])
}

/** The datastore that the first word names, and how it is asked for. */
export async function datastoreOf(call: Call, api: Api) {
  const target = targetOf(call, api, call.words[0]!)
  const path = pathTo('datastores', target)
  const query = { environment: target.environment }
  return { path, query, datastore: await api.get<Datastore>(path, query) }
}

/** Creates a datastore and waits until it answers. */
export async function create(call: Call): Promise<void> {
  await withApi(call, async (api) => {
    const { name, environment } = targetOf(call, api, call.words[0]!)
    const pairs = call.words.slice(1)
    const fields = pairs.length === 0 ? {} : readFields(pairs, await fieldsOf(api, 'POST', `/api/v1${PATH}`))
    const byFlags = {
      name,
      ...(environment === null ? {} : { environment }),
      ...(call.has('kind') ? { kind: kindOf(call.text('kind')!) } : {}),
    }
    const twice = Object.keys(fields).find((field) => Object.hasOwn(byFlags, field))
    if (twice !== undefined) throw wrong(`${twice} is given twice`)
    const body = { ...byFlags, ...fields }
    if (!('kind' in body)) throw wrong('name its kind: --kind postgresql or --kind keyvalue')
    await untilSettled(call, api, await api.send<Datastore>('POST', PATH, body), 'available')
  })
}

function kindOf(given: string): Datastore['kind'] {
  if (Object.hasOwn(KINDS, given)) return KINDS[given]!
  throw wrong(`--kind must be one of ${Object.keys(KINDS).join(', ')}`)
}

/**
 * Waits until what was begun with a datastore has ended, unless `--detach` is given, and says what is now. Throws Fault if it
 * failed.
 */
export async function untilSettled(call: Call, api: Api, begun: Datastore, title: string): Promise<void> {
  const path = pathTo('datastores', { name: begun.id })
  const isSettled = ({ status }: Datastore): boolean => call.has('detach') || !UNSETTLED.includes(status)
  const datastore = isSettled(begun) ? begun : await settled(() => api.get<Datastore>(path), isSettled)
  const name = qualifiedName(datastore)
  if (call.out.isJson) call.out.json(datastore)
  if (datastore.error !== null)
    throw new Fault(EXIT.failed, `${name} is ${datastore.status}: ${datastore.error}`)
  if (call.out.isJson) return
  const isDone = !UNSETTLED.includes(datastore.status)
  call.out.line(`${name} is ${isDone && datastore.status === 'available' ? title : datastore.status}`)
}

/** Deletes a datastore with its data, once its name was typed. */
export async function remove(call: Call): Promise<void> {
  const name = await withApi(call, async (api) => {
    const { path, query, datastore } = await datastoreOf(call, api)
    const { name, environment } = datastore
    await confirm(call, `Delete the datastore ${name} in ${environment} with its data and its backups?`, name)
    await api.send('DELETE', path, undefined, { query: { ...query, force: call.has('force') || null } })
    return qualifiedName(datastore)
  })
  call.out.done(`${name} is deleted`)
}

/** Upgrades a datastore to a newer major version and waits for the end. */
export async function upgrade(call: Call): Promise<void> {
  await withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const version = call.words[1]!
    const query = { environment: target.environment }
    const begun = await api.send<Datastore>(
      'POST',
      pathTo('datastores', target, '/upgrade'),
      { version },
      { query },
    )
    await untilSettled(call, api, begun, `upgraded to ${version}`)
  })
}
