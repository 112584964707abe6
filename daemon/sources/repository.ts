import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_DIRECTORY_MODE } from '#server/files.ts'
import { BuildFailure } from '#plans/index.ts'
import { GitError } from './git-error.ts'
import type { Remote } from './git-remote.ts'
import { removeTree } from './remove-tree.ts'

/** Characters of an id: SHA-1 is what remotes have that say nothing of it. */
const SHA1_CHARACTERS = 40
const SHA256_CHARACTERS = 64
/** What git says of that, and what it says of a remote that speaks only the first protocol. */
const OTHER_FORMAT = /mismatched algorithms|not support this repository's object format/
/** Of a file of a commit: some for each of its submodules. */
const MAX_SETTINGS = 10_000
/** How `git config` ends for what is not set (git-config(1)). */
const NOT_SET = 1
/** Refs into which is fetched. */
const FETCHED = 'refs/deployer/'

/** The files of git's own that say what a repository is (gitrepository-layout(5)). They are the server's, never a remote's. */
export const OWN_HEAD = 'ref: refs/heads/none\n'
export const OWN_CONFIGS = {
  sha1: '[core]\n\trepositoryformatversion = 0\n\tbare = true\n',
  sha256: '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n',
}

/** A repository without a tree in a folder of the server's own, which is fetched from one remote. */
export class Repository {
  readonly directory: string
  readonly remote: Remote

  constructor(directory: string, remote: Remote) {
    this.directory = directory
    this.remote = remote
  }

  /** Makes it, in place of what is there, for a remote whose object ids have that many characters. */
  async make(idLength = SHA1_CHARACTERS): Promise<void> {
    await removeTree(this.directory)
    for (const folder of ['objects/pack', FETCHED])
      await mkdir(join(this.directory, folder), { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
    await writeFile(join(this.directory, 'config'), OWN_CONFIGS[formatOfLength(idLength)])
    await writeFile(join(this.directory, 'HEAD'), OWN_HEAD)
  }

  /**
   * Fetches what a reference or an id names, without its history, and answers the ref that holds it. The remote is asked
   * with the credentials of now, also for what is here already. Throws GitError.
   */
  async fetchOne(reference: string, place: string): Promise<string> {
    const name = FETCHED + place
    const fetch = (): Promise<void> => this.fetch([`+${reference}:${name}`], ['--depth=1'])
    await fetch().catch(async (error: unknown) => {
      if (!isOtherFormat(error)) throw error
      await this.make((await this.takes(SHA1_CHARACTERS)) ? SHA256_CHARACTERS : SHA1_CHARACTERS)
      await fetch()
    })
    return name
  }

  /** Fetches from the remote, and nothing but what the references name. Throws GitError. */
  async fetch(references: string[], options: string[]): Promise<void> {
    const always = ['--quiet', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head']
    await this.git(['fetch', ...always, ...options, '--', this.remote.url, ...references])
  }

  /** Whether ids of that many characters are ids here: git takes others for names. */
  async takes(idLength: number): Promise<boolean> {
    const config = await readFile(join(this.directory, 'config'), 'utf8')
    return config === OWN_CONFIGS[formatOfLength(idLength)]
  }

  /** Runs git in it and answers what it wrote, unless `onLine` takes that. Throws GitError. */
  git(command: string[], onLine?: (line: string) => void, end?: '\n' | '\0'): Promise<string> {
    return runAt([`--git-dir=${this.directory}`], this.remote, command, onLine, end)
  }

  /**
   * What `git config` finds in a file of a commit, and nothing of this host's, one answer after another. Throws BuildFailure
   * for a file that it cannot read or in which too much is set, else GitError.
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
        throw new BuildFailure(`${file} cannot be read at its line ${line}: correct it`, { cause: error })
      if (error.code !== NOT_SET) throw error
    }
    return found
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
}

/** Whether git failed because the ids of a remote have another length than those of the repository. */
export function isOtherFormat(error: unknown): boolean {
  return error instanceof GitError && OTHER_FORMAT.test(error.messages)
}

function formatOfLength(idLength: number): keyof typeof OWN_CONFIGS {
  return idLength === SHA256_CHARACTERS ? 'sha256' : 'sha1'
}

/** Runs git at a place with what a remote needs. Throws GitError. */
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
