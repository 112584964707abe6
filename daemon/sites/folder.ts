import { lstat, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PRIVATE_FILE_MODE } from '#server/files.ts'
import type { LogWriter } from '#server/log-files.ts'
import type { SiteRules } from '#proxy/protocol.ts'
import { BuildFailure } from '../builds/failure.ts'
import { Tree } from '../sources/tree.ts'
import { MAX_RULES_BYTES, parseHeaders, parseRedirects } from './rules.ts'

/** What a published folder may hold; each file costs an inode and a look. */
const MAX_FILES = 200_000

/**
 * Makes a folder fit to be served: takes `.git` out and refuses all but files and folders. Throws BuildFailure that
 * names what it may not hold. Answers how many files there are.
 */
export async function assertPublishable(directory: string): Promise<number> {
  await rm(join(directory, '.git'), { recursive: true, force: true })
  let files = 0
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue
    if (!entry.isFile()) {
      const path = join(entry.parentPath, entry.name).slice(directory.length + 1)
      throw new BuildFailure(
        `the published folder holds ${JSON.stringify(path)}, which is ${kindOf(await lstat(join(entry.parentPath, entry.name)))}: only files and folders can be published`,
      )
    }
    files += 1
    if (files > MAX_FILES) {
      throw new BuildFailure(`the published folder holds more than ${MAX_FILES} files: publish fewer`)
    }
  }
  return files
}

/** Reads the rule files of a published folder and keeps what they say beside it. What is not taken is said in the log. */
export async function writeRules(folder: string, log: LogWriter): Promise<void> {
  const files = new Tree(join(folder, 'files'))
  const redirects = parseRedirects((await files.readText('_redirects', MAX_RULES_BYTES)) ?? '')
  const headers = parseHeaders((await files.readText('_headers', MAX_RULES_BYTES)) ?? '')
  for (const note of redirects.notes) log.system(`_redirects: ${note}`)
  for (const note of headers.notes) log.system(`_headers: ${note}`)
  const rules: SiteRules = { redirects: redirects.redirects, headers: headers.headers }
  await writeFile(join(folder, 'rules.json'), JSON.stringify(rules), { mode: PRIVATE_FILE_MODE })
}

function kindOf(facts: { isSymbolicLink(): boolean }): string {
  return facts.isSymbolicLink() ? 'a link' : 'no regular file'
}
