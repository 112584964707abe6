import { posix } from 'node:path'
import { RUNTIMES } from '../services/schema.ts'
import { TYPES, type ServiceType } from '../services/types.ts'
import { listAt, mappingAt, scalarAt, someAt } from './builder.ts'
import { lookUp, plainPath, warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { Node, ScalarNode } from './nodes.ts'
import type { OwnRepository } from './project.ts'
import type { RenderNames } from './render-names.ts'
import { renderVariables, warnOfMentions } from './render-variables.ts'

const SERVICE_TYPES: Record<string, ServiceType> = {
  web: 'web_service',
  pserv: 'private_service',
  worker: 'background_worker',
  cron: 'cron_job',
  static: 'static_site',
}

const OF_OTHER_TYPES = 'is for other types of services: it is left out'
const LEFT_OUT: Record<string, string> = {
  plan: 'sizes are set with memory_limit_mb and cpu_limit here: it is left out',
  region: 'everything runs on this server: it is left out',
  headers: OF_OTHER_TYPES,
  routes:
    'redirects and rewrites of a static site go into a file _redirects that it publishes: it is left out',
  previews: 'there are no preview environments here: it is left out',
  pullRequestPreviewsEnabled: 'there are no preview environments here: it is left out',
  previewPlan: 'there are no preview environments here: it is left out',
  initialDeployHook: 'is never run here: run it once as a job; it is left out',
  registryCredential: 'name a registry credential of this server in registry_credential: it is left out',
  maxShutdownDelaySeconds: OF_OTHER_TYPES,
  ipAllowList: OF_OTHER_TYPES,
  renderSubdomainPolicy: "a service always has its host under the server's domain: it is left out",
  maintenanceMode: OF_OTHER_TYPES,
  disk: OF_OTHER_TYPES,
  domain: OF_OTHER_TYPES,
  domains: OF_OTHER_TYPES,
  healthCheckPath: OF_OTHER_TYPES,
  numInstances: OF_OTHER_TYPES,
  preDeployCommand: OF_OTHER_TYPES,
  scaling: OF_OTHER_TYPES,
  schedule: OF_OTHER_TYPES,
  staticPublishPath: OF_OTHER_TYPES,
}

/** Converts a service of a `render.yaml` to the native dialect. */
export function renderService(
  service: ForeignMapping,
  names: RenderNames,
  own: OwnRepository | null,
  notes: Notes,
): Node {
  const { place } = service.node
  const runtime = service.scalar('runtime') ?? service.scalar('env')
  service.take('env')
  const type = readType(service, runtime?.text, notes)
  const facts = TYPES[type]
  const holder = {
    name: names.nameNode(service)?.text ?? null,
    hasUrl: facts.hasHosts,
    entries: service.mappings('envVars'),
  }
  const { variables, groups } = renderVariables(holder, names, notes)
  const text = (field: string, read = (written: string) => written) => {
    const node = service.scalar(field)
    if (node) return scalarAt(node.place, read(node.text))
    const nothing = service.node.entries.get(field)
    return nothing && scalarAt(nothing.place, null)
  }
  const command = (field: string) => {
    warnOfMentions(service.scalar(field), holder, notes)
    return text(field)
  }
  const node = mappingAt(place, {
    name: names.nameNode(service),
    type: scalarAt(service.node.entries.get('type')?.place ?? place, type),
    runtime: readRuntime(runtime, type, notes),
    ...readSource(service, own, notes),
    ...readDockerPaths(service, text('rootDir', plainPath)),
    build_command: command('buildCommand'),
    start_command: command('startCommand') ?? command('dockerCommand'),
    pre_deploy_command: type === 'static_site' ? undefined : command('preDeployCommand'),
    publish_dir: type === 'static_site' ? text('staticPublishPath', plainPath) : undefined,
    health_check_path: facts.listens ? text('healthCheckPath') : undefined,
    schedule: type === 'cron_job' ? text('schedule') : undefined,
    disk_mount_path: facts.hasInstances ? readDisk(service, notes) : undefined,
    instances: facts.hasInstances ? readInstances(service, notes) : undefined,
    max_shutdown_delay_seconds: facts.hasInstances ? service.scalar('maxShutdownDelaySeconds') : undefined,
    auto_deploy: readAutoDeploy(service, notes),
    custom_domains: facts.hasHosts ? readDomains(service, notes) : undefined,
    watch_paths: readFilter(service),
    ip_allow_list: facts.hasHosts ? service.take('ipAllowList') : undefined,
    maintenance: facts.hasHosts ? readMaintenance(service) : undefined,
    headers: facts.hasHosts ? service.take('headers') : undefined,
    env: someAt(place, variables),
    env_groups: someAt(place, groups),
  })
  service.end(LEFT_OUT)
  return node
}

function readType(service: ForeignMapping, runtime: string | undefined, notes: Notes): ServiceType {
  const given = service.scalar('type')
  const type = lookUp(SERVICE_TYPES, given?.text ?? '')
  if (!given) notes.faults.add(service.node.place, 'type: is required')
  else if (!type)
    notes.faults.add(
      given.place,
      `must be one of ${[...Object.keys(SERVICE_TYPES), 'keyvalue', 'redis'].join(', ')}`,
    )
  return runtime === 'static' && type === 'web_service' ? 'static_site' : (type ?? 'web_service')
}

function readRuntime(node: ScalarNode | undefined, type: ServiceType, notes: Notes): Node | undefined {
  if (!node || type === 'static_site') return undefined
  const { text, place } = node
  const known = RUNTIMES.find((runtime) => runtime === text.toLowerCase())
  // Older formats also name a version: `python-3.11.4`, `node20`.
  const [, word] = /^([a-z]+)[-_:@ ]?v?\d[\w.]*$/i.exec(text) ?? []
  const named = RUNTIMES.find((runtime) => runtime === word?.toLowerCase())
  if (!known && named) warn(notes, node, `is ${named} here, and a file in the repository sets its version`)
  const runtime = known ?? named
  if (!runtime) notes.faults.add(place, `must be one of ${RUNTIMES.join(', ')}`)
  return runtime && scalarAt(place, runtime)
}

/** A service has an image, its own repository, or the repository of the file. */
function readSource(
  service: ForeignMapping,
  own: OwnRepository | null,
  notes: Notes,
): Record<string, Node | undefined> {
  const { place } = service.node
  const plain = service.node.entries.get('image')
  if (plain?.kind === 'scalar' && plain.text !== '') {
    service.take('image')
    return { image: copy(plain), repo_url: scalarAt(place, null) }
  }
  const image = service.mapping('image')
  const repository = service.scalar('repo')
  const branch = service.scalar('branch')
  if (image) {
    const url = image.scalar('url')
    image.end({ creds: LEFT_OUT.registryCredential! })
    return { image: copy(url), repo_url: scalarAt(place, null) }
  }
  const fallback = own && {
    repo_url: scalarAt(place, own.url),
    branch: copy(branch) ?? (own.branch === null ? undefined : scalarAt(place, own.branch)),
  }
  if (!repository && !fallback)
    warn(notes, service.node, 'names no repository: give it one, or upload its source')
  return repository || !fallback
    ? {
        repo_url: copy(repository),
        branch: copy(branch),
        ...(repository ? { image: scalarAt(place, null) } : {}),
      }
    : { ...fallback, image: scalarAt(place, null) }
}

/** In Render the Dockerfile is relative to the repository or to rootDir, with a context; here to the service's folder. */
function readDockerPaths(service: ForeignMapping, root: Node | undefined): Record<string, Node | undefined> {
  const file = service.scalar('dockerfilePath')
  const context = service.scalar('dockerContext')
  const folder = root ?? (context && scalarAt(context.place, plainPath(context.text)))
  const root_dir = folder?.kind === 'scalar' && folder.text !== '.' ? folder : undefined
  if (!file) return { root_dir }
  const path = plainPath(file.text)
  const inside = root_dir?.kind === 'scalar' ? `${root_dir.text}/` : ''
  const isOfRoot = (root !== undefined && !path.startsWith(inside)) || path.startsWith('../')
  const dockerfile = isOfRoot ? path : posix.relative(`/${inside}`, `/${path}`)
  return { root_dir, dockerfile_path: scalarAt(file.place, dockerfile) }
}

function readDisk(service: ForeignMapping, notes: Notes): Node | undefined {
  const disk = service.mapping('disk')
  const path = disk?.scalar('mountPath')
  disk?.take('name')
  disk?.end({ sizeGB: 'disks grow with their contents here: it is left out' })
  if (disk && !path) notes.faults.add(disk.node.place, 'mountPath: is required')
  return copy(path)
}

function readInstances(service: ForeignMapping, notes: Notes): Node | undefined {
  const count = service.scalar('numInstances')
  const scaling = service.mapping('scaling')
  const min = scaling?.scalar('minInstances')
  if (scaling)
    warn(notes, scaling.node, `instances do not scale automatically here: it runs ${min?.text ?? 1} of them`)
  return count ?? (min && scalarAt(min.place, min.value))
}

function readAutoDeploy(service: ForeignMapping, notes: Notes): Node | undefined {
  const trigger = service.scalar('autoDeployTrigger')
  if (trigger?.text === 'checksPass')
    warn(notes, trigger, 'deploys do not wait for checks: every push deploys')
  const given = service.scalar('autoDeploy')
  // Older files use yes and no.
  if (!trigger)
    return (
      given && scalarAt(given.place, /^(?:yes|no)$/.test(given.text) ? given.text === 'yes' : given.value)
    )
  return scalarAt(trigger.place, trigger.text !== 'off')
}

function readFilter(service: ForeignMapping): Node | undefined {
  const filter = service.mapping('buildFilter')
  const paths = filter?.take('paths')
  filter?.end({ ignoredPaths: 'only paths to watch can be set here: it is left out' })
  return paths
}

function readMaintenance(service: ForeignMapping): Node | undefined {
  const mode = service.mapping('maintenanceMode')
  const enabled = mode?.scalar('enabled')
  mode?.end({ uri: 'the page itself is the page of maintenance here: it is left out' })
  return mode && mappingAt(mode.node.place, { enabled: enabled ?? scalarAt(mode.node.place, false) })
}

function readDomains(service: ForeignMapping, notes: Notes): Node | undefined {
  const one = service.scalar('domain')
  const given = service.node.entries.get('domains') ?? one
  const named = [...service.list('domains'), ...(one ? [one] : [])]
  const taken = named.filter((node) => {
    const isWild = node.kind === 'scalar' && node.text.startsWith('*')
    if (isWild) warn(notes, node, 'a service cannot have a wildcard domain here: it is left out')
    return !isWild
  })
  return given && listAt(given.place, taken)
}

/** A scalar of the file as a text, even if it looks like a number or a boolean. */
function copy(node: Node | undefined): Node | undefined {
  return node?.kind === 'scalar' ? scalarAt(node.place, node.text) : node
}
