import { linesOf } from './text.ts'

interface Stage {
  base: string
  name: string | null
  ports: number[]
}

/**
 * The only TCP port that the image of a Dockerfile exposes, as far as the file itself says: by the EXPOSE lines of its
 * last stage and of the stages that this is made from (Dockerfile reference, "EXPOSE"). Null for none or several.
 */
export function exposedPort(dockerfile: string): number | null {
  const stages = stagesOf(dockerfile)
  const ports = new Set<number>()
  let base: string | null = null
  for (const stage of stages.toReversed()) {
    if (base !== null && stage.name !== base) continue
    for (const port of stage.ports) ports.add(port)
    base = stage.base
  }
  const [only, ...others] = ports
  return others.length === 0 ? (only ?? null) : null
}

function stagesOf(dockerfile: string): Stage[] {
  const stages: Stage[] = []
  for (const line of linesOf(dockerfile)) {
    const [instruction = '', ...words] = line
      .trim()
      .toLowerCase()
      .split(/[ \t]+/)
    if (instruction === 'from') {
      const [base = '', as, name] = words.filter((word) => !word.startsWith('--'))
      stages.push({ base, name: as === 'as' ? (name ?? null) : null, ports: [] })
    } else if (instruction === 'expose') {
      for (const word of words) {
        const port = Number(/^(\d{1,5})(?:\/tcp)?$/.exec(word)?.[1] ?? 0)
        if (port > 0 && port <= MAX_PORT) stages.at(-1)?.ports.push(port)
      }
    }
  }
  return stages
}

const MAX_PORT = 65_535
