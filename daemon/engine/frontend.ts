import type { EngineVersion } from './connection.ts'

/** The Dockerfile frontend (1.x) in the first release of each major version of Docker, newest first. */
const FRONTENDS: [major: number, minor: number][] = [
  [29, 19],
  [28, 14],
  [27, 8],
  [26, 7],
  [25, 6],
  [24, 5],
  [23, 4],
  [20, 2],
]

/** The lowest minor version that an engine's own Dockerfile frontend can have; undefined without one, as in Podman. */
export function frontendOf({ name, version }: Pick<EngineVersion, 'name' | 'version'>): number | undefined {
  if (name !== 'docker') return undefined
  const major = Number.parseInt(version, 10)
  return FRONTENDS.find(([from]) => major >= from)?.[1]
}
