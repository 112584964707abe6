import type { Deploy } from '#server/deploys/schema.ts'
import type { Service, ServiceStatus } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import type { Output } from '../../output.ts'
import { printFields, printTable } from '../columns.ts'
import { sizeText, timeText } from '../figures.ts'
import { pathTo, serviceOf } from '../target.ts'
import { withApi } from '../with-api.ts'

const SHORT_SHA = 7

/** Shows a service: its settings, its instances and its latest deploy. */
export async function show(call: Call): Promise<void> {
  const { out } = call
  const { service, status } = await withApi(call, async (api) => {
    const target = await serviceOf(call, api)
    const query = { environment: target.environment }
    const [service, status] = await Promise.all([
      api.get<Service>(pathTo('services', target), query),
      api.get<ServiceStatus>(pathTo('services', target, '/status'), query),
    ])
    return { service, status }
  })
  if (out.isJson) return out.json({ ...service, status })
  if (out.isQuiet) return out.line(service.name)
  printFields(out, [...fieldsOf(out, service), ...deployFields(out, service.latest_deploy)])
  if (status.instances.length > 0) printInstances(out, status)
}

function fieldsOf(out: Output, service: Service): [string, string | null][] {
  const { memory_limit_mb: memory, cpu_limit: cpus } = service
  return [
    ['name', service.name],
    ['id', service.id],
    ['environment', service.environment],
    ['type', service.type],
    ['state', service.suspended ? 'suspended' : service.state],
    ['url', service.url],
    ['custom domains', service.custom_domains.join(', ')],
    ['internal address', service.internal_host && `${service.internal_host}:${service.internal_port}`],
    ['repository', service.repo_url],
    ['branch', service.branch],
    ['folder', service.root_dir],
    ['image', service.image],
    ['registry credential', service.registry_credential],
    ['runtime', service.runtime],
    ['dockerfile', service.dockerfile_path],
    ['build command', service.build_command],
    ['start command', service.start_command],
    ['before a deploy', service.pre_deploy_command],
    ['published folder', service.publish_dir],
    ['health check', service.health_check_path],
    ['port', service.port === null ? null : String(service.port)],
    ['schedule', service.schedule],
    ['disks', service.disks.map(({ name, mount_path }) => `${name} at ${mount_path}`).join(', ')],
    ['instances', String(service.instances)],
    ['memory limit', memory === 0 ? null : `${memory} MiB`],
    ['CPU limit', cpus === 0 ? null : String(cpus)],
    ['groups', service.env_groups.join(', ')],
    ['deploys on push', service.repo_url && (service.auto_deploy ? 'yes' : 'no')],
    ['created', timeText(out, service.created_at)],
  ]
}

function deployFields(out: Output, deploy: Deploy | null): [string, string | null][] {
  if (deploy === null) return [['latest deploy', 'none']]
  const commit = deploy.commit_sha?.slice(0, SHORT_SHA) ?? ''
  return [
    ['latest deploy', `${deploy.id} ${deploy.status}`],
    ['commit', [commit, deploy.commit_message?.split('\n')[0]].filter(Boolean).join(' ')],
    ['ended', timeText(out, deploy.finished_at)],
    ['error', deploy.error],
  ]
}

function printInstances(out: Output, { instances }: ServiceStatus): void {
  out.line('')
  printTable(out, instances, [
    { title: 'instance', text: ({ name }) => name, isWhole: true },
    { title: 'state', text: ({ state }) => state },
    { title: 'health', text: ({ health }) => health },
    { title: 'cpu', text: ({ cpu_percent: cpu }) => (cpu === null ? '' : `${cpu.toFixed(1)} %`) },
    { title: 'memory', text: ({ memory_bytes: bytes }) => (bytes === null ? '' : sizeText(bytes)) },
    { title: 'why', text: ({ reason }) => reason ?? '' },
  ])
}
