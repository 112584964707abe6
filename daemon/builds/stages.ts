import { linesOf } from '#plans/index.ts'

/** A stage of a Dockerfile, as far as its own lines say. */
export interface Stage {
  base: string
  name: string | null
  ports: number[]
  /** It may bring a shell from elsewhere, or runs one. */
  mayHaveShell: boolean
}

const MAX_PORT = 65_535

/** The stages of a Dockerfile in their order, in lower case. */
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

/** Whether an instruction needs a shell, or copies one, or what may hold one: a whole file system, or what other lines name. */
function bringsShell(instruction: string, line: string): boolean {
  if (instruction === 'run' || instruction === 'shell') return true
  if (instruction !== 'add' && instruction !== 'copy') return false
  const words = line
    .replace(/["',[\]]/g, ' ')
    .trim()
    .split(/\s+/)
  // A line that goes on, and an archive that is unpacked, may name anything.
  if (/^[\\`]$/.test(words.at(-1)!)) return true
  return words.some((word) =>
    /^\/(?:usr\/?)?(?:s?bin\/?)?$|(?:^|\/)(?:sh|bash|dash|ash|busybox)$|\.(?:tar|tgz|txz)\b/.test(word),
  )
}

/** The last stage and those that it is made from, the last one first. */
export function* lastStages(dockerfile: string): Generator<Stage> {
  let base: string | null = null
  for (const stage of stagesOf(dockerfile).toReversed()) {
    if (base !== null && stage.name !== base) continue
    yield stage
    base = stage.base
  }
}

/** Images without a shell; those for finding faults have one (GoogleContainerTools/distroless, "Debug Images"). */
const WITHOUT_SHELL = /^(?:scratch$|gcr\.io\/distroless\/(?!.*debug))/

/** The base that leaves the image of a Dockerfile without a shell; null where it has one, or may have. */
export function baseWithoutShell(dockerfile: string): string | null {
  const stages = [...lastStages(dockerfile)]
  const base = stages.at(-1)?.base ?? ''
  return WITHOUT_SHELL.test(base) && !stages.some(({ mayHaveShell }) => mayHaveShell) ? base : null
}
