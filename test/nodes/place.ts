import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { endOf } from '../engine/live.ts'
import type { Machine } from '../stand/machine.ts'
import { startMachines, type MachinesOptions } from '../stand/machines.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { Load, type Answers } from './load.ts'

/** A node as the API shows it, as far as tests look. */
export interface NodeView {
  id: string
  name: string
  status: string
  reason: string | null
  roles: string[]
  manager: string | null
  address: string | null
  instances: number
  bound: { name: string }[]
}

/** An instance in the status of a service, as far as tests look. */
export interface InstanceView {
  name: string
  state: string
  health: string
  node_name: string
}

/** A container of a service on a machine. */
export interface ContainerView {
  name: string
  startedAt: string
}

/** A server on the first of several machines, and what tests do with it. */
export interface Place {
  server: TestServer
  machines: [Machine, Machine, Machine, ...Machine[]]
  /** The command with which a machine joins, as what the fields say. */
  invite(fields?: object): Promise<string>
  /** Lets machines join, one after another, and waits until each is ready. */
  join(...machines: Machine[]): Promise<void>
  nodes(): Promise<NodeView[]>
  /** Waits until a machine's node has this status. */
  becomes(machine: Machine, status: string, limitMs?: number): Promise<NodeView>
  /** Changes a machine's node; returns the answer's status and body. */
  patch(machine: Machine, fields: object): ReturnType<TestServer['api']>
  remove(machine: Machine, query?: string): ReturnType<TestServer['api']>
  /** Deploys a page that says `text` as a static site, which is created unless it exists. */
  publish(name: string, text: string): Promise<void>
  /**
   * Builds a page that says `text`, with further lines in its Dockerfile, and deploys it as a service, which is created unless it
   * exists; returns its id.
   */
  deploy(name: string, text: string, fields?: object, lines?: string): Promise<string>
  /** Creates a service of an image with a shell command, and waits until it is live; returns its id. */
  run(name: string, command: string, fields?: object): Promise<string>
  instances(name: string, query?: string): Promise<InstanceView[]>
  /** Waits until all instances of a service run and are healthy, on the machines that `where` accepts. */
  settles(name: string, where: (nodes: string[]) => boolean, limitMs?: number): Promise<InstanceView[]>
  /** The machine on which an instance runs. */
  machineOf(instance: InstanceView): Machine
  /** The running containers of a service on a machine. */
  containers(machine: Machine, serviceId: string): Promise<ContainerView[]>
  /** Does something while clients ask for a service; returns what became of their requests. */
  underLoad(name: string, work: () => Promise<void>): Promise<Answers>
  stop(): Promise<void>
}

/** The stand has other images of node and of the registry than the server would pull. */
const FLAGS = ['--node-image', 'node:26-bookworm-slim', '--registry-image', 'registry:3']

export interface PlaceOptions extends MachinesOptions {
  flags?: string[]
}

/** Makes three machines and starts a server on the first. */
export async function startPlace({ flags = [], ...options }: PlaceOptions = {}): Promise<Place> {
  const machines = await startMachines(options)
  try {
    const server = await startServer({ machine: machines.list[0], flags: [...FLAGS, ...flags] })
    await waitFor(() => server.logs.includes('reached_by'), 'the engine')
    const stop = async (): Promise<void> => {
      await server.stop()
      await machines.close()
    }
    return placeOf(server, machines.list, stop)
  } catch (error) {
    await machines.close()
    throw error
  }
}

/** Starts a server on another machine of a place, on data that is there. */
export async function startElsewhere(
  machines: Place['machines'],
  machine: Machine,
  dataDirectory: string,
  flags: string[] = [],
): Promise<Place> {
  const server = await startServer({ machine, dataDirectory, flags: [...FLAGS, ...flags] })
  return placeOf(server, machines, () => server.stop())
}

function placeOf(server: TestServer, machines: Place['machines'], stop: () => Promise<void>): Place {
  return { server, machines, stop, ...nodesOf(server), ...servicesOf(server, machines) }
}

type Nodes = Pick<Place, 'invite' | 'join' | 'nodes' | 'becomes' | 'patch' | 'remove'>

