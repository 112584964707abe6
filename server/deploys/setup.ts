import { useContext } from '../context.ts'
import type { Disk } from '../disks/list.ts'
import { groupIdsOf, groupNamesByService } from '../env-groups/store.ts'
import { fileFactsOf } from '../secret-files/effective.ts'
import { listSecretFiles } from '../secret-files/store.ts'
import type { ServiceRow } from '../services/store.ts'
import { viewSettings } from '../services/view.ts'
import { Reading } from '../variables/environment.ts'
import type { Variable } from '../variables/rules.ts'
import { readVariables } from '../variables/store.ts'
import { SETUP_FIELDS, TAKEN, type SetupField } from './setup-fields.ts'
import { getDeploy, openSnapshot, updateDeploy, type DeployRow } from './store.ts'

type Part = keyof typeof TAKEN

/** A setting as the API shows it. */
export type SettingValue = string | number | string[] | Disk[] | null

/** Something that a service has itself or from an env group. */
interface Held {
  /** The id of the service or the env group. */
  holder: string
}

export interface SetupVariable extends Held {
  key: string
  /** The fingerprint of its text; null if it is not known. */
  text: string | null
  /** The fingerprint of its value, references resolved; null if it has none or it is not known. */
  value: string | null
}

export interface SetupFile extends Held {
  name: string
  path: string
  mode: string
  /** Of its content. */
  fingerprint: string
}

/** What a service is set up with, without secrets. What an earlier version did not record is missing. */
export interface Setup {
  settings: Partial<Record<SetupField, SettingValue>>
  /** The fingerprint of the repository's address with its credentials. */
  repository?: string | null
  /** Those that count: a service's own, over those of its groups. */
  variables?: SetupVariable[]
  files?: SetupFile[]
  /** In the order of the links. */
  groups?: { id: string; name: string }[]
}

/** What is the service's own and secret, by which it can be put back. */
export interface SetupSecrets {
  repo_url?: string | null
  variables?: Variable[]
  files?: { name: string; path: string; mode: string; secret: boolean; content: string }[]
}

/** What a service is set up with now. */
export function currentSetup(service: ServiceRow): Setup {
  return {
    ...partOf(service, 'source'),
    ...partOf(service, 'run'),
    settings: settingsOf(service, SETUP_FIELDS),
  }
}

/** The columns of a new deploy for what it takes when it is queued. */
export function queuedSetup(service: ServiceRow): Pick<DeployRow, 'setup' | 'setup_secrets'> {
  return columnsOf(service, ['source'], { setup: null, setup_secrets: null })
}

/** Records that a deploy takes parts of its service's setup now. A deploy that is gone has nothing to record. */
export function recordSetup(deployId: string, service: ServiceRow, ...parts: Part[]): void {
  const deploy = getDeploy(deployId)
  if (deploy) updateDeploy(deployId, columnsOf(service, parts, deploy))
}

/**
 * What a deploy was made with. Of one from an earlier version that is what its snapshot knows: variables and files then
 * belong to whatever holds those of the same name in `like`, or else to the service.
 */
export function openSetup(deploy: DeployRow, like: Setup): Setup {
  const setup = readSetup(deploy)
  const snapshot = setup.variables && setup.files ? null : openSnapshot(deploy)
  if (!snapshot) return setup
  const { vault } = useContext()
  const { disks, memory_limit_mb, cpu_limit } = snapshot
  const holders = new Map(like.variables?.map(({ key, holder }) => [key, holder]))
  const fileHolders = new Map(like.files?.map(({ name, holder }) => [name, holder]))
  // The server adds PORT, so it need not have been a variable.
  const env = Object.entries(snapshot.env).filter(([key]) => key !== 'PORT' || holders.has(key))
  return {
    variables: env.map(([key, value]) => ({
      key,
      holder: holders.get(key) ?? deploy.service_id,
      text: null,
      value: vault.fingerprint(value),
    })),
    files: snapshot.secret_files.map(({ name, path, mode, content }) => ({
      name,
      path,
      mode,
      holder: fileHolders.get(name) ?? deploy.service_id,
      fingerprint: vault.fingerprint(Buffer.from(content, 'base64')),
    })),
    ...setup,
    settings: { disks, memory_limit_mb, cpu_limit, ...setup.settings },
  }
}

