import { KeyRound, Rocket, BookOpen } from '@lucide/vue'
import type { ApiToken } from '../api/types.ts'
import { qualifiedName } from '../service/address.ts'

type Access = ApiToken['access']
export type Mode = Access['mode']

/** What a token may do, for who creates one. */
export const MODE_CHOICES = [
  { value: 'full', label: 'Everything', meaning: 'Changes everything except this account.', icon: KeyRound },
  {
    value: 'deploy',
    label: 'Deploy',
    meaning: 'Reads, deploys, restarts, rolls back and cancels. Changes no settings.',
    icon: Rocket,
  },
  { value: 'read', label: 'Read', meaning: 'Changes nothing.', icon: BookOpen },
] as const satisfies readonly { value: Mode; label: string; meaning: string; icon: unknown }[]

const DOES: Record<Mode, string> = {
  full: 'May change everything',
  deploy: 'May read and deploy',
  read: 'May read',
}

/** What a dialog has collected. */
export interface ChosenAccess {
  mode: Mode
  secrets: boolean
  /** A name; null for all. */
  environment: string | null
  /** Ids; null for all. */
  services: string[] | null
}

/** The part of a request that says it; nothing for a token that may do everything. */
export function accessInput({ mode, secrets, environment, services }: ChosenAccess): {
  access?: Omit<Access, 'environments'> & { environments: string[] | null }
} {
  if (mode === 'full' && environment === null && services === null) return {}
  const environments = environment === null ? null : [environment]
  return { access: { mode, secrets: mode === 'full' || secrets, environments, services } }
}

/** A service or an environment, as far as its name is concerned. */
interface Known {
  environment: (id: string) => string | undefined
  service: (id: string) => { name: string; environment: string } | undefined
}

/** What a token may do, in words. */
export function accessText({ mode, secrets, environments, services }: Access, known: Known): string {
  const serviceNames = services?.map((id) => {
    const found = known.service(id)
    return found ? qualifiedName(found) : id
  })
  const places = [
    serviceNames && listed('service', serviceNames),
    environments &&
      listed(
        'environment',
        environments.map((id) => known.environment(id) ?? id),
      ),
  ].filter((place) => place !== null && place !== undefined)
  const where = places.length === 0 ? '' : ` in ${places.join(' of ')}`
  return `${DOES[mode]}${where}${secrets ? '' : ', sees no secrets'}`
}

function listed(noun: string, names: string[]): string {
  if (names.length === 0) return `no ${noun}`
  return `the ${noun}${names.length === 1 ? '' : 's'} ${names.join(', ')}`
}
