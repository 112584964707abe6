import { GitError, runGit, type GitCommand } from './git-command.ts'
import type { Remote } from './git-remote.ts'

/** A repository in a folder of the server's own, which is fetched from one remote, `origin`. */
export class Repository {
  readonly directory: string
  readonly remote: Remote
  readonly signal: AbortSignal

  constructor(directory: string, remote: Remote, signal: AbortSignal) {
    this.directory = directory
    this.remote = remote
    this.signal = signal
  }

  /** Makes it, for a remote whose object ids are of this length: 64 characters are SHA-256. */
  async initialize(idLength: number): Promise<void> {
    const format = idLength === 64 ? ['--object-format=sha256'] : []
    await this.#run(['init', '--quiet', '--template=', ...format, '--', this.directory])
    await this.git(['config', 'remote.origin.url', this.remote.url])
  }

  /** Makes it with the head of a branch, null for that of the remote. Throws GitError. */
  async clone(branch: string | null): Promise<void> {
    const which = branch === null ? [] : [`--branch=${branch}`]
    const shallow = ['--depth=1', '--single-branch', '--no-tags', '--no-checkout', '--template=', '--quiet']
    await this.#run(['clone', ...shallow, ...which, '--', this.remote.url, this.directory])
  }

  /** Fetches from the remote, and nothing but what the references name. Throws GitError. */
  async fetch(references: string[], options: string[]): Promise<void> {
    const always = ['--quiet', '--no-tags', '--no-recurse-submodules']
    await this.git(['fetch', ...always, ...options, 'origin', ...references])
  }

  /** Runs git in it and answers what it wrote, unless `onOutputLine` takes that. Throws GitError. */
  git(command: string[], onOutputLine?: (line: string) => void): Promise<string> {
    return this.#run(['-C', this.directory, ...command], onOutputLine)
  }

  /** The commit that a name stands for here; null when it stands for none. */
  async resolve(name: string): Promise<string | null> {
    try {
      return (await this.git(['rev-parse', '--quiet', '--verify', `${name}^{commit}`])).trim()
    } catch (error) {
      if (error instanceof GitError) return null
      throw error
    }
  }

  #run(command: string[], onOutputLine?: (line: string) => void): Promise<string> {
    const options: GitCommand = {
      arguments: [...this.remote.settings, ...command],
      environment: this.remote.environment,
      desk: this.remote.desk,
      signal: this.signal,
    }
    return runGit(onOutputLine ? { ...options, onOutputLine } : options)
  }
}
