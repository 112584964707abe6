import type { WantedService } from './project.ts'
import type { RefusedField } from './refusal.ts'
import type { MergedVariables } from './variables.ts'

/** The part of a wanted service that is tried. */
export interface ServiceTrial
  extends Pick<WantedService, 'fields' | 'groups'>, Pick<MergedVariables, 'written' | 'variables'> {
  /** The indexes of the file's custom domains that are not tried. */
  without: readonly number[]
}

/** The next trial, without what was refused; null if that cannot be left out. */
export function nextTrial(trial: ServiceTrial, [field, item]: RefusedField): ServiceTrial | null {
  const { fields, written, without } = trial
  if (field === 'env' && written.length > 0) return { ...trial, written: [], variables: [] }
  if (field === undefined || !Object.hasOwn(fields, field)) return null
  const { [field]: value, ...rest } = fields
  if (field !== 'custom_domains' || !Array.isArray(value) || item === undefined)
    return { ...trial, fields: rest }
  // The canonical domain must be one of the custom domains, perhaps the refused one, so it is left out too.
  const { canonical_domain: _, ...others } = rest
  const at = item - without.filter((place) => place < item).length
  const custom_domains = value.toSpliced(at, 1) as unknown[]
  return { ...trial, fields: { ...others, custom_domains }, without: [...without, item] }
}
