import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_DIRECTORY_MODE } from '#server/files.ts'
import { BuildFailure } from '#plans/index.ts'
import { GitError } from './git-error.ts'
import type { Remote } from './git-remote.ts'
import { removeTree } from './remove-tree.ts'

/** Characters of an id. Remotes that do not report their format use SHA-1. */
const SHA1_CHARACTERS = 40
const SHA256_CHARACTERS = 64
/** git's messages when the formats differ, also with a remote that supports only the first protocol. */
const OTHER_FORMAT = /mismatched algorithms|not support this repository's object format/
/** The most settings in one file of a commit, which has a few for each submodule. */
const MAX_SETTINGS = 10_000
/** The exit code of `git config` for a setting that is not set (git-config(1)). */
const NOT_SET = 1
/** The namespace of fetched refs. */
const FETCHED = 'refs/deployer/'

/** The files that make a folder a git repository (gitrepository-layout(5)). The server writes them, never a remote. */
export const OWN_HEAD = 'ref: refs/heads/none\n'
export const OWN_CONFIGS = {
  sha1: '[core]\n\trepositoryformatversion = 0\n\tbare = true\n',
  sha256: '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n',
}

/** A bare repository in a folder of the server, which is fetched from one remote. */
export class Repository {
  readonly directory: string
  readonly remote: Remote

  constructor(directory: string, remote: Remote) {
    this.directory = directory
    this.remote = remote
  }

  /** Creates it, replacing what exists, for a remote whose object ids have this many characters. */
  async create(idLength = SHA1_CHARACTERS): Promise<void> {
    await removeTree(this.directory)
    for (const folder of ['objects/pack', FETCHED])
      await mkdir(join(this.directory, folder), { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
    await writeFile(join(this.directory, 'config'), OWN_CONFIGS[formatOfLength(idLength)])
    await writeFile(join(this.directory, 'HEAD'), OWN_HEAD)
  }

  /**
   * Fetches a reference or an id, without its history, and returns the local ref for it. Always asks the remote with the
   * current credentials, even for objects that exist here. Throws GitError.
   */
  async fetchOne(reference: string, place: string): Promise<string> {
    const name = FETCHED + place
    const fetch = (): Promise<void> => this.fetch([`+${reference}:${name}`], ['--depth=1'])
    await fetch().catch(async (error: unknown) => {
      if (!isOtherFormat(error)) throw error
      await this.create((await this.usesIdLength(SHA1_CHARACTERS)) ? SHA256_CHARACTERS : SHA1_CHARACTERS)
      await fetch()
    })
    return name
  }

  /** Fetches only these references from the remote. Throws GitError. */
  async fetch(references: string[], options: string[]): Promise<void> {
    const always = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head']
    await this.git(['fetch', ...always, ...options, '--', this.remote.url, ...references])
  }

  /** Whether ids have this many characters here; git would take others for names. */
  async usesIdLength(idLength: number): Promise<boolean> {
    const config = await readFile(join(this.directory, 'config'), 'utf8')
    return config === OWN_CONFIGS[formatOfLength(idLength)]
  }

  /** Runs git in it and returns its output, unless `onLine` receives that. Throws GitError. */
  git(command: string[], onLine?: (line: string) => void, end?: '\n' | '\0'): Promise<string> {
    return runAt([`--git-dir=${this.directory}`], this.remote, command, onLine, end)
  }

  /**
   * The settings that `git config` finds in a file of a commit, without those of this host. Throws BuildFailure for a file
   * that it cannot read or that has too many settings, else GitError.
   */
  async settings(sha: string, file: string, question: string[]): Promise<string[]> {
    const found: string[] = []
    const onAnswer = (answer: string): void => {
      if (found.push(answer) > MAX_SETTINGS)
        throw new BuildFailure(`${file} has more than ${MAX_SETTINGS} settings: shorten it`)
    }
    const command = ['config', `--blob=${sha}:${file}`, '--no-includes', '--null', ...question]
    try {
      await this.git(command, onAnswer, '\0')
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      const line = /bad config .*line (\d+)/.exec(error.messages)?.[1]
      if (line !== undefined)
        throw new BuildFailure(`${file} cannot be read at line ${line}: fix it`, { cause: error })
      if (error.code !== NOT_SET) throw error
    }
    return found
  }

  /** The commit that a name means here; null when it means none. */
  async resolve(name: string): Promise<string | null> {
    try {
      return (await this.git(['rev-parse', '--quiet', '--verify', `${name}^{commit}`])).trim()
    } catch (error) {
      if (error instanceof GitError) return null
      throw error
    }
  }
}

/** Whether git failed because the ids of the remote have a different length than those of the repository. */
export function isOtherFormat(error: unknown): boolean {
  return error instanceof GitError && OTHER_FORMAT.test(error.messages)
}

function formatOfLength(idLength: number): keyof typeof OWN_CONFIGS {
  return idLength === SHA256_CHARACTERS ? 'sha256' : 'sha1'
}

/** Runs git in a place with the settings and environment for a remote. Throws GitError. */
export function runAt(
  place: string[],
  { git, settings, environment }: Remote,
  command: string[],
  onLine?: (line: string) => void,
  end: '\n' | '\0' = '\n',
): Promise<string> {
  const whole = { arguments: [...settings, ...place, ...command], environment }
  return git.run(onLine ? { ...whole, onOutputLine: { onLine, end } } : whole)
}
