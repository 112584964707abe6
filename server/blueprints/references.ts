import { parseValue, ReferenceFault, type Reference } from '../variables/references.ts'
import type { Faults } from './faults.ts'
import type { Project, WantedService, WantedVariable } from './project.ts'
import { keyOf } from './standing.ts'

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

/**
 * The round in which each variable of a project's services can be written: after those of other services that it refers
 * to. A circle is laid to the variable that closes it.
 */
export function roundsOf(project: Project, faults: Faults): Map<WantedVariable, number> {
  const services = new Map(
    project.services.map((service) => [keyOf(service.environment, service.name), service]),
  )
  const rounds = new Map<WantedVariable, number>()
  const way: { variable: WantedVariable; told: string }[] = []

  const roundOf = (variable: WantedVariable, { name, environment }: WantedService): number => {
    const known = rounds.get(variable)
    if (known !== undefined) return known
    const told = `${variable.key} of ${name}`
    const at = way.findIndex((step) => step.variable === variable)
    if (at >= 0) {
      const circle = [...way.slice(at).map((step) => step.told), told].join(' -> ')
      faults.add(variable.place, `goes round in a circle: ${circle}`)
      return 0
    }
    way.push({ variable, told })
    let round = 0
    for (const { kind, name: target, key } of referencesOf(variable)) {
      const service = kind === 'service' ? services.get(keyOf(environment, target)) : undefined
      const next = service?.variables.find((other) => other.key === key)
      if (service && next) round = Math.max(round, roundOf(next, service) + 1)
    }
    way.pop()
    rounds.set(variable, round)
    return round
  }

  for (const service of project.services) for (const variable of service.variables) roundOf(variable, service)
  return rounds
}
