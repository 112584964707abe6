import type { Draw } from '../draw.ts'
import { placeOf, splitPlace, type Model, type ServiceRecord } from '../model.ts'

/** A successful answer, as far as calls read it. */
export interface Answer {
  id?: string
  latest_deploy?: { id: string } | null
  api_token?: { id: string }
  token?: string
}

/** One request, and what it does to the model. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  body?: object | Uint8Array
  /** Sent with the dashboard's session in place of the token. */
  needsSession?: boolean
  /** What it is about. Calls that are sent at once have none in common, so that their order does not matter. */
  subjects: string[]
  /** Statuses that refuse it rightly, depending on how far the server is; they change nothing. */
  refusals?: number[]
  /** Changes the model as a success does; the answer is null if it was lost. */
  apply(model: Model, answer: Answer | null): void
}

/** What a row of the table draws a call from. */
export interface Scene {
  model: Model
  draw: Draw
  round: number
  /** A text that no other call of this run has. */
  text: string
}

/** A row of the table: how often, and which call; null if the model has nothing for it. */
export interface CallKind {
  name: string
  weight: number
  draw(scene: Scene): Call | null | Promise<Call | null>
}

/** A service or datastore with its place. */
export interface Placed<T> {
  place: string
  record: T
}

/** Picks one of the services that fit. */
export function pickService(
  { model, draw }: Scene,
  fits: (record: ServiceRecord) => boolean,
): Placed<ServiceRecord> | null {
  const found = Object.entries(model.services).filter(([, record]) => fits(record))
  if (found.length === 0) return null
  const [place, record] = draw.pick(found)
  return { place, record }
}

const NAMES = ['api', 'web', 'shop', 'blog', 'mail', 'work']

/** A place that nothing has; null if all are taken. */
export function freePlace({ model, draw }: Scene): string | null {
  const environment = draw.pick(model.environments)
  const free = NAMES.map((name) => placeOf(environment, name)).filter(
    (place) => !model.services[place] && !model.datastores[place] && !model.leaving.includes(place),
  )
  return free.length === 0 ? null : draw.pick(free)
}

/** The path of a service or datastore, by its name. */
export function pathOf(resource: 'services' | 'datastores', place: string, below = '', query = ''): string {
  const { environment, name } = splitPlace(place)
  return `/${resource}/${name}${below}?environment=${environment}${query}`
}

/** A call about one service; `change` gets the record in the model that it is applied to. */
export function about(
  place: string,
  call: Omit<Call, 'subjects' | 'apply' | 'path'> & { below?: string; query?: string; others?: string[] },
  round: number,
  change: (record: ServiceRecord, answer: Answer | null, model: Model) => void,
): Call {
  const { below, query, others = [], ...rest } = call
  return {
    ...rest,
    path: pathOf('services', place, below, query),
    subjects: [place, ...others],
    apply(model, answer) {
      const record = model.services[place]
      if (!record) return
      record.touched = round
      change(record, answer, model)
    },
  }
}
