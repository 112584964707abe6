import type { WantedService } from './project.ts'
import type { RefusedField } from './refusal.ts'
import type { MergedVariables } from './variables.ts'

/** What is tried of a service. */
export interface ServiceTrial
  extends Pick<WantedService, 'fields' | 'groups'>, Pick<MergedVariables, 'written' | 'variables'> {
  /** The custom domains of the file that are not, by their place in the list. */
  without: readonly number[]
}

/** A trial without what was refused of it; null when that is nothing that it could go without. */
export function nextTrial(trial: ServiceTrial, [field, item]: RefusedField): ServiceTrial | null {
  const { fields, written, without } = trial
  if (field === 'env' && written.length > 0) return { ...trial, written: [], variables: [] }
  if (field === undefined || !Object.hasOwn(fields, field)) return null
  const { [field]: value, ...rest } = fields
  if (field !== 'custom_domains' || !Array.isArray(value) || item === undefined)
    return { ...trial, fields: rest }
  // One of them, which may have been the one that was refused.
  const { canonical_domain: _, ...others } = rest
  const at = item - without.filter((place) => place < item).length
  const custom_domains = value.toSpliced(at, 1) as unknown[]
  return { ...trial, fields: { ...others, custom_domains }, without: [...without, item] }
}
