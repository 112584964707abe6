import { isDeepStrictEqual } from 'node:util'
import type { ApiAnswer } from '../../test/support/server.ts'
import { Finding } from '../finding.ts'
import { placeOf, type Model, type Settings } from '../model.ts'
import type { Rig } from '../rig.ts'

/** What the API shows, and the model says it should; ids are left out. */
interface Shown {
  environments: string[]
  domains: string[]
  groups: Record<string, Record<string, string>>
  tokens: string[]
  datastores: Record<string, { kind: string; memory_limit_mb: number }>
  services: Record<string, Settings & { variables: Record<string, string>; groups: string[] }>
}

/** What the API shows, with the ids by place or name. */
export interface Actual {
  shown: Shown
  ids: Map<string, string>
}

type Named = { id: string; name: string }
type Service = Named & Settings & { environment: string; env_groups: string[]; state: string }
type Datastore = Named & { environment: string; kind: string; memory_limit_mb: number; status: string }
type Variable = { key: string; value: string }

/** Reads with the server's token, or with the session. Throws a Finding for an answer that is not 200. */
export async function read<T>(rig: Rig, path: string, as: 'token' | 'session' = 'token'): Promise<T> {
  const { status, body }: ApiAnswer =
    as === 'token'
      ? await rig.server.api('GET', path)
      : await rig.server.request('GET', `/api/v1${path}`, undefined, { headers: rig.session })
  if (status !== 200) throw new Finding(`GET ${path} was answered with ${status}: ${JSON.stringify(body)}`)
  return body as T
}

/** Reads everything that the model covers. */
export async function readActual(rig: Rig): Promise<Actual> {
  const environments = await read<Named[]>(rig, '/environments')
  const perEnvironment = <T>(resource: string): Promise<T[]> =>
    Promise.all(environments.map(({ name }) => read<T[]>(rig, `/${resource}?environment=${name}`))).then(
      (lists) => lists.flat(),
    )
  // What is being deleted counts as deleted.
  const services = (await perEnvironment<Service>('services')).filter(({ state }) => state !== 'deleting')
  const datastores = (await perEnvironment<Datastore>('datastores')).filter(
    ({ status }) => status !== 'deleting',
  )
  const variables = await Promise.all(services.map(({ id }) => read<Variable[]>(rig, `/services/${id}/env`)))
  const groups = await read<(Named & { vars: Variable[] })[]>(rig, '/env-groups')
  const domains = await read<Named[]>(rig, '/domains')
  const tokens = await read<Named[]>(rig, '/auth/tokens', 'session')
  const place = ({ environment, name }: Service | Datastore): string => placeOf(environment, name)
  return {
    shown: {
      environments: environments.map(({ name }) => name).toSorted(),
      domains: domains.map(({ name }) => name).toSorted(),
      groups: Object.fromEntries(groups.map(({ name, vars }) => [name, byKey(vars)])),
      tokens: tokens.map(({ name }) => name).toSorted(),
      datastores: Object.fromEntries(
        datastores.map((each) => [place(each), { kind: each.kind, memory_limit_mb: each.memory_limit_mb }]),
      ),
      services: Object.fromEntries(
        services.map((each, at) => [
          place(each),
          { ...settingsOf(each), variables: byKey(variables[at]!), groups: each.env_groups.toSorted() },
        ]),
      ),
    },
    ids: new Map([
      ...[...services, ...datastores].map((each) => [place(each), each.id] as const),
      ...tokens.map(({ name, id }) => [name, id] as const),
    ]),
  }
}

/** What the API should show. */
export function shownBy(model: Model): Shown {
  return {
    environments: model.environments.toSorted(),
    domains: model.domains.toSorted(),
    groups: model.groups,
    tokens: Object.keys(model.tokens).toSorted(),
    datastores: Object.fromEntries(
      Object.entries(model.datastores).map(([place, { kind, memory_limit_mb }]) => [
        place,
        { kind, memory_limit_mb },
      ]),
    ),
    services: Object.fromEntries(
      Object.entries(model.services).map(([place, { settings, variables, groups }]) => [
        place,
        { ...settingsOf(settings), variables, groups: groups.toSorted() },
      ]),
    ),
  }
}

/** Whether a model explains what the API shows, ids included. */
export function explains(model: Model, { shown, ids }: Actual): boolean {
  const known = Object.entries({ ...model.services, ...model.datastores, ...model.tokens })
  return (
    isDeepStrictEqual(shownBy(model), shown) &&
    known.every(([name, { id }]) => id === null || ids.get(name) === id)
  )
}

/** Says where a model differs from what the API shows. */
export function differences(model: Model, { shown, ids }: Actual): string {
  const lines = compare('', shownBy(model), shown)
  for (const [name, { id }] of Object.entries({ ...model.services, ...model.datastores, ...model.tokens })) {
    if (id !== null && ids.get(name) !== id)
      lines.push(`id of ${name}: ${id} expected, ${ids.get(name)} found`)
  }
  return lines.join('\n')
}

/** Gives what was created by a call whose answer was lost the id that it turned out to have. */
export function learnIds(model: Model, { ids }: Actual): void {
  for (const [name, record] of Object.entries({
    ...model.services,
    ...model.datastores,
    ...model.tokens,
  }))
    record.id ??= ids.get(name) ?? null
}

function settingsOf(from: Settings): Settings {
  const { type, image, start_command, schedule, disk_mount_path } = from
  const { instances, memory_limit_mb, suspended, custom_domains } = from
  return {
    type,
    image,
    start_command,
    schedule,
    disk_mount_path,
    instances,
    memory_limit_mb,
    suspended,
    custom_domains,
  }
}

function byKey(variables: readonly Variable[]): Record<string, string> {
  return Object.fromEntries(variables.map(({ key, value }) => [key, value]))
}

function compare(path: string, wanted: unknown, found: unknown): string[] {
  if (isDeepStrictEqual(wanted, found)) return []
  const isPlain = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isPlain(wanted) || !isPlain(found))
    return [`${path}: ${JSON.stringify(wanted)} expected, ${JSON.stringify(found)} found`]
  const keys = new Set([...Object.keys(wanted), ...Object.keys(found)])
  return [...keys].flatMap((key) => compare(`${path}/${key}`, wanted[key], found[key]))
}
