import { linesOf } from '#plans/index.ts'

/** A stage of a Dockerfile, as far as its own lines show. */
export interface Stage {
  base: string
  name: string | null
  ports: number[]
  /** Whether it may copy a shell from elsewhere, or runs one. */
  mayHaveShell: boolean
}

const MAX_PORT = 65_535

/** The stages of a Dockerfile in order, in lower case. */
function stagesOf(dockerfile: string): Stage[] {
  const stages: Stage[] = []
  for (const line of linesOf(dockerfile)) {
    const [instruction = '', ...words] = line
      .trim()
      .toLowerCase()
      .split(/[ \t]+/)
    const plain = words.filter((word) => !word.startsWith('--'))
    if (instruction === 'from') {
      const [base = '', as, name] = plain
      stages.push({ base, name: as === 'as' ? (name ?? null) : null, ports: [], mayHaveShell: false })
    } else if (instruction === 'expose') {
      for (const word of words) {
        const port = Number(/^(\d{1,5})(?:\/tcp)?$/.exec(word)?.[1] ?? 0)
        if (port > 0 && port <= MAX_PORT) stages.at(-1)?.ports.push(port)
      }
    } else {
      const stage = stages.at(-1)
      if (stage !== undefined) stage.mayHaveShell ||= bringsShell(instruction, line)
    }
  }
  return stages
}

/** Whether an instruction needs a shell, or may copy one: by name, in a whole file system, or among files not known here. */
function bringsShell(instruction: string, line: string): boolean {
  if (instruction === 'run' || instruction === 'shell') return true
  if (instruction !== 'add' && instruction !== 'copy') return false
  const words = line
    .replace(/["',[\]]/g, ' ')
    .trim()
    .split(/\s+/)
  // A continued line and an archive that is unpacked may contain anything.
  if (/^[\\`]$/.test(words.at(-1)!)) return true
  return words.some((word) =>
    /^\/(?:usr\/?)?(?:s?bin\/?)?$|(?:^|\/)(?:sh|bash|dash|ash|busybox)$|\.(?:tar|tgz|txz)\b/.test(word),
  )
}

/** The last stage and the stages that it is based on, the last one first. */
export function* lastStages(dockerfile: string): Generator<Stage> {
  let base: string | null = null
  for (const stage of stagesOf(dockerfile).toReversed()) {
    if (base !== null && stage.name !== base) continue
    yield stage
    base = stage.base
  }
}

/** A Dockerfile names a few images; one that was made to name many has them looked through at each request of a registry. */
const MAX_IMAGES = 100

/**
 * The images that a Dockerfile names: those that its stages are based on, and those that files are copied or mounted `from`.
 * Names of stages and names with variables are left out.
 */
export function namedImages(dockerfile: string): string[] {
  const stages = new Set<string>()
  const images = new Set<string>()
  for (const line of linesOf(dockerfile)) {
    const [, base, stage] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line) ?? []
    const taken = [...line.matchAll(/[\s,-]from=([^\s,]+)/g)].map(([, name]) => name!)
    for (const name of base === undefined ? taken : [base])
      if (images.size < MAX_IMAGES && !stages.has(name.toLowerCase()) && !name.includes('$')) images.add(name)
    if (stage !== undefined) stages.add(stage.toLowerCase())
  }
  return [...images]
}

/** Images without a shell; debug images have one (GoogleContainerTools/distroless, "Debug Images"). */
const WITHOUT_SHELL = /^(?:scratch$|gcr\.io\/distroless\/(?!.*debug))/

/** The base image that leaves the image of a Dockerfile without a shell; null if the image has a shell, or may have one. */
export function baseWithoutShell(dockerfile: string): string | null {
  const stages = [...lastStages(dockerfile)]
  const base = stages.at(-1)?.base ?? ''
  return WITHOUT_SHELL.test(base) && !stages.some(({ mayHaveShell }) => mayHaveShell) ? base : null
}
