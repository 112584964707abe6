import { contents } from './contents.ts'
import { readStaticFiles } from './static-files.ts'
import type { Tree } from '../sources/tree.ts'
import { answersRoot, MAX_RULES_BYTES, parseRedirects } from '../sites/rules.ts'

/** The folders where pages that need no build usually are. */
const FOLDERS = ['.', 'public']

/** The folder of a tree that is a site as it is; null if there is none. */
export async function pagesIn(tree: Tree): Promise<string | null> {
  const { folder: named } = await readStaticFiles(tree)
  for (const folder of named === null ? FOLDERS : [named, ...FOLDERS])
    if ((await missingIndex(tree, folder)) === null) return folder
  return null
}

/** The message for a folder without a page for `/`, neither a file nor a rule; null when there is one. */
export async function missingIndex(tree: Tree, folder: string): Promise<string | null> {
  if (await tree.hasFile(`${folder}/index.html`)) return null
  const rules = parseRedirects((await tree.readText(`${folder}/_redirects`, MAX_RULES_BYTES)) ?? '')
  if (answersRoot(rules.redirects)) return null
  const where = folder === '.' ? 'what is published' : folder
  return `there is no index.html in ${where}, which is ${await contents(tree, folder)}: set publish_dir to the folder with the pages, or let _redirects answer /`
}
