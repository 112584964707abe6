import { onScopeDispose, ref, shallowRef, watch, type Ref, type ShallowRef, type WatchSource } from 'vue'
import { onChange } from './changes.ts'
import { ApiError } from './client.ts'
import type { Change } from './types.ts'

export interface Resource<T> {
  /** The newest answer; undefined until the first. */
  data: ShallowRef<T | undefined>
  /** Why the newest attempt failed; null when it did not. */
  error: Ref<ApiError | null>
  /** Fetches again; several wishes while one request runs become one more request. */
  reload: () => void
}

interface Options<T> {
  /** Which changes of the server's data make the answer (undefined before the first) stale. */
  concerns?: (change: Change, data: T | undefined) => boolean
  /** Another value of this means another resource: the old answer is dropped. */
  key?: WatchSource<unknown>
}

/** An answer of the server that is fetched at once and again whenever the change feed says that it is stale. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  options: Options<NoInfer<T>> = {},
): Resource<T> {
  const data = shallowRef<T>()
  const error = ref<ApiError | null>(null)
  let running: AbortController | null = null
  let stale = false

  async function run(): Promise<void> {
    const attempt = new AbortController()
    running = attempt
    stale = false
    try {
      const answer = await load(attempt.signal)
      if (attempt.signal.aborted) return
      data.value = answer
      error.value = null
    } catch (problem) {
      if (attempt.signal.aborted) return
      error.value = problem instanceof ApiError ? problem : new ApiError(0, 'unknown', String(problem))
    }
    running = null
    if (stale) void run()
  }

  function reload(): void {
    if (running) stale = true
    else void run()
  }

  if (options.key) {
    watch(options.key, () => {
      running?.abort()
      data.value = undefined
      error.value = null
      void run()
    })
  }
  onChange((change) => {
    if (change.kind === 'all' || options.concerns?.(change, data.value)) reload()
  })
  onScopeDispose(() => running?.abort())
  void run()
  return { data, error, reload }
}