function nodesOf(server: TestServer): Nodes {
  const nodes = async (): Promise<NodeView[]> => (await server.api('GET', '/nodes')).body
  const invite = async (fields = {}): Promise<string> => {
    return expected(await server.api('POST', '/nodes', fields), 201).command
  }
  const becomes = (machine: Machine, status: string, limitMs?: number): Promise<NodeView> =>
    waitFor(
      async () => {
        const node = (await nodes()).find(({ name }) => name === machine.name)
        if (node?.status !== status) throw new Error(`it is ${JSON.stringify(node)}`)
        return node
      },
      `${machine.name} to be ${status}`,
      limitMs,
    )
  return {
    invite,
    nodes,
    becomes,
    join: async (...machines) => {
      for (const machine of machines) {
        await machine.run('sh', '-c', await invite())
        await becomes(machine, 'ready')
      }
    },
    patch: (machine, fields) => server.api('PATCH', `/nodes/${machine.name}`, fields),
    remove: (machine, query = '') => server.api('DELETE', `/nodes/${machine.name}${query}`),
  }
}

type Services = Omit<Place, keyof Nodes | 'server' | 'machines' | 'stop'>

function servicesOf(server: TestServer, machines: readonly Machine[]): Services {
  const create = async (fields: object) => expected(await server.api('POST', '/services', fields), 201)
  const goesLive = async (deployId: string): Promise<void> => {
    const { status, error } = await endOf(server, deployId)
    if (status !== 'live') throw new Error(`${deployId} is ${status}: ${error}`)
  }
  const instances = async (name: string, query = ''): Promise<InstanceView[]> =>
    (await server.api('GET', `/services/${name}/status${query}`)).body.instances
  return {
    instances,
    deploy: async (name, text, fields, lines) => {
      const found = await server.api('GET', `/services/${name}`)
      const service = found.status === 200 ? found.body : await create({ name, ...fields })
      const upload = await server.api('POST', `/services/${name}/deploys/upload`, await page(text, lines))
      await goesLive(expected(upload, 202).id)
      return service.id
    },
    publish: async (name, text) => {
      if ((await server.api('GET', `/services/${name}`)).status !== 200)
        await create({ name, type: 'static_site' })
      const upload = await server.api('POST', `/services/${name}/deploys/upload`, await site(text))
      await goesLive(expected(upload, 202).id)
    },
    run: async (name, command, fields) => {
      const body = await create({ name, image: 'busybox:1', start_command: command, ...fields })
      await goesLive(body.latest_deploy.id)
      return body.id
    },
    settles: (name, where, limitMs) =>
      waitFor(
        async () => {
          const found = await instances(name)
          const fine = found.filter(({ state, health }) => state === 'running' && health === 'healthy')
          const nodes = fine.map((instance) => instance.node_name)
          if (fine.length < found.length || !where(nodes)) throw new Error(JSON.stringify(found))
          return found
        },
        `${name} to settle`,
        limitMs,
      ),
    machineOf: ({ node_name }) => machines.find(({ name }) => name === node_name)!,
    containers,
    underLoad: async (name, work) => {
      const load = new Load(server, `${name}.localhost`)
      try {
        await waitFor(() => load.answers.answered >= 100, `${name} to answer`)
        await work()
      } finally {
        await load.stop()
      }
      return load.answers
    },
  }
}

/** The body of an answer with this status; throws for another one. */
function expected({ status, body }: ApiAnswer, wanted: number): ApiAnswer['body'] {
  if (status !== wanted) throw new Error(`${status} in place of ${wanted}: ${JSON.stringify(body)}`)
  return body
}

async function containers(machine: Machine, serviceId: string): Promise<ContainerView[]> {
  const ids = await machine.docker('ps', '-q', '--filter', `label=deployer.service=${serviceId}`)
  if (ids.trim() === '') return []
  const format = '{"name":{{json (slice .Name 1)}},"startedAt":{{json .State.StartedAt}}}'
  const lines = await machine.docker('inspect', '--format', format, ...ids.trim().split('\n'))
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ContainerView)
}

/** An archive of an image whose web server says a text, then its host name. */
async function page(text: string, lines = ''): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'Dockerfile' }, `FROM busybox:1\nCOPY run text /\n${lines}CMD ["/run"]\n`)
  tar.entry({ name: 'text' }, text)
  tar.entry({ name: 'run', mode: 0o755 }, `#!/bin/sh\n${PAGE_COMMAND}\n`)
  tar.finalize()
  return gzipSync(await buffer(tar))
}

/** An archive of a folder with a page that says a text. */
async function site(text: string): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'index.html' }, text)
  tar.finalize()
  return gzipSync(await buffer(tar))
}

/** Serves what /text says, if there is one, with the container's host name, which differs in each instance. */
export const PAGE_COMMAND =
  'mkdir -p /www; echo $(cat /text 2> /dev/null) $(hostname) > /www/index.html; exec httpd -f -p $PORT -h /www'
