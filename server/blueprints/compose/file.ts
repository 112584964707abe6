import { ForeignMapping, nearestName, warn, type Notes } from '../foreign.ts'
import { isNothing, type MappingNode, type Node } from '../nodes.ts'
import { readEnvironment, type ComposeVariable } from './environment.ts'

/** A service of a Compose file. */
export interface ComposeProgram {
  /** Its name in the file. */
  name: string
  /** Its name here. */
  here: string
  mapping: ForeignMapping
  variables: ComposeVariable[]
}

/** A service that another one waits for, and until when. */
interface Dependency {
  on: string
  /** `service_started`, `service_healthy` or `service_completed_successfully` (compose-spec, "depends_on"). */
  condition: string
}

/** The services of a Compose file, and how they reach each other. */
export class ComposeFile {
  readonly programs: readonly ComposeProgram[]
  /** The programs that wait for a program, by its name, until it runs or until it has ended. */
  readonly #waiting: Record<'it runs' | 'it ends', Map<string, ComposeProgram[]>> = {
    'it runs': new Map(),
    'it ends': new Map(),
  }
  /** The programs by the names that others use for them: service name, container name, network aliases. */
  readonly #byHost = new Map<string, ComposeProgram>()

  constructor(services: MappingNode, notes: Notes) {
    const named = [...services.entries].flatMap(([name, node]) => {
      if (node.kind === 'mapping') return [{ name, mapping: new ForeignMapping(node, notes) }]
      notes.faults.add(node.place, 'must be a mapping')
      return []
    })
    const names = namesHere(named.map(({ name }) => name))
    this.programs = named.map(({ name, mapping }) => {
      const here = names.get(name)!
      if (here !== name)
        warn(notes, mapping.node, `is named ${here} here, and in the variables that refer to it`)
      return { name, here, mapping, variables: readEnvironment(mapping, notes) }
    })
    for (const program of this.programs) {
      for (const { on, condition } of dependenciesOf(program.mapping.node)) {
        const by = this.#waiting[condition === 'service_completed_successfully' ? 'it ends' : 'it runs']
        by.set(on, [...(by.get(on) ?? []), program])
      }
      for (const alias of aliasesOf(program))
        if (alias === program.name || !names.has(alias)) this.#byHost.set(alias, program)
    }
    for (const [name, alias] of this.programs.flatMap(linksOf)) {
      const linked = this.#byHost.get(name)
      if (linked && !names.has(alias)) this.#byHost.set(alias, linked)
    }
  }

  /** The program with a host name. */
  at(host: string): ComposeProgram | undefined {
    return this.#byHost.get(host)
  }

  /** The programs that wait until another one runs, or that wait until it has ended. */
  waitingFor({ name }: ComposeProgram, until: 'it runs' | 'it ends'): readonly ComposeProgram[] {
    return this.#waiting[until].get(name) ?? []
  }
}

/** A unique DNS label for each name; `service` if none of its characters can be kept. */
function namesHere(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const here = new Map<string, string>()
  // Names that need no change come first.
  const [changed, kept] = [
    names.filter((name) => nearest(name) !== name),
    names.filter((name) => nearest(name) === name),
  ]
  for (const name of [...kept, ...changed]) {
    const wanted = nearest(name)
    let free = wanted
    for (let at = 2; taken.has(free); at++) free = `${wanted.slice(0, 58)}-${at}`
    taken.add(free)
    here.set(name, free)
  }
  return here
}

const LABEL = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Names that look like an id are refused. */
const ID = /^[a-z]{3}-[0-9a-f]{20}$/

function nearest(name: string): string {
  const label = nearestName(name)
  if (!LABEL.test(label)) return 'service'
  return ID.test(label) ? `${label}-service` : label
}

function aliasesOf({ name, mapping }: ComposeProgram): string[] {
  const { entries } = mapping.node
  const text = (node: Node | undefined) => (node?.kind === 'scalar' ? [node.text] : [])
  const networks = entries.get('networks')
  const inNetworks = networks?.kind === 'mapping' ? [...networks.entries.values()] : []
  const listed = inNetworks.flatMap((network) => {
    const aliases = network.kind === 'mapping' ? network.entries.get('aliases') : undefined
    return aliases?.kind === 'list' ? aliases.items.flatMap(text) : []
  })
  return [name, ...text(entries.get('container_name')), ...text(entries.get('hostname')), ...listed]
}

/** `links: ["db:database"]`: the program, and what this service calls it. */
function linksOf({ mapping }: ComposeProgram): [string, string][] {
  const links = mapping.node.entries.get('links')
  return (links?.kind === 'list' ? links.items : []).flatMap((item): [string, string][] => {
    const [name, alias] = item.kind === 'scalar' ? item.text.split(':') : []
    return name && alias ? [[name, alias]] : []
  })
}

function dependenciesOf({ entries }: MappingNode): Dependency[] {
  const node = entries.get('depends_on')
  if (node?.kind === 'list')
    return node.items.flatMap((item) =>
      item.kind === 'scalar' ? [{ on: item.text, condition: 'service_started' }] : [],
    )
  if (node?.kind !== 'mapping') return []
  return [...node.entries].map(([on, how]) => {
    const condition = how.kind === 'mapping' ? how.entries.get('condition') : undefined
    return { on, condition: condition?.kind === 'scalar' ? condition.text : 'service_started' }
  })
}

/** Whether a program has something to run: an image, or a build of its own. */
export function hasProgram({ mapping }: ComposeProgram): boolean {
  return !isNothing(mapping.node.entries.get('image')) || isBuilt(mapping.node)
}

export function isBuilt({ entries }: MappingNode): boolean {
  return !isNothing(entries.get('build'))
}
