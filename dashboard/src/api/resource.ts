import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef, type WatchSource } from 'vue'
import { feedOpened, onChange } from './changes.ts'
import { ApiError } from './client.ts'
import type { Change } from './types.ts'

export interface Resource<T> {
  /** The newest answer; undefined until the first. */
  data: ShallowRef<T | undefined>
  /** Why the newest attempt failed; null when it did not. */
  error: Ref<ApiError | null>
  /** Fetches again; several calls while a request is running cause one more request. */
  reload: () => void
}

interface Options<T> {
  /** Which changes of the server's data make the answer (undefined before the first) stale. */
  concerns?: (change: Change, data: T | undefined) => boolean
  /** A new value of this means another resource: the old answer is dropped. */
  key?: WatchSource<unknown>
}

/** An answer of the server that is fetched at once and again whenever the change feed says that it is stale. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  options: Options<NoInfer<T>> = {},
): Resource<T> {
  const data = shallowRef<T>()
  const error = ref<ApiError | null>(null)
  const fetching = oneAtATime(async (signal) => {
    try {
      const answer = await load(signal)
      if (signal.aborted) return
      data.value = answer
      error.value = null
    } catch (problem) {
      if (!signal.aborted) error.value = asApiError(problem)
    }
  })
  onChange((change) => {
    if (change.kind === 'all' || options.concerns?.(change, data.value)) fetching.wish()
  })
  if (options.key) {
    watch(options.key, () => {
      fetching.stop()
      data.value = undefined
      error.value = null
      fetching.wish()
    })
  }
  onScopeDispose(fetching.stop)
  fetching.wish()
  return { data, error, reload: fetching.wish }
}

/** Anything that was thrown, as the error of a request. */
export function asApiError(problem: unknown): ApiError {
  return problem instanceof ApiError ? problem : new ApiError(0, 'unknown', String(problem))
}

/** How many readings of the server's data are under way. */
let readings = 0
const whenRead = new Set<() => void>()

/** Resolves once no reading of the server's data is under way. */
export function dataRead(): Promise<void> {
  return readings === 0 ? Promise.resolve() : new Promise((resolve) => whenRead.add(resolve))
}

async function counted(reading: Promise<void>): Promise<void> {
  readings++
  try {
    await reading
  } finally {
    readings--
    if (readings === 0) {
      for (const resolve of whenRead) resolve()
      whenRead.clear()
    }
  }
}

/** Runs work that reads the server's data on request; requests while it runs cause one more run. */
export function oneAtATime(work: (signal: AbortSignal) => Promise<void>) {
  let running: AbortController | null = null
  let isReading = false
  let again = false

  async function run(): Promise<void> {
    const attempt = new AbortController()
    running = attempt
    isReading = again = false
    await feedOpened()
    if (attempt.signal.aborted) return
    isReading = true
    await work(attempt.signal)
    if (attempt.signal.aborted) return
    running = null
    if (again) void counted(run())
  }

  return {
    wish: () => {
      if (!running) void counted(run())
      else if (isReading) again = true
    },
    stop: () => {
      running?.abort()
      running = null
    },
  }
}
