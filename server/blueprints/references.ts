import { parseValue, ReferenceFault, type Reference } from '../variables/references.ts'
import type { Faults } from './faults.ts'
import { keyOf, type Project, type WantedService, type WantedVariable } from './project.ts'

/** The references in a variable; none for a malformed one, which is reported elsewhere. */
export function referencesOf({ from }: WantedVariable): Reference[] {
  if (typeof from === 'string') return []
  try {
    return parseValue(from.value).filter((part) => typeof part !== 'string')
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error
    return []
  }
}

/** For each variable that depends on a variable without a value, a description of the latter, which people have to set. */
export type Waiting = ReadonlyMap<WantedVariable, string>

/**
 * Follows the references in the variables of a project's services. A circular reference is reported as a fault of the
 * variable that closes the circle. `isSet` says whether a service has a value for a variable now.
 */
export function followVariables(
  { services }: Project,
  isSet: (service: WantedService, key: string) => boolean,
  faults: Faults,
): Waiting {
  const known = new Map(
    services.map((service) => [
      keyOf(service.environment, service.name),
      { service, variables: new Map(service.variables.map((variable) => [variable.key, variable])) },
    ]),
  )
  const waiting = new Map<WantedVariable, string>()
  const followed = new Set<WantedVariable>()
  const path: { variable: WantedVariable; label: string }[] = []

  const follow = (variable: WantedVariable, service: WantedService): void => {
    if (followed.has(variable)) return
    const label = `${variable.key} of ${service.name}`
    const at = path.findIndex((step) => step.variable === variable)
    if (at >= 0) {
      const circle = [...path.slice(at).map((step) => step.label), label].join(' -> ')
      faults.add(variable.place, `is circular: ${circle}`)
      return
    }
    path.push({ variable, label })
    if (variable.from === 'by hand' && !isSet(service, variable.key)) waiting.set(variable, label)
    for (const { kind, name, key } of referencesOf(variable)) {
      const target = kind === 'service' ? known.get(keyOf(service.environment, name)) : undefined
      const next = key === null ? undefined : target?.variables.get(key)
      if (!target || !next) continue
      follow(next, target.service)
      const reason = waiting.get(next)
      if (reason !== undefined) waiting.set(variable, reason)
    }
    path.pop()
    followed.add(variable)
  }

  for (const service of services) for (const variable of service.variables) follow(variable, service)
  return waiting
}
