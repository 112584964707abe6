import { lstat, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAbbreviatedCommit, isFullCommit } from '#server/git/refs.ts'
import { PRIVATE_DIRECTORY_MODE } from '#server/files.ts'
import { BuildFailure } from '../builds/failure.ts'
import { GitError, runGit, type GitCommand } from './git-command.ts'
import { explainRemote, lastWords, openRemote, type Remote, type RemoteAccess } from './git-remote.ts'
import { branchNames, listRefs } from './refs.ts'
import { fetchSubmodules } from './submodules.ts'
import { isTooLarge, tooLarge, watchSize } from './size-watch.ts'

export { lsRemote } from './refs.ts'
export { ensureSshKey } from './ssh-key.ts'

/** A clone that takes longer is given up; the build's own time limit holds beside it. */
const CHECKOUT_TIMEOUT_MS = 15 * 60_000
/** As much of a commit's message as is kept. */
const MAX_MESSAGE_CHARACTERS = 8 * 1024
/** As many branches are named to one who asked for a missing one. */
const NAMED_BRANCHES = 10

export interface CheckoutRequest extends RemoteAccess {
  /** Null is the remote's HEAD. */
  branch: string | null
  /** A whole or abbreviated commit id, or the name of a tag or branch; wins over `branch`. */
  commit: string | null
  /** Made when it is missing; must be empty. */
  directory: string
  signal: AbortSignal
  /** Receives lines for the build's log. */
  onLine: (line: string) => void
}

/** What a checkout is of. `branch` is null when the commit was not chosen by a branch. */
export interface Checkout {
  sha: string
  message: string
  branch: string | null
}

/**
 * Puts one commit's tree into a directory, submodules included and nothing of git's own, as shallow as the remote lets.
 * Hooks, filters and LFS never run; links are left as they are. Throws BuildFailure with what to change.
 */
