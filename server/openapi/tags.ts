interface Tag {
  name: string
  description: string
}

/** Tags by the words of paths; the last word of a path that is listed here decides. */
const TAGS: Record<string, Tag> = {
  auth: { name: 'Account', description: 'Sign-in, sessions, API tokens and the sign-in of terminals' },
  services: { name: 'Services', description: 'Applications that the server builds and runs' },
  detect: { name: 'Services', description: '' },
  deploys: { name: 'Deploys', description: 'Versions of a service that are going live, are live, or were' },
  rollback: { name: 'Deploys', description: '' },
  env: { name: 'Variables', description: "A service's own environment variables" },
  'env-groups': { name: 'Env groups', description: 'Sets of variables that services share' },
  jobs: { name: 'Jobs', description: 'Runs of cron jobs and one-off commands' },
  environments: { name: 'Environments', description: 'Private networks that keep services apart' },
  domains: { name: 'Domains', description: 'Names under which services are served' },
  certificates: { name: 'Domains', description: '' },
  redirects: { name: 'Domains', description: '' },
  datastores: { name: 'Datastores', description: 'Databases and key-value stores that the server runs' },
  backups: { name: 'Datastores', description: '' },
  blueprints: {
    name: 'Blueprints',
    description: 'A file that describes services, datastores and env groups',
  },
  git: {
    name: 'Git connections',
    description: 'Accounts at git providers that repositories are cloned with',
  },
  'registry-credentials': {
    name: 'Registry credentials',
    description: 'What private images are pulled with',
  },
  notifications: { name: 'Notifications', description: 'Where the server reports what has happened' },
  'log-drains': {
    name: 'Log drains',
    description: 'Where the output of services, and the audit log, is forwarded to',
  },
  nodes: { name: 'Nodes', description: 'The machines that run what the server has' },
  server: { name: 'Server', description: 'The server itself: information, health, metrics, log and changes' },
  hooks: { name: 'Webhooks', description: 'Deploys started from outside, with secrets of their own' },
}

const SERVER = TAGS.server!

/** The tag of a path of the document. */
export function tagOf(path: string): Tag {
  const words = path.split('/').filter((word) => word !== '' && !word.startsWith('{'))
  if (words[0] === 'hooks') return TAGS.hooks!
  if (words.includes('env-groups')) return TAGS['env-groups']!
  const tag = words.map((word) => TAGS[word]).findLast((found) => found !== undefined)
  if (!tag) return SERVER
  return Object.values(TAGS).find((other) => other.name === tag.name)!
}
