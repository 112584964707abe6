import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { networkInterfaces, release } from 'node:os'
import { AppError } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'

/** The machine of the server, as far as other nodes depend on it. */
export interface Ground {
  engine: Engine
  /** Whether containers are reached by address; null until the engine was asked. */
  reachByAddress: boolean | null
  /** The own node's id in the swarm that this server began; null before. */
  swarmId: string | null
}

/** Throws `conflict` with the one sentence why other machines cannot join. Changes nothing. */
export async function assertSuitable({ engine, reachByAddress, swarmId }: Ground): Promise<void> {
  const { name, rootless } = await engine.info()
  if (name === 'podman')
    refuse('Podman has no networks across machines: run the server on Docker for more than one node')
  if (rootless)
    refuse('a rootless engine has no networks across machines: run Docker as root for more than one node')
  const swarm = await engine.swarm.info()
  if (swarm.liveRestore)
    refuse(
      'the engine has live-restore, which Docker does not combine with several machines: remove "live-restore" from /etc/docker/daemon.json and restart Docker first',
    )
  const isOurs = swarm.nodeId !== null && swarm.nodeId === swarmId && swarm.isManager
  if (swarm.state !== 'inactive' && !isOurs)
    refuse('the engine is in another swarm: docker swarm leave takes it out, with everything that runs in it')
  if (reachByAddress === null) refuse('the container engine has not answered yet: try again in a minute')
  if (!reachByAddress)
    refuse(
      'the server does not reach containers by their address (Docker Desktop, or a server in a container without the network of the host): more than one node needs that',
    )
  if (await lacksVxlan())
    refuse(
      `the kernel ${release()} has no VXLAN, which networks across machines need: install its module vxlan`,
    )
}

function refuse(reason: string): never {
  throw new AppError('conflict', reason)
}

/** Whether the kernel has no VXLAN: neither at work nor as a module, and not when asked for one. */
async function lacksVxlan(): Promise<boolean> {
  if (existsSync('/sys/module/vxlan')) return false
  const folder = `/lib/modules/${release()}`
  const lists = ['modules.dep', 'modules.builtin']
    .map((name) => `${folder}/${name}`)
    .filter((path) => existsSync(path))
  if (lists.some((path) => /\/vxlan\.ko/.test(readFileSync(path, 'utf8')))) return false
  const name = 'deployer-try'
  const added = await ip(['link', 'add', name, 'type', 'vxlan', 'id', '1', 'dstport', '0'])
  if (added === null) await ip(['link', 'delete', name])
  // Without ip or without the right to ask, the engine will tell.
  return added !== null && /not supported|Unknown device type/i.test(added)
}

/** Runs ip; returns why it failed, or null. */
function ip(args: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('ip', args, { timeout: 5_000 }, (error, _, stderr) =>
      resolve(error ? stderr || error.message : null),
    )
  })
}

/** The IPv4 address of the interface of the default route; null when there is none. */
export function addressOfDefaultRoute(routes = readFileSync('/proc/net/route', 'utf8')): string | null {
  const device = defaultDevice(routes)
  const addresses = device === null ? [] : (networkInterfaces()[device] ?? [])
  return addresses.find(({ family }) => family === 'IPv4')?.address ?? null
}

/** The device of the default route with the lowest metric in /proc/net/route (proc_net(5)). */
export function defaultDevice(routes: string): string | null {
  const found = routes
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .filter(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')
    .toSorted((left, right) => Number(left[6]) - Number(right[6]))
  return found[0]?.[0] ?? null
}
