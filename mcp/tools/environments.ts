import { z } from 'zod'
import { ask, ToolFault } from '../call.ts'
import { CURSOR, paged } from '../paging.ts'
import { ALL, IN_ENVIRONMENT } from '../places.ts'
import { Environment, flag, MORE, text } from '../shapes.ts'
import { defineTool, type Tool } from '../tool.ts'

const Listed = z.array(z.looseObject({ id: z.string(), name: z.string() }))

const Domain = z.object({
  name: z.string(),
  status: z.string(),
  is_default: z.boolean(),
  records: z.array(z.object({ name: z.string(), type: z.string(), value: z.string() })),
  checks: z.array(z.object({ kind: z.string(), outcome: z.string(), message: z.string() })),
})
const Certificate = z.looseObject({ host: z.string(), service: z.string().nullable(), state: z.string() })
type Certificate = z.output<typeof Certificate>

export const ENVIRONMENT_READERS: Tool[] = [
  defineTool({
    name: 'list_environments',
    title: 'List environments',
    description:
      'The environments (private networks such as production and staging) with the names of their services and datastores.',
    effect: 'read',
    input: { ...IN_ENVIRONMENT, ...CURSOR },
    output: { environments: z.array(Environment), ...MORE },
    async run({ environment, cursor }, { call }) {
      const all = await ask(call, Listed, 'GET', '/environments')
      const items = all.filter(isNamed(environment))
      if (items.length === 0) throw new ToolFault('not_found', `there is no environment ${environment}`)
      return paged({ list: 'environments', items, keyOf: ({ name }) => name, cursor })
    },
  }),
  defineTool({
    name: 'list_domains',
    title: 'List domains',
    description:
      "The server's domains and every host that it serves, with its certificate and what is wrong: DNS records to create, failed checks, refused certificates. environment: only the hosts of its services.",
    effect: 'read',
    input: { ...IN_ENVIRONMENT, ...CURSOR },
    output: {
      domains: z.array(
        z.object({
          name: z.string(),
          status: z.string(),
          is_default: flag,
          problems: z.array(z.string()),
          records: z.array(z.string()),
        }),
      ),
      hosts: z.array(
        z.object({
          host: z.string(),
          service: text,
          certificate: text,
          expires_at: text,
          problem: text,
          retry_at: text,
        }),
      ),
      ...MORE,
    },
    async run({ environment, cursor }, { call }) {
      const [domains, certificates, environments] = await Promise.all([
        ask(call, z.array(Domain), 'GET', '/domains'),
        ask(call, z.array(Certificate), 'GET', '/certificates'),
        ask(call, Listed, 'GET', '/environments'),
      ])
      const [named] = environments.filter(isNamed(environment))
      if (!named) throw new ToolFault('not_found', `there is no environment ${environment}`)
      const wanted = environment === undefined || environment === ALL ? null : named.name
      const items = certificates.filter((entry) => isIn(entry, wanted)).map(hostOf)
      const page = paged({ list: 'hosts', items, keyOf: ({ host }) => host, cursor })
      return { ...page, value: { domains: domains.map(domainOf), ...page.value } }
    },
  }),
]

function isNamed(environment: string | undefined) {
  return ({ id, name }: { id: string; name: string }): boolean =>
    environment === undefined || environment === ALL || environment === name || environment === id
}

/** Whether a host is of a service of the environment; outside production a service is called `api.staging`. */
function isIn({ service }: Certificate, environment: string | null): boolean {
  if (environment === null) return true
  if (service === null) return false
  return (service.split('.')[1] ?? 'production') === environment
}

function hostOf({ state, error, ...entry }: Certificate) {
  return { ...entry, certificate: state, problem: error }
}

/** The records are only of interest while the names do not lead here. */
function domainOf({ name, status, is_default, records, checks }: z.output<typeof Domain>) {
  const failed = checks.filter(({ outcome }) => outcome === 'failed')
  return {
    name,
    status,
    is_default,
    problems: failed.map(({ kind, message }) => `${kind}: ${message}`),
    records:
      status === 'active' ? [] : records.map((record) => `${record.name} ${record.type} ${record.value}`),
  }
}
