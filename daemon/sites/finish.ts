import { lstatSync, opendirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PRIVATE_FILE_MODE } from '#server/files.ts'
import type { SiteRedirect, SiteRules } from '#proxy/sites/rules-file.ts'
import { BuildFailure, Tree } from '#plans/index.ts'
import { missingIndex } from '../builds/missing-index.ts'
import type { FinishedSite } from './reader-calls.ts'
import { precompress } from './precompress.ts'
import { MAX_RULES_BYTES, parseHeaders, parseRedirects } from '../builds/site-rules.ts'

/** The most files that a published folder may have; each costs an inode and a lookup. */
const MAX_FILES = 200_000

/** The rule that answers unknown paths for a site that routes in the browser. */
const TO_INDEX: SiteRedirect = { from: '/*', to: '/index.html', status: 200 }

/**
 * Prepares the `files` of a folder for serving: removes `.git`, refuses anything but files and folders, stores the rules of
 * its rule files next to them, and adds compressed variants where they save something. With `singlePage`, the index page
 * answers unknown paths. Throws a BuildFailure that names what the folder must not contain. Returns how many files there
 * are, which rules are ignored, and whether something answers `/`.
 */
export async function finishSite(folder: string, singlePage: boolean): Promise<FinishedSite> {
  const directory = join(folder, 'files')
  rmSync(join(directory, '.git'), { recursive: true, force: true })
  const files = countFiles(directory, '', 0)
  const tree = new Tree(directory)
  const notes = await writeRules(folder, tree, singlePage)
  const fault = await missingIndex(tree, '.')
  if (fault === null && !(await precompress(directory)))
    notes.push('there was not enough time to compress all files: some are served uncompressed')
  return { files, notes, fault }
}

function countFiles(directory: string, folder: string, before: number): number {
  let files = before
  const folders: string[] = []
  const entries = opendirSync(join(directory, folder))
  try {
    for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) files += 1
      else
        throw new BuildFailure(
          `the published folder contains ${JSON.stringify(path)}, which is ${kindOf(join(directory, path))}: only files and folders can be published`,
        )
      if (files > MAX_FILES)
        throw new BuildFailure(`the published folder contains more than ${MAX_FILES} files: publish fewer`)
    }
  } finally {
    entries.closeSync()
  }
  for (const path of folders) files = countFiles(directory, path, files)
  return files
}

async function writeRules(folder: string, files: Tree, singlePage: boolean): Promise<string[]> {
  const redirects = parseRedirects((await files.readText('_redirects', MAX_RULES_BYTES)) ?? '')
  const headers = parseHeaders((await files.readText('_headers', MAX_RULES_BYTES)) ?? '')
  // A site with its own 404 page does not route in the browser.
  const fallsBack = singlePage && !(await files.hasFile('404.html'))
  const rules: SiteRules = {
    redirects: fallsBack ? [...redirects.redirects, TO_INDEX] : redirects.redirects,
    headers: headers.headers,
  }
  writeFileSync(join(folder, 'rules.json'), JSON.stringify(rules), { mode: PRIVATE_FILE_MODE })
  return [
    ...redirects.notes.map((note) => `_redirects: ${note}`),
    ...headers.notes.map((note) => `_headers: ${note}`),
  ]
}

function kindOf(path: string): string {
  return lstatSync(path).isSymbolicLink() ? 'a link' : 'not a regular file'
}
