import { existsSync } from 'node:fs'
import { AppError } from '#server/errors.ts'

/**
 * The path of the engine's socket: the given one, else the first usual one that exists, else Docker's usual path.
 * Throws `invalid_request` for an engine on another host.
 */
export function socketOf(dockerHost: string | undefined): string {
  if (dockerHost !== undefined && dockerHost !== '') {
    const path = dockerHost.startsWith('unix://') ? dockerHost.slice('unix://'.length) : dockerHost
    if (path.startsWith('/')) return path
    throw new AppError(
      'invalid_request',
      `the container engine ${dockerHost} is not on this host: set --docker-host or DOCKER_HOST to a socket such as unix:///var/run/docker.sock`,
    )
  }
  const candidates = usualSockets()
  return candidates.find((path) => existsSync(path)) ?? candidates[0]!
}

function usualSockets(): string[] {
  const runtime = process.env.XDG_RUNTIME_DIR
  const system = ['/var/run/docker.sock', '/run/podman/podman.sock']
  return process.getuid?.() === 0 || !runtime
    ? system
    : [`${runtime}/docker.sock`, ...system, `${runtime}/podman/podman.sock`]
}
