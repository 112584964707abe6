import type { Tree } from '../source/tree.ts'
import {
  at,
  commandOf,
  fileOf,
  pathOf,
  portOf,
  readRecord,
  silent,
  startsOf,
  variablesOf,
  type HostFile,
} from './host-file.ts'

/**
 * Reads Fly's file, which describes the image that its Dockerfile or builder makes: folders in its commands are those of
 * that image (fly.io, "App configuration"). Its variables contain the address of the app there.
 */
export async function fly(tree: Tree, notes: string[]): Promise<HostFile | null> {
  const file = 'fly.toml'
  const value = await readRecord(tree, file, notes)
  if (value === null) return null
  const { processes } = value
  const web = commandOf(at(processes, 'app')) ?? commandOf(at(processes, 'web'))
  const worker = commandOf(at(processes, 'worker'))
  const health =
    pathOf(at(value, 'http_service', 'checks', 'path')) ??
    pathOf(at(value, 'services', 'http_checks', 'path'))
  // A Dockerfile in a separate folder usually serves that host's special needs.
  const dockerfile = flyDockerfile(value)
  return {
    ...silent(file),
    starts: startsOf(web, worker),
    preDeploy: commandOf(at(value, 'deploy', 'release_command')),
    healthCheckPath: health,
    wanted: Object.keys(variablesOf(value.env)),
    port:
      portOf(at(value, 'http_service', 'internal_port')) ??
      portOf(at(value, 'services', 'internal_port')) ??
      portOf(at(value, 'env', 'PORT')),
    isOfImage: at(value, 'build', 'builder') === undefined,
    notes:
      dockerfile === null || dockerfile === 'Dockerfile'
        ? []
        : [`${file} builds with ${dockerfile}: set dockerfile_path for that`],
  }
}

/** Returns the Dockerfile that a fly.toml names; null for none. */
export function flyDockerfile(value: unknown): string | null {
  return fileOf(at(value, 'build', 'dockerfile'))
}