/** The secrets of a deploy's setup; empty if they are no longer kept, or never were. */
export function openSetupSecrets({ setup_secrets: sealed }: Pick<DeployRow, 'setup_secrets'>): SetupSecrets {
  return sealed === null ? {} : (JSON.parse(useContext().vault.open(sealed)) as SetupSecrets)
}

/** What is recorded of the setup of a deploy, which is nothing for one from an earlier version. */
export function readSetup({ setup }: Pick<DeployRow, 'setup'>): Setup {
  return setup === null ? { settings: {} } : (JSON.parse(setup) as Setup)
}

function columnsOf(
  service: ServiceRow,
  parts: readonly Part[],
  before: Pick<DeployRow, 'setup' | 'setup_secrets'>,
): Pick<DeployRow, 'setup' | 'setup_secrets'> {
  const setup = readSetup(before)
  const secrets = openSetupSecrets(before)
  for (const part of parts) {
    Object.assign(setup, partOf(service, part), {
      settings: { ...setup.settings, ...settingsOf(service, TAKEN[part]) },
    })
    Object.assign(secrets, secretsOf(service, part))
  }
  return {
    setup: JSON.stringify(setup),
    setup_secrets: useContext().vault.seal(JSON.stringify(secrets)),
  }
}

function settingsOf(service: ServiceRow, fields: readonly SetupField[]): Setup['settings'] {
  const shown = viewSettings(service)
  return Object.fromEntries(fields.map((field) => [field, shown[field]]))
}

function partOf(service: ServiceRow, part: Part): Omit<Setup, 'settings'> {
  if (part === 'source') {
    const address = repositoryOf(service)
    return { repository: address === null ? null : useContext().vault.fingerprint(address) }
  }
  if (part !== 'run') return {}
  const names = groupNamesByService(service.environment_id, service.id).get(service.id) ?? []
  return {
    variables: variablesOf(service),
    files: fileFactsOf(service.id).map(({ name, holder, path, mode, fingerprint }) => ({
      name,
      holder,
      path,
      mode,
      fingerprint,
    })),
    groups: groupIdsOf(service.id).map((id, index) => ({ id, name: names[index]! })),
  }
}

function secretsOf(service: ServiceRow, part: Part): SetupSecrets {
  if (part === 'source') return { repo_url: repositoryOf(service) }
  if (part !== 'run') return {}
  const { vault } = useContext()
  return {
    variables: readVariables(service.id),
    files: listSecretFiles(service.id).map(({ name, path, mode, is_secret, content }) => ({
      name,
      path,
      mode,
      secret: is_secret === 1,
      content: vault.openBytes(content).toString('base64'),
    })),
  }
}

/** The address of a service's repository with its credentials. */
function repositoryOf({ repo_url, repo_credentials }: ServiceRow): string | null {
  return repo_credentials === null ? repo_url : useContext().vault.open(repo_credentials)
}

function variablesOf(service: ServiceRow): SetupVariable[] {
  const { vault } = useContext()
  const held = [...groupIdsOf(service.id), service.id].flatMap((holder) =>
    readVariables(holder).map(({ key, value }) => [key, { holder, text: value }] as const),
  )
  // What cannot be resolved has no value; a deploy with it fails.
  const values = new Reading().resolve(service, () => {})
  return [...new Map(held)].map(([key, { holder, text }]) => {
    const value = values.get(key)
    return {
      key,
      holder,
      text: vault.fingerprint(text),
      value: value === undefined ? null : vault.fingerprint(value),
    }
  })
}
