import { lastStages } from './stages.ts'

/**
 * The only TCP port that the image of a Dockerfile exposes, as far as the file shows: from the EXPOSE lines of its last
 * stage and of the stages that it is based on (Dockerfile reference, "EXPOSE"). Null for no port or several.
 */
export function exposedPort(dockerfile: string): number | null {
  const ports = new Set([...lastStages(dockerfile)].flatMap((stage) => stage.ports))
  const [only, ...others] = ports
  return others.length === 0 ? (only ?? null) : null
}
