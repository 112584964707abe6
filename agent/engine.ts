import { request } from 'node:http'

/** A container takes about 2 KiB of a list. */
const MAX_ANSWER_BYTES = 16 * 1024 ** 2
/** Each takes some milliseconds. An engine that starts a container says nothing about it meanwhile. */
const ANSWER_MS = 10_000
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
  /** When it last ended, in milliseconds since 1970; before that if it never did. */
  endedAt: number
}

/** The engine of this host, for what the agent does itself. Everything throws when it refuses, or says nothing in time. */
export class HostEngine {
  readonly #socketPath: string

  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  /** The containers with this label, running or not. */
  async list(label: string): Promise<Listed[]> {
    const filters = JSON.stringify({ label: [label] })
    const answer = await this.#ask('GET', `/containers/json?all=true&filters=${encodeURIComponent(filters)}`)
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

  async inspect(id: string): Promise<Inspected> {
    const found = JSON.parse(await this.#ask('GET', `/containers/${id}/json`)) as {
      State: { Restarting: boolean; FinishedAt: string }
      HostConfig: { RestartPolicy: { Name: string } }
    }
    return {
      policy: found.HostConfig.RestartPolicy.Name,
      isRestarting: found.State.Restarting,
      endedAt: Date.parse(found.State.FinishedAt),
    }
  }

  /** Says which containers with this label were told to end by a request since then, and not started after it. */
  async stoppedSince(label: string, since: number): Promise<Set<string>> {
    const filters = JSON.stringify({ type: ['container'], event: ['start', 'kill'], label: [label] })
    const [from, to] = [since, Date.now()].map((ms) => (ms / 1_000).toFixed(3))
    const answer = await this.#ask(
      'GET',
      `/events?since=${from}&until=${to}&filters=${encodeURIComponent(filters)}`,
    )
    const stopped = new Set<string>()
    for (const line of answer.split('\n').filter(Boolean)) {
      const { Action, Actor } = JSON.parse(line) as { Action: string; Actor: { ID: string } }
      if (Action === 'kill') stopped.add(Actor.ID)
      else stopped.delete(Actor.ID)
    }
    return stopped
  }

  /** Sets when the engine starts a container again by itself. */
  async setPolicy(id: string, policy: string): Promise<void> {
    await this.#ask('POST', `/containers/${id}/update`, { body: { RestartPolicy: { Name: policy } } })
  }

  async start(id: string, signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, AbortSignal.timeout(START_MS)])
    await this.#ask('POST', `/containers/${id}/start`, { signal: either })
  }

  async stop(id: string): Promise<void> {
    await this.#ask('POST', `/containers/${id}/stop`)
  }

  #ask(
    method: string,
    path: string,
    { body, signal }: { body?: unknown; signal?: AbortSignal } = {},
  ): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const asked = request(
      {
        ...{ socketPath: this.#socketPath, method, path },
        ...(sent === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
        signal: signal ?? AbortSignal.timeout(ANSWER_MS),
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
          if (text.length > MAX_ANSWER_BYTES) asked.destroy(new Error('its answer is too long'))
        })
        answer.on('error', reject).on('end', () => {
          // 304: it is so already.
          if ((answer.statusCode ?? 500) < 400) resolve(text)
          else reject(new Error(text.trim() || `status ${answer.statusCode}`))
        })
      },
    )
    asked.on('error', reject).end(sent)
    return promise
  }
}
