import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_DIRECTORY_MODE } from '#server/files.ts'
import type { Remote } from './git-remote.ts'
import { removeTree } from './remove-tree.ts'
import { formatOf, OWN_CONFIGS, OWN_HEAD, runAt, type Repository } from './repository.ts'

/** The tree of a commit in a folder, with a `.git` in it for as long as that is needed. */
export class WorkingTree {
  readonly directory: string
  readonly remote: Remote

  constructor(directory: string, remote: Remote) {
    this.directory = directory
    this.remote = remote
  }

  /** Lays out a commit of a repository, whose objects are read where they are, in place of what is in the folder. */
  async layOut(from: Repository, sha: string): Promise<void> {
    await removeTree(this.directory)
    const own = join(this.directory, '.git')
    for (const folder of ['objects/info', 'refs'])
      await mkdir(join(own, folder), { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
    await writeFile(join(own, 'HEAD'), OWN_HEAD)
    await writeFile(join(own, 'config'), OWN_CONFIGS[formatOf(sha)].replace('bare = true', 'bare = false'))
    await writeFile(join(own, 'objects/info/alternates'), `${join(from.directory, 'objects')}\n`)
    // Of a repository with its whole history there is none.
    await copyFile(join(from.directory, 'shallow'), join(own, 'shallow')).catch(() => {})
    await this.git(['checkout', '--quiet', '--force', '--detach', sha])
  }

  /** Runs git in it and answers what it wrote, unless `onLine` takes that, line by line. Throws GitError. */
  git(command: string[], onLine?: (line: string) => void, end?: '\n' | '\0'): Promise<string> {
    return runAt(['-C', this.directory], this.remote, command, onLine, end)
  }
}
