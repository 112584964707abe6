import { lastStages } from './stages.ts'

/**
 * The only TCP port that the image of a Dockerfile exposes, as far as the file itself says: by the EXPOSE lines of its
 * last stage and of the stages that this is made from (Dockerfile reference, "EXPOSE"). Null for none or several.
 */
export function exposedPort(dockerfile: string): number | null {
  const ports = new Set([...lastStages(dockerfile)].flatMap((stage) => stage.ports))
  const [only, ...others] = ports
  return others.length === 0 ? (only ?? null) : null
}
