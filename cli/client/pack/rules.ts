import { lstatSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import type { Dockerfile } from './dockerfile.ts'
import { DockerRules } from './docker-rules.ts'
import { GitRules } from './git-rules.ts'

/** Never packed, and no rule takes them back: what version control keeps, and the link to a service. */
const NEVER = new Set(['.git', '.hg', '.svn', '.deployer.json'])

/** What is made again from the source, and what holds secrets. */
const USUAL_RULES = Buffer.from(
  ['node_modules', '.venv', '__pycache__', '.DS_Store', '.env', '.env.*', '!.env.example'].join('\n'),
)

const GIT_FILE = '.gitignore'
const OWN_FILE = '.deployerignore'

/** Why what is in a folder is packed or not, unless another rule matches. */
type Standing = 'in' | 'out by git' | 'out by docker'

/** A folder while it is walked through, with the rules for what is in it. */
export interface RuledFolder {
  /** Empty for the packed folder itself. */
  path: string
  standing: Standing
  git: GitRules
  own: GitRules
  /** The last pattern of Docker's rules that matches it. */
  docker: number
}

export interface Judgement {
  isPacked: boolean
  /** A folder to walk through; it may hold packed files although it is left out itself. */
  folder: RuledFolder | null
}

/**
 * Which files of a folder are packed. `.gitignore` and `.deployerignore` are one list by git's rules, so that `!dist/` in the
 * second brings back what `dist/` in the first leaves out; Docker's rules are between the two. A later rule takes back what
 * an earlier one leaves out.
 */
export class Rules {
  readonly #folder: string
  readonly #withGit: boolean
  readonly #docker: DockerRules | null
  readonly #context: string
  /** The packed folder in its repository, with a slash at the end; empty for the repository's own. */
  #base = ''

  constructor(folder: string, { withGit, dockerfile }: { withGit: boolean; dockerfile: Dockerfile | null }) {
    this.#folder = folder
    this.#withGit = withGit
    this.#docker = dockerfile === null ? null : readDockerRules(folder, dockerfile)
    this.#context = dockerfile?.context ?? ''
  }

  /** The packed folder. `names` are those of the files in it. */
  top(names: ReadonlySet<string>): RuledFolder {
    const usual = GitRules.EMPTY.withLines(USUAL_RULES, '')
    const git = this.#withGit ? this.#aroundTop(usual) : usual
    return this.#withFiles({ path: '', standing: 'in', git, own: GitRules.EMPTY, docker: -1 }, names)
  }

  /** A folder that `judge` returned, with the rules of its own files. */
  enter(folder: RuledFolder, names: ReadonlySet<string>): RuledFolder {
    return this.#withFiles(folder, names)
  }

  /** Judges an entry of a folder. */
  judge(parent: RuledFolder, name: string, isFolder: boolean): Judgement {
    if (NEVER.has(name)) return LEFT_OUT
    const path = parent.path === '' ? name : `${parent.path}/${name}`
    const isShut = parent.standing === 'out by git'
    const said = isShut ? null : parent.own.judge(path, isFolder)
    if (said === 'out') return LEFT_OUT
    // What is in a folder that was brought back is judged again, also by Docker's rules.
    const docker = this.#judgeByDocker(path, parent.docker)
    const before = isShut ? 'out' : parent.git.judge(this.#inRepository(path), isFolder)
    const isBack = said === 'in' || docker.isNamed
    const standing = isBack ? 'in' : before === 'out' ? 'out by git' : docker.isOut ? 'out by docker' : 'in'
    const isPacked = standing === 'in'
    if (!isFolder || !(isPacked || this.#mayHoldMore(path, standing, parent)))
      return { isPacked, folder: null }
    const git = isPacked && before === 'out' ? this.#withoutFolder(path, parent) : parent.git
    const last = said === 'in' ? -1 : docker.last
    return { isPacked, folder: { path, standing, git, own: parent.own, docker: last } }
  }

  #judgeByDocker(path: string, parent: number): { last: number; isOut: boolean; isNamed: boolean } {
    const inContext = this.#docker === null ? null : below(this.#context, path)
    if (this.#docker === null || inContext === null) return { last: -1, isOut: false, isNamed: false }
    return this.#docker.judge(inContext, parent)
  }

  /** Whether something in a folder that is left out may be packed. */
  #mayHoldMore(path: string, standing: Standing, parent: RuledFolder): boolean {
    if (standing === 'out by docker' && parent.own.hasExceptions) return true
    const inContext = below(this.#context, path)
    if (this.#docker === null || inContext === null) return false
    return this.#docker.mayHoldExceptions(inContext, standing === 'out by git')
  }

  /** Git's list with a folder brought back, and those around it where they are left out too. */
  #withoutFolder(path: string, parent: RuledFolder): GitRules {
    const names = this.#inRepository(path).split('/')
    const around = parent.standing === 'out by git' ? [...names.keys()].slice(1) : []
    const folders = [...around, names.length].map((count) => names.slice(0, count).join('/'))
    return folders.reduce((git, folder) => git.withoutFolder(folder), parent.git)
  }

  #inRepository(path: string): string {
    return path === '' ? this.#base.slice(0, -1) : this.#base + path
  }

  #withFiles(folder: RuledFolder, names: ReadonlySet<string>): RuledFolder {
    let { git, own } = folder
    const place = join(this.#folder, folder.path)
    if (this.#withGit && names.has(GIT_FILE))
      git = git.withLines(readFileSync(join(place, GIT_FILE)), this.#inRepository(folder.path))
    if (names.has(OWN_FILE)) own = own.withLines(readFileSync(join(place, OWN_FILE)), folder.path)
    return git === folder.git && own === folder.own ? folder : { ...folder, git, own }
  }

  /** The rules of the repository that the packed folder is in: its own, and those of the folders between. */
  #aroundTop(usual: GitRules): GitRules {
    const repository = repositoryOf(this.#folder)
    if (repository === null) return usual
    const exclude = excludeFile(repository)
    let git = exclude === null ? usual : usual.withLines(readIfFile(exclude) ?? NOTHING, '')
    const names = relative(repository, this.#folder).split(sep)
    if (names[0] === '') return git
    for (const [index, name] of names.entries()) {
      const folder = names.slice(0, index).join('/')
      git = git.withLines(readIfFile(join(repository, folder, GIT_FILE)) ?? NOTHING, folder)
      // What git leaves out as a whole can be packed by its name. The rules around it then say nothing of what is in it.
      if (git.judge(posix.join(folder, name), true) === 'out') return usual
    }
    this.#base = `${names.join('/')}/`
    return git
  }
}

const NOTHING = Buffer.alloc(0)
const LEFT_OUT: Judgement = { isPacked: false, folder: null }

/** A path relative to a folder; null when it is not below it. */
function below(folder: string, path: string): string | null {
  if (folder === '') return path
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null
}

/** The rules of the ignore file that counts, which are those of the Dockerfile's own if there is one. */
function readDockerRules(folder: string, { path, context }: Dockerfile): DockerRules | null {
  const own = `${path}.dockerignore`
  const usual = ['.dockerignore', '.containerignore'].map((name) => posix.join(context, name))
  for (const file of [own, ...usual]) {
    const text = readIfFile(join(folder, file))
    if (text === null) continue
    // The build needs both, although a Dockerfile may list them so that they are not copied.
    const kept = [path, file].flatMap((each) => below(context, each) ?? [])
    return new DockerRules(text.toString(), kept, file)
  }
  return null
}

/** The folder of the repository that a folder is in; null for none. */
function repositoryOf(folder: string): string | null {
  for (let place = folder; ; place = dirname(place)) {
    if (lstatSync(join(place, '.git'), { throwIfNoEntry: false }) !== undefined) return place
    if (dirname(place) === place) return null
  }
}

/** The file with a repository's own rules (gitrepository-layout(5)); null where there is none. */
function excludeFile(repository: string): string | null {
  const git = join(repository, '.git')
  const pointer = readIfFile(git)?.toString() ?? null
  if (pointer === null) return join(git, 'info', 'exclude')
  // In a further working tree or a submodule, `.git` is a file that says where it is.
  const named = /^gitdir: (.*)$/m.exec(pointer)?.[1]
  if (named === undefined) return null
  const place = resolve(repository, named.trim())
  const common = readIfFile(join(place, 'commondir'))?.toString().trim()
  return join(common === undefined ? place : resolve(place, common), 'info', 'exclude')
}

function readIfFile(path: string): Buffer | null {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path) : null
}
