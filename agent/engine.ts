import { request, type IncomingMessage } from 'node:http'

/** A container takes about 2 KiB of a list. */
const MAX_ANSWER_BYTES = 16 * 1024 ** 2
/** Each takes some milliseconds. An engine that starts a container says nothing about it meanwhile. */
const ANSWER_MS = 10_000
/** An event has the labels of its container. */
const MAX_EVENT_CHARACTERS = 1024 ** 2
/** An engine looks for a manager of the swarm for 20 s before it gives up. */
const START_MS = 30_000

/** A container in the engine's list, as far as the agent looks. */
export interface Listed {
  id: string
  name: string
  labels: Record<string, string>
  /** `running`, `restarting`, `paused`, `exited` and others. */
  state: string
}

/** What else the agent asks about a container. */
export interface Inspected {
  /** The name of its restart policy. */
  policy: string
  /** Whether the engine waits to start it again. */
  isRestarting: boolean
  /** When it was last started, in milliseconds since 1970; before that if it never was. */
  startedAt: number
  /** When it last ended, in milliseconds since 1970; before that if it never did. */
  endedAt: number
}

/** What happened to a container. */
export interface Happening {
  id: string
  action: string
  /** In milliseconds since 1970. */
  at: number
}

interface Asked {
  body?: unknown
  signal: AbortSignal
}

/** The engine of this host, for what the agent does itself. Everything throws when it refuses, or says nothing in time. */
export class HostEngine {
  readonly #socketPath: string

  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  /** The containers with this label, running or not. */
  async list(label: string, signal: AbortSignal): Promise<Listed[]> {
    const filters = JSON.stringify({ label: [label] })
    const answer = await this.#ask(
      'GET',
      `/containers/json?all=true&filters=${encodeURIComponent(filters)}`,
      {
        signal: within(signal),
      },
    )
    const found = JSON.parse(answer) as {
      Id: string
      Names: string[]
      Labels: Record<string, string> | null
      State: string
    }[]
    return found.map(({ Id, Names, Labels, State }) => ({
      ...{ id: Id, name: Names[0]?.replace(/^\//, '') ?? Id },
      ...{ labels: Labels ?? {}, state: State },
    }))
  }

  async inspect(id: string, signal: AbortSignal): Promise<Inspected> {
    const found = JSON.parse(
      await this.#ask('GET', `/containers/${id}/json`, { signal: within(signal) }),
    ) as {
      State: { Restarting: boolean; StartedAt: string; FinishedAt: string }
      HostConfig: { RestartPolicy: { Name: string } }
    }
    return {
      policy: found.HostConfig.RestartPolicy.Name,
      isRestarting: found.State.Restarting,
      startedAt: Date.parse(found.State.StartedAt),
      endedAt: Date.parse(found.State.FinishedAt),
    }
  }

  /**
   * What happens to the containers with this label, from the moment when this returns until the signal aborts, after what the engine
   * still knows since then.
   */
  async follow(
    label: string,
    actions: readonly string[],
    since: number,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<Happening>> {
    const filters = JSON.stringify({ type: ['container'], event: actions, label: [label] })
    const path = `/events?since=${inSeconds(since)}&filters=${encodeURIComponent(filters)}`
    const opening = new AbortController()
    const limit = setTimeout(() => opening.abort(), ANSWER_MS)
    const either = AbortSignal.any([signal, opening.signal])
    const answer = await this.#open('GET', path, { signal: either }).finally(() => clearTimeout(limit))
    return happeningsOf(answer)
  }

  /** How many events of all kinds the engine still knows since then. */
  async countEvents(since: number, signal: AbortSignal): Promise<number> {
    const path = `/events?since=${inSeconds(since)}&until=${inSeconds(Date.now())}`
    const answer = await this.#ask('GET', path, { signal: within(signal) })
    return answer.split('\n').filter(Boolean).length
  }

  /** Sets when the engine starts a container again by itself. */
  async setPolicy(id: string, policy: string, signal?: AbortSignal): Promise<void> {
    const body = { RestartPolicy: { Name: policy } }
    await this.#ask('POST', `/containers/${id}/update`, { body, signal: within(signal) })
  }

  async start(id: string, signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, AbortSignal.timeout(START_MS)])
    await this.#ask('POST', `/containers/${id}/start`, { signal: either })
  }

  async stop(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask('POST', `/containers/${id}/stop`, { signal: within(signal) })
  }

  async #ask(method: string, path: string, asked: Asked): Promise<string> {
    return textOf(await this.#open(method, path, asked))
  }

  /** Resolves once the engine begins to answer. */
  async #open(method: string, path: string, { body, signal }: Asked): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const asked = request(
      {
        ...{ socketPath: this.#socketPath, method, path },
        ...(sent === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
        signal,
      },
      resolve,
    )
    asked.on('error', reject).end(sent)
    const answer = await promise
    // 304: it is so already.
    if ((answer.statusCode ?? 500) < 400) return answer
    throw new Error((await textOf(answer)).trim() || `status ${answer.statusCode}`)
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of answer.setEncoding('utf8') as AsyncIterable<string>) {
    text += piece
    if (text.length > MAX_ANSWER_BYTES) throw new Error('its answer is too long')
  }
  return text
}

async function* happeningsOf(answer: IncomingMessage): AsyncGenerator<Happening> {
  let rest = ''
  for await (const piece of answer.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop()!
    if (rest.length > MAX_EVENT_CHARACTERS) throw new Error('an event of it is too long')
    for (const line of lines.filter(Boolean)) {
      const event = JSON.parse(line) as { Action: string; Actor: { ID: string }; timeNano: number }
      yield { id: event.Actor.ID, action: event.Action, at: event.timeNano / 1e6 }
    }
  }
}

/** A moment as the engine reads it. */
function inSeconds(ms: number): string {
  return (ms / 1_000).toFixed(3)
}

/** Aborts with the signal, or when an answer takes too long. */
function within(signal?: AbortSignal): AbortSignal {
  const limit = AbortSignal.timeout(ANSWER_MS)
  return signal ? AbortSignal.any([signal, limit]) : limit
}
