import { scalarAt } from '../builder.ts'
import { warn, type Notes } from '../foreign.ts'
import { plain, type Node, type ScalarNode } from '../nodes.ts'
import { calledPrograms, type Called } from './addresses.ts'
import { readCommand, wordsOf } from './commands.ts'
import type { ComposeFile, ComposeProgram } from './file.ts'
import { readStore, type ComposeStore } from './stores.ts'
import { ComposeVolumes } from './volumes.ts'

/** What each program of a file becomes: a datastore, a service, or a command that runs once. */
export class Roles {
  readonly file: ComposeFile
  readonly called: Called
  readonly volumes: ComposeVolumes
  readonly #stores: ReadonlyMap<ComposeProgram, ComposeStore>
  readonly #once: ReadonlySet<ComposeProgram>
  readonly #preDeploy = new Map<ComposeProgram, ScalarNode>()

  constructor(file: ComposeFile) {
    this.file = file
    this.called = calledPrograms(file)
    this.#stores = new Map(
      file.programs.flatMap((program) => {
        const store = readStore(program)
        return store ? [[program, store]] : []
      }),
    )
    this.#once = new Set(
      file.programs.filter((program) => !this.#stores.has(program) && this.#endsByItself(program)),
    )
    this.volumes = new ComposeVolumes(
      file.programs.filter((program) => !this.#stores.has(program) && !this.#once.has(program)),
    )
  }

  storeOf(program: ComposeProgram): ComposeStore | undefined {
    return this.#stores.get(program)
  }

  get stores(): Iterable<ComposeStore> {
    return this.#stores.values()
  }

  /** Whether other programs connect to a program, as far as the file shows. */
  listens(program: ComposeProgram): boolean {
    return this.called.has(program) || this.file.waitingFor(program, 'it runs').length > 0
  }

  preDeployOf(program: ComposeProgram): ScalarNode | undefined {
    return this.#preDeploy.get(program)
  }

  /** Whether a program does its work and exits. */
  runsOnce(program: ComposeProgram): boolean {
    return this.#once.has(program)
  }

  /** The programs that run once, each after those that it waits for. */
  get once(): readonly ComposeProgram[] {
    const order: ComposeProgram[] = []
    const seen = new Set<ComposeProgram>()
    const follow = (program: ComposeProgram) => {
      if (seen.has(program) || !this.#once.has(program)) return
      seen.add(program)
      for (const waiting of this.file.waitingFor(program, 'it ends')) follow(waiting)
      order.push(program)
    }
    for (const program of [...this.#once].reverse()) follow(program)
    return order.reverse()
  }

  /** The first service from the same source that waits, directly or not, for a program that runs once. */
  #holderOf(program: ComposeProgram): ComposeProgram | undefined {
    const reached = new Set(this.file.waitingFor(program, 'it ends'))
    for (const waiting of reached) {
      if (!this.#once.has(waiting) && !this.#stores.has(waiting) && isSameSource(waiting, program))
        return waiting
      if (this.#once.has(waiting))
        for (const next of this.file.waitingFor(waiting, 'it ends')) reached.add(next)
    }
    return undefined
  }

  #endsByItself(program: ComposeProgram): boolean {
    if (this.file.waitingFor(program, 'it ends').length > 0) return true
    const { entries } = program.mapping.node
    const hasPorts = ['ports', 'expose'].some((field) => entries.has(field))
    return (isNeverRestarted(program) || endsWithExit(program)) && !hasPorts && !this.listens(program)
  }

  /**
   * A program that runs once before a service from the same source starts becomes that service's pre-deploy command. Any
   * other program that runs once is left out.
   */
  runBefore(program: ComposeProgram, notes: Notes): void {
    const { mapping } = program
    const holder = this.#holderOf(program)
    const command = holder && readCommand(mapping, 'pre_deploy_command', notes)
    if (!command) {
      warn(
        notes,
        mapping.node,
        'runs once and ends: it is left out; run its command as a job or as the pre_deploy_command of a service',
      )
      return
    }
    const before = this.#preDeploy.get(holder)
    const text = before ? `${before.text} && ${command.text}` : command.text
    this.#preDeploy.set(holder, scalarAt(command.place, text))
    warn(notes, mapping.node, `runs once and becomes the pre_deploy_command of ${holder.here}`)
    for (const field of ['image', 'build', 'depends_on', 'restart', 'container_name']) mapping.take(field)
    mapping.take('environment')
    for (const { key, value, node } of program.variables) {
      const there = holder.variables.find((variable) => variable.key === key)
      if (!there || there.value?.text !== value?.text)
        warn(notes, node, `${key} is left out: the command runs with the variables of ${holder.here}`)
    }
    mapping.end()
  }
}

/** Whether a program has `restart: "no"`, which YAML 1.1 reads as false, or the equivalent setting for a swarm. */
function isNeverRestarted({ mapping }: ComposeProgram): boolean {
  const { entries } = mapping.node
  const restart = textOf(entries.get('restart'))
  const policy = textOf(fieldOf(fieldOf(entries.get('deploy'), 'restart_policy'), 'condition'))
  return restart === 'no' || restart === 'false' || policy === 'none'
}

/** Whether the script of a program ends with `exit 0`, as those do that prepare something. */
function endsWithExit({ mapping }: ComposeProgram): boolean {
  return ['entrypoint', 'command'].some((field) => {
    const script = wordsOf(mapping.node.entries.get(field)).words.at(-1) ?? ''
    return /[;&\s]exit(?: 0)?$/.test(script.trim().replace(/;$/, '').trimEnd())
  })
}

/** Whether two programs run from the same image. */
function isSameSource(one: ComposeProgram, other: ComposeProgram): boolean {
  return (['build', 'image'] as const).some((field) => {
    const [left, right] = [one, other].map(({ mapping }) => mapping.node.entries.get(field))
    return left && right && JSON.stringify(plain(left)) === JSON.stringify(plain(right))
  })
}

function fieldOf(node: Node | undefined, field: string): Node | undefined {
  return node?.kind === 'mapping' ? node.entries.get(field) : undefined
}

function textOf(node: Node | undefined): string | undefined {
  return node?.kind === 'scalar' ? node.text : undefined
}
