import { computed, ref, watch, type Ref } from 'vue'
import { api, API_BASE, problemText, readJson, request } from '../api/client.ts'
import type { Detection, Runtime, ServiceType } from '../api/types.ts'

/** The source to inspect. */
export interface Sought {
  /** A repository's address, or an archive. */
  source: string | File
  branch: string
  rootDir: string
  runtime: Runtime
  /** Chosen by the user; null lets the files decide. */
  type: ServiceType | null
}

export interface DetectionState {
  found: Ref<Detection | null>
  problem: Ref<string | null>
  asking: Ref<boolean>
}

/** The source is inspected when typing has paused; a clone costs more than listing branches. */
const PAUSE_MS = 1_000
/** A larger archive is not sent twice, once to inspect and once to deploy it. */
const MAX_ARCHIVE_BYTES = 64 * 1024 * 1024

const ADDRESS = /^(https?|ssh|git):\/\/\S+\/\S+|^[\w.-]+@[\w.-]+:\S+$/

/** What the server finds in a source, updated whenever the source changes. */
export function useDetection(sought: () => Sought | null): DetectionState {
  const found = ref<Detection | null>(null)
  const problem = ref<string | null>(null)
  const asking = ref(false)
  /** Keeps the same object when something else of the service changes. */
  const meant = computed<Sought | null>((former) => {
    const now = sought()
    return isSame(now, former ?? null) ? (former ?? null) : now
  })
  watch(
    meant,
    (wanted, former, onCleanup) => {
      if (wanted?.source !== former?.source) found.value = null
      problem.value = null
      // This includes the pause: the previous result is for another source.
      asking.value = wanted !== null && isComplete(wanted)
      if (wanted === null || !asking.value) return
      const stop = new AbortController()
      const timer = setTimeout(() => void ask(wanted, stop.signal), PAUSE_MS)
      onCleanup(() => {
        clearTimeout(timer)
        stop.abort()
      })
    },
    { immediate: true },
  )
  return { found, problem, asking }

  async function ask(wanted: Sought, signal: AbortSignal): Promise<void> {
    try {
      found.value = await detect(wanted, signal)
    } catch (error) {
      if (!signal.aborted) {
        found.value = null
        problem.value = problemText(error)
      }
    }
    if (!signal.aborted) asking.value = false
  }
}

function isSame(one: Sought | null, other: Sought | null): boolean {
  if (one === null || other === null) return one === other
  return (Object.keys(one) as (keyof Sought)[]).every((name) => one[name] === other[name])
}

function isComplete({ source }: Sought): boolean {
  return typeof source === 'string' ? ADDRESS.test(source) : source.size <= MAX_ARCHIVE_BYTES
}

async function detect(sought: Sought, signal: AbortSignal): Promise<Detection> {
  const { source, branch, rootDir, runtime, type } = sought
  const hints = {
    ...(rootDir === '' ? {} : { root_dir: rootDir }),
    ...(runtime === 'auto' || runtime === 'image' ? {} : { runtime }),
    ...(type === null ? {} : { type }),
  }
  if (typeof source === 'string') {
    const body = { repo_url: source, ...(branch === '' ? {} : { branch }), ...hints }
    return await api('POST /detect', { body, signal })
  }
  const query = new URLSearchParams(hints)
  const answer = await request(`${API_BASE}/detect?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/gzip' },
    body: source,
    signal,
  })
  return (await readJson(answer)) as Detection
}

/** One line of the result. */
export interface FoundLine {
  label: string
  value: string
}

/** The result, in the order in which it is used; unknown values are left out. */
export function linesOf(found: Detection): FoundLine[] {
  const made = found.env.filter(({ generate }) => generate).map(({ key }) => key)
  const wanted = found.env.filter(({ generate }) => !generate).map(({ key }) => key)
  const lines: [label: string, value: string | number | null][] = [
    ['Debian packages', found.apt_packages.join(' ')],
    ['Install', found.install_command],
    ['Build', found.build_command],
    ['Publish', found.publish_dir === '.' ? 'all files' : found.publish_dir],
    ['Before it goes live', found.pre_deploy_command],
    ['Start', found.start_command],
    ['Port', found.port],
    ['Health check', found.health_check_path],
    ['Generated variables', made.join(', ')],
    ['Expected variables', wanted.join(', ')],
  ]
  return lines.flatMap(([label, value]) =>
    value === null || value === '' ? [] : [{ label, value: String(value) }],
  )
}

/** The placeholder of an empty field: the value found in the source, otherwise an example. */
export function whenEmpty(
  found: Detection | null | undefined,
  value: (found: Detection) => string | number | null,
  example: string,
): string {
  if (!found || found.runtime === null) return example
  return `${value(found) ?? 'none'} (detected)`
}

/**
 * What would keep a deploy from going live, which is the last of the notes; null if there is something to start, or to
 * publish by a type with hosts.
 */
export function obstacleOf(found: Detection): string | null {
  const { type, runtime, start_command, publish_dir, notes } = found
  const isProgram = start_command !== null || (runtime === 'docker' && type !== 'static_site')
  const isPublished = publish_dir !== null && (type === 'web_service' || type === 'static_site')
  return runtime !== null && (isProgram || isPublished) ? null : (notes.at(-1) ?? null)
}
