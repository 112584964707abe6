import { parseValue, ReferenceFault, type Reference } from '../variables/references.ts'
import type { Faults } from './faults.ts'
import { keyOf, type Project, type WantedService, type WantedVariable } from './project.ts'

/** What a variable refers to; nothing for one that is not well-formed, which is told elsewhere. */
export function referencesOf({ from }: WantedVariable): Reference[] {
  if (typeof from === 'string') return []
  try {
    return parseValue(from.value).filter((part) => typeof part !== 'string')
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error
    return []
  }
}

/** What a project's variables wait for: one that people have still to set, by the variables that lead to it. */
export type Waiting = ReadonlyMap<WantedVariable, string>

/**
 * Follows the variables of a project's services to what they lead to. One that leads back to itself is a fault, laid to
 * the variable that closes the circle. `isSet` tells whether a service has a value of a variable now.
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
  const way: { variable: WantedVariable; told: string }[] = []

  const follow = (variable: WantedVariable, service: WantedService): void => {
    if (followed.has(variable)) return
    const told = `${variable.key} of ${service.name}`
    const at = way.findIndex((step) => step.variable === variable)
    if (at >= 0) {
      const circle = [...way.slice(at).map((step) => step.told), told].join(' -> ')
      faults.add(variable.place, `goes round in a circle: ${circle}`)
      return
    }
    way.push({ variable, told })
    if (variable.from === 'by hand' && !isSet(service, variable.key)) waiting.set(variable, told)
    for (const { kind, name, key } of referencesOf(variable)) {
      const target = kind === 'service' ? known.get(keyOf(service.environment, name)) : undefined
      const next = key === null ? undefined : target?.variables.get(key)
      if (!target || !next) continue
      follow(next, target.service)
      const reason = waiting.get(next)
      if (reason !== undefined) waiting.set(variable, reason)
    }
    way.pop()
    followed.add(variable)
  }

  for (const service of services) for (const variable of service.variables) follow(variable, service)
  return waiting
}
