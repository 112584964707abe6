import { mappingAt, scalarAt, someAt } from './builder.ts'
import { interpolate, interpolated, pairsOf, readEnvironment } from './compose-environment.ts'
import type { ComposeNames } from './compose-names.ts'
import { composeVariable } from './compose-variables.ts'
import { readDisk } from './compose-volumes.ts'
import { lookUp, plainPath, warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { Node, ScalarNode } from './nodes.ts'

/** Said by the image or of no meaning here: nothing is lost. */
const SILENT = [
  'restart',
  'depends_on',
  'container_name',
  'hostname',
  'init',
  'stdin_open',
  'tty',
  'pull_policy',
  'platform',
  'logging',
  'stop_grace_period',
  'stop_signal',
  'attach',
]

const LEFT_OUT: Record<string, string> = {
  env_file: 'the file is not read: set its variables by hand',
  networks: 'an environment is one network here: it is left out',
  labels: 'labels are not read; domains are custom_domains here',
  profiles: 'there are no profiles here: the service is always there',
  secrets: 'secrets are variables here: set them by hand',
  configs: 'files of configs belong into the image or the repository here',
  extends: 'what it extends is not read: write it out',
  privileged: 'containers have no privileges here',
  user: 'programs run as the user of their image: it is left out',
  links: 'services reach each other by their names here: it is left out',
  network_mode: 'containers have the network of their environment alone here',
}

/** Ports whose programs do not speak HTTP, so that a published one needs no route. */
const OTHER_PROTOCOLS = new Set([
  21, 22, 25, 53, 143, 389, 465, 587, 993, 1883, 3306, 5432, 5672, 6379, 9042, 9092, 11_211, 27_017,
])

/** Converts one service of a file of Compose. */
export function composeService(
  name: string,
  program: ForeignMapping,
  names: ComposeNames,
  notes: Notes,
): Node {
  const { place } = program.node
  for (const field of SILENT) program.take(field)
  const published = readPorts(program, 'ports', notes)
  const exposed = readPorts(program, 'expose', notes)
  const image = program.scalar('image')
  const port = published[0] ?? exposed[0] ?? usualPort(image)
  const isWeb = published.length > 0 && !OTHER_PROTOCOLS.has(published[0]!.number)
  const listens = port !== undefined || names.isDependedOn(name)
  for (const other of [...published, ...exposed].filter(({ number }) => number !== port?.number))
    warn(
      notes,
      other.node,
      `a service has one port here: ${other.number} is reached inside the environment alone`,
    )
  if (published.length > 0 && !isWeb)
    warn(
      notes,
      published[0]!.node,
      `the port ${port!.number} speaks no HTTP: it is reached inside the environment alone`,
    )
  const build = readBuild(program, notes)
  if (!port)
    warn(
      notes,
      program.node,
      listens
        ? 'names no port: set one, unless its image exposes exactly one'
        : 'names no port and becomes a background worker: a web service needs one',
    )
  const environment = readEnvironment(program, notes).flatMap((variable) =>
    composeVariable(variable, names, notes),
  )
  const node = mappingAt(place, {
    name: scalarAt(place, name),
    type: scalarAt(place, isWeb ? 'web_service' : listens ? 'private_service' : 'background_worker'),
    ...(build ?? { image: interpolated(image, notes) }),
    start_command: readCommand(program, notes),
    port: port && scalarAt(port.node.place, port.number),
    health_check_path: listens ? readHealth(program, notes) : (program.take('healthcheck'), undefined),
    disk_mount_path: readDisk(program, notes),
    ...readLimits(program, notes),
    env: someAt(place, environment),
  })
  program.end(LEFT_OUT)
  return node
}

interface Port {
  number: number
  node: Node
}

/** Where programs listen that files seldom name a port of, by the last part of their image's path. */
const USUAL_PORTS: Record<string, number> = {
  mysql: 3306,
  mariadb: 3306,
  mongo: 27_017,
  rabbitmq: 5672,
  memcached: 11_211,
  elasticsearch: 9200,
  minio: 9000,
  nats: 4222,
}

function usualPort(image: Node | undefined): Port | undefined {
  if (image?.kind !== 'scalar') return undefined
  const number = lookUp(USUAL_PORTS, image.text.split('/').at(-1)!.split(/[:@]/)[0]!)
  return number === undefined ? undefined : { number, node: image }
}

/** The ports inside the container: `80`, `8080:80`, `127.0.0.1:8080:80/tcp`, or a mapping with `target`. */
function readPorts(program: ForeignMapping, field: string, notes: Notes): Port[] {
  return program.list(field).flatMap((item) => {
    const target = item.kind === 'mapping' ? item.entries.get('target') : item
    const { text, missing } = interpolate(target?.kind === 'scalar' ? target.text : '')
    const number = Number(/(?:^|[:-])(\d{1,5})(?:\/tcp)?$/.exec(text)?.[1])
    if (number >= 1 && number <= 65_535) return [{ number, node: item }]
    if (text.endsWith('/udp')) warn(notes, item, 'UDP is not routed here: it is left out')
    else if (missing.length > 0)
      warn(notes, item, `takes ${missing.join(', ')} from outside of the file: set the port by hand`)
    else notes.faults.add(item.place, 'must be a port such as 8080:80')
    return []
  })
}

function readBuild(program: ForeignMapping, notes: Notes): Record<string, Node | undefined> | undefined {
  const node = program.node.entries.get('build')
  if (node?.kind === 'scalar') {
    program.take('build')
    return node.text === ''
      ? undefined
      : { runtime: scalarAt(node.place, 'docker'), root_dir: inside(node, notes) }
  }
  const build = program.mapping('build')
  if (!build) return undefined
  program.take('image')
  const file = build.scalar('dockerfile')
  const context = build.scalar('context')
  const args = build.take('args')
  if (args)
    for (const { key, node: at } of pairsOf(args, notes))
      warn(notes, at, `the build argument ${key} is a variable of the service here: add it to env`)
  build.end({ target: 'the last stage of the Dockerfile is built here: it is left out' })
  return {
    runtime: scalarAt(build.node.place, 'docker'),
    root_dir: context && inside(context, notes),
    dockerfile_path: file && inside(file, notes),
  }
}

/** A path of the file's own folder, which stands for the repository; none for the folder itself. */
function inside(node: ScalarNode, notes: Notes): ScalarNode | undefined {
  const given = interpolated(node, notes)
  if (!given) return undefined
  const path = plainPath(given.text)
  if (/^(?:\w+:\/\/|git@|\/)/.test(given.text) || path.split('/').includes('..')) {
    warn(
      notes,
      node,
      'lies outside of the folder of the file: set it by hand, from the top of the repository',
    )
    return undefined
  }
  return path === '.' ? undefined : scalarAt(node.place, path)
}

function readCommand(program: ForeignMapping, notes: Notes): Node | undefined {
  const parts = ['entrypoint', 'command'].map((field) => wordsOf(program.take(field)))
  const words = parts.filter((part) => part !== '')
  const node = program.node.entries.get('command') ?? program.node.entries.get('entrypoint')
  if (words.length === 0 || !node) return undefined
  if (parts[0] === '')
    warn(
      notes,
      node,
      "start_command takes the place of the image's entry point too: name that first if the image has one",
    )
  return scalarAt(node.place, words.join(' '))
}

/** A command as a line for a shell. */
function wordsOf(node: Node | undefined): string {
  if (node?.kind === 'scalar') return node.text
  if (node?.kind !== 'list') return ''
  return node.items.map((item) => (item.kind === 'scalar' ? quoted(item.text) : '')).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

function readHealth(program: ForeignMapping, notes: Notes): Node | undefined {
  const check = program.mapping('healthcheck')
  const test = check?.take('test')
  if (!test) return undefined
  const path = /https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d+)?(\/[!-&(-~]*)/.exec(
    wordsOf(test),
  )?.[1]
  if (path !== undefined) return scalarAt(test.place, path)
  warn(notes, test, 'health is asked over HTTP here: set health_check_path, or the port is probed')
  return undefined
}

function readLimits(program: ForeignMapping, notes: Notes): Record<string, Node | undefined> {
  const deploy = program.mapping('deploy')
  const resources = deploy?.mapping('resources')
  const limits = resources?.mapping('limits')
  resources?.take('reservations')
  for (const field of ['restart_policy', 'mode', 'update_config', 'rollback_config', 'placement'])
    deploy?.take(field)
  const memory = interpolated(program.scalar('mem_limit') ?? limits?.scalar('memory'), notes)
  const cpus = interpolated(program.scalar('cpus') ?? limits?.scalar('cpus'), notes)
  const instances = interpolated(program.scalar('scale') ?? deploy?.scalar('replicas'), notes)
  for (const part of [limits, resources, deploy]) part?.end()
  return {
    instances: instances && amount(instances, notes),
    memory_limit_mb: memory && scalarAt(memory.place, megabytes(memory, notes)),
    cpu_limit: cpus && amount(cpus, notes),
  }
}

function amount({ text, place }: ScalarNode, notes: Notes): ScalarNode | undefined {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(number)) return scalarAt(place, number)
  notes.faults.add(place, 'must be a number')
  return undefined
}

const UNITS: Record<string, number> = { '': 1 / 1024 ** 2, b: 1 / 1024 ** 2, k: 1 / 1024, m: 1, g: 1024 }

function megabytes(node: Node & { kind: 'scalar' }, notes: Notes): number | null {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([bkmg]?)b?$/i.exec(node.text) ?? []
  const factor = UNITS[unit.toLowerCase()]
  if (amount !== undefined && factor !== undefined) return Math.max(16, Math.round(Number(amount) * factor))
  notes.faults.add(node.place, 'must be a size such as 512m')
  return null
}
