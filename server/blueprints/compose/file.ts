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

/** One that others wait for, with how long they wait. */
interface Dependency {
  on: string
  /** `service_started`, `service_healthy` or `service_completed_successfully` (compose-spec, "depends_on"). */
  condition: string
}

/** The services of a Compose file, and how they reach each other. */
export class ComposeFile {
  readonly programs: readonly ComposeProgram[]
  readonly #dependencies = new Map<ComposeProgram, Dependency[]>()
  /** The programs by what others call them: name, container, aliases of networks. */
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
        warn(notes, mapping.node, `is named ${here} here, and so in the variables that name it`)
      return { name, here, mapping, variables: readEnvironment(mapping, notes) }
    })
    for (const program of this.programs) {
      this.#dependencies.set(program, dependenciesOf(program.mapping.node))
      for (const alias of aliasesOf(program))
        if (alias === program.name || !names.has(alias)) this.#byHost.set(alias, program)
    }
  }

  /** The program that a host name leads to. */
  at(host: string): ComposeProgram | undefined {
    return this.#byHost.get(host)
  }

  /** The programs that wait until another one runs, or that wait until it has ended. */
  waitingFor({ name }: ComposeProgram, until: 'it runs' | 'it ends'): ComposeProgram[] {
    return this.programs.filter((program) =>
      this.#dependencies
        .get(program)!
        .some(
          ({ on, condition }) =>
            on === name && (condition === 'service_completed_successfully') === (until === 'it ends'),
        ),
    )
  }
}

/** A DNS label for each name, no two the same; one of which nothing is left is `service`. */
function namesHere(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const here = new Map<string, string>()
  // Names that can stay have the first choice.
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
/** What looks like an id is refused as a name. */
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