export async function checkout(request: CheckoutRequest): Promise<Checkout> {
  await mkdir(request.directory, { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
  const ending = new AbortController()
  const timeout = AbortSignal.timeout(CHECKOUT_TIMEOUT_MS)
  const signal = AbortSignal.any([request.signal, timeout, ending.signal])
  const watching = watchSize(request.directory, signal, (fault) => ending.abort(fault))
  const remote = openRemote(request)
  try {
    return await new Working(request, remote, signal).run()
  } catch (error) {
    if (timeout.aborted && !request.signal.aborted) {
      throw new BuildFailure(
        `cloning ${remote.url} took longer than ${CHECKOUT_TIMEOUT_MS / 60_000} minutes: try again, or deploy a smaller repository`,
      )
    }
    if (!(error instanceof GitError)) throw error
    const message = explainRemote(error, remote) ?? `${remote.url} cannot be cloned: ${lastWords(error)}`
    throw new BuildFailure(message, { cause: error })
  } finally {
    ending.abort()
    await watching
  }
}

/** One checkout under way. */
class Working {
  readonly #request: CheckoutRequest
  readonly #remote: Remote
  readonly #signal: AbortSignal

  constructor(request: CheckoutRequest, remote: Remote, signal: AbortSignal) {
    this.#request = request
    this.#remote = remote
    this.#signal = signal
  }

  async run(): Promise<Checkout> {
    const { directory, commit } = this.#request
    const { sha, branch } =
      commit === null ? await this.#cloneBranch() : { sha: await this.#fetchCommit(commit), branch: null }
    await this.#refuseLargeTree(sha)
    await this.#inTree(['checkout', '--quiet', '--force', '--detach', sha])
    const message = await this.#inTree(['show', '--no-patch', '--format=%B', sha])
    await fetchSubmodules(directory, (command) => this.#inTree(command), this.#request.onLine)
    await this.#noteLfs()
    await rm(join(directory, '.git'), { recursive: true, force: true })
    return { sha, message: message.trim().slice(0, MAX_MESSAGE_CHARACTERS), branch }
  }

  async #cloneBranch(): Promise<{ sha: string; branch: string | null }> {
    const { branch, directory } = this.#request
    const which = branch === null ? [] : [`--branch=${branch}`]
    const shallow = ['--depth=1', '--single-branch', '--no-tags', '--no-checkout', '--template=', '--quiet']
    try {
      await this.#git(['clone', ...shallow, ...which, '--', this.#remote.url, directory])
    } catch (error) {
      if (error instanceof GitError && /Remote branch .* not found/.test(error.messages))
        throw await this.#missingBranch(branch)
      throw error
    }
    const sha = await this.#resolve('HEAD')
    if (sha === null) throw await this.#missingBranch(branch)
    const head = await this.#inTree(['rev-parse', '--symbolic-full-name', 'HEAD'])
    const name = /^refs\/heads\/(.+)$/.exec(head.trim())?.[1] ?? null
    return { sha, branch: branch ?? name }
  }

  async #missingBranch(branch: string | null): Promise<BuildFailure> {
    const names = branchNames(await listRefs(this.#remote, ['refs/heads/*'], this.#signal))
    const { url } = this.#remote
    if (names.length === 0) return new BuildFailure(`${url} is empty: push a commit to it first`)
    const shown = names.slice(0, NAMED_BRANCHES).join(', ') + (names.length > NAMED_BRANCHES ? ', ...' : '')
    if (branch === null) {
      return new BuildFailure(
        `the default branch of ${url} does not exist: set branch to one of its branches (${shown})`,
      )
    }
    return new BuildFailure(`${url} has no branch ${branch}: set branch to one of its branches (${shown})`)
  }

  async #fetchCommit(commit: string): Promise<string> {
    if (isFullCommit(commit)) return await this.#fetchObject(commit.toLowerCase())
    const { refs } = await listRefs(this.#remote, ['refs/heads/*', 'refs/tags/*', commit], this.#signal)
    // In the order of gitrevisions(7).
    for (const name of [commit, `refs/tags/${commit}`, `refs/heads/${commit}`]) {
      const object = refs.get(name)
      if (object !== undefined) return await this.#fetchRef(name, object)
    }
    if (!isAbbreviatedCommit(commit)) throw this.#missingCommit(commit)
    const prefix = commit.toLowerCase()
    const tips = new Set([...refs.values()].filter((object) => object.startsWith(prefix)))
    const [tip] = tips
    return await this.#fetchObject(tips.size === 1 ? tip! : await this.#completeAbbreviation(prefix))
  }

  async #fetchRef(name: string, object: string): Promise<string> {
    await this.#initialize(object.length)
    await this.#inTree([...SHALLOW_FETCH, 'origin', `+${name}:refs/deployer/head`])
    return await this.#resolveFetched(name)
  }

  async #fetchObject(object: string): Promise<string> {
    await this.#initialize(object.length)
    try {
      await this.#inTree([...SHALLOW_FETCH, 'origin', `+${object}:refs/deployer/head`])
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      // The server looked and has no such object.
      if (/not our ref/.test(error.messages)) throw this.#missingCommit(object)
      // It hands out only what its refs name: the commit may still lie behind one of them.
      if (!/unadvertised object|not valid|no such remote ref|couldn't find remote ref/i.test(error.messages))
        throw error
      this.#request.onLine('the remote gives no single commits: fetching its whole history')
      const all = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']
      await this.#inTree(['fetch', '--quiet', '--no-tags', 'origin', ...all])
      if ((await this.#resolve(object)) === null) throw this.#missingCommit(object)
      await this.#inTree(['update-ref', 'refs/deployer/head', object])
    }
    return await this.#resolveFetched(object)
  }

  async #resolveFetched(name: string): Promise<string> {
    const sha = await this.#resolve('refs/deployer/head')
    if (sha === null)
      throw new BuildFailure(`${name} of ${this.#remote.url} is not a commit: give one, or a branch or tag`)
    return sha
  }

  /** The whole id of an abbreviated one, by the history of all branches and tags without their files. */
  async #completeAbbreviation(prefix: string): Promise<string> {
    this.#request.onLine(`looking for commit ${prefix} in the history`)
    const history = join(this.#request.directory, '.git-history')
    const light = ['--bare', '--filter=tree:0', '--template=', '--quiet']
    await this.#git(['clone', ...light, '--', this.#remote.url, history])
    const found = await this.#git(['-C', history, 'rev-parse', '--verify', `${prefix}^{commit}`]).catch(
      (error: unknown) => {
        if (!(error instanceof GitError)) throw error
        if (!/ambiguous/.test(error.messages)) throw this.#missingCommit(prefix)
        throw new BuildFailure(
          `commit ${prefix} is ambiguous in ${this.#remote.url}: give more of its characters`,
        )
      },
    )
    await rm(history, { recursive: true, force: true })
    return found.trim()
  }

  #missingCommit(commit: string): BuildFailure {
    return new BuildFailure(
      `${this.#remote.url} has no commit ${commit}: push it, or give another commit, branch or tag`,
    )
  }

  async #initialize(objectNameLength: number): Promise<void> {
    const format = objectNameLength === 64 ? ['--object-format=sha256'] : []
    await this.#git(['init', '--quiet', '--template=', ...format, '--', this.#request.directory])
    await this.#inTree(['config', 'remote.origin.url', this.#remote.url])
  }

  /** Refuses before anything is written: a few kilobytes of git objects can name any number of files. */
  async #refuseLargeTree(sha: string): Promise<void> {
    let files = 0
    let bytes = 0
    await this.#inTree(['ls-tree', '-r', '-l', '--full-tree', sha], (line) => {
      files += 1
      bytes += Number(/^\d+ blob \S+ +(\d+)/.exec(line)?.[1] ?? 0)
      if (isTooLarge(bytes, files)) throw tooLarge()
    })
  }

  async #noteLfs(): Promise<void> {
    const path = join(this.#request.directory, '.gitattributes')
    const isReadable = await lstat(path).then(
      (facts) => facts.isFile() && facts.size <= MAX_ATTRIBUTES_BYTES,
      () => false,
    )
    if (isReadable && /\bfilter=lfs\b/.test(await readFile(path, 'utf8'))) {
      this.#request.onLine('files kept by Git LFS are not fetched: the build sees their pointers')
    }
  }

  async #resolve(name: string): Promise<string | null> {
    try {
      return (await this.#inTree(['rev-parse', '--quiet', '--verify', `${name}^{commit}`])).trim()
    } catch (error) {
      if (error instanceof GitError) return null
      throw error
    }
  }

  #inTree(command: string[], onOutputLine?: (line: string) => void): Promise<string> {
    return this.#git(['-C', this.#request.directory, ...command], onOutputLine)
  }

  #git(command: string[], onOutputLine?: (line: string) => void): Promise<string> {
    const options: GitCommand = {
      arguments: [...this.#remote.settings, ...command],
      environment: this.#remote.environment,
      signal: this.#signal,
    }
    return runGit(onOutputLine ? { ...options, onOutputLine } : options)
  }
}

/** A larger file of attributes is not looked into for a note in the log. */
const MAX_ATTRIBUTES_BYTES = 1024 * 1024

const SHALLOW_FETCH = ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules']
