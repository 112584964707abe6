import { readStaticFiles } from './static-files.ts'
import { linesOf } from './text.ts'
import type { Tree } from './tree.ts'

/** Folders in which pages that need no build usually are. */
const FOLDERS = ['.', 'public']

/** A larger file is not a list of rules. */
const MAX_RULES_BYTES = 256 * 1024

/** Returns the folder of a tree that is a site as it is; null where there is none. */
export async function pagesIn(tree: Tree): Promise<string | null> {
  const { folder: named } = await readStaticFiles(tree)
  for (const folder of named === null ? FOLDERS : [named, ...FOLDERS])
    if (await hasRoot(tree, folder)) return folder
  return null
}

/** Whether a folder answers `/`: with a page, or with a rule that leads elsewhere. */
async function hasRoot(tree: Tree, folder: string): Promise<boolean> {
  if (await tree.hasFile(`${folder}/index.html`)) return true
  const rules = await tree.readText(`${folder}/_redirects`, MAX_RULES_BYTES)
  for (const line of linesOf(rules ?? '')) if (answersRoot(line)) return true
  return false
}

/** A path of the site other than its index page. */
const OTHER_PATH = /^\/(?!\/|(?:index\.html)?$)/
const URL_START = /^https?:\/\//i
const REDIRECT = /^30[12378]$/

/** Whether a line of `_redirects` (`from to [status]`) answers `/` with something other than the missing index page. */
function answersRoot(line: string): boolean {
  const words = line.trim().split(/\s+/)
  const comment = words.findIndex((word) => word.startsWith('#'))
  const [from, to = '', status = '301', ...conditions] = comment < 0 ? words : words.slice(0, comment)
  const isOfRoot = from === '/' || from === '/*'
  const isRewrite = status === '200' && to.startsWith('/')
  return isOfRoot && isTarget(to, from) && (isRewrite || REDIRECT.test(status)) && conditions.length === 0
}

/** Whether a target can be followed: a placeholder in it has to occur in the pattern, where `/*` is named `:splat`. */
function isTarget(to: string, from: string): boolean {
  if (/[\p{Cc}\\]/u.test(to) || !isEncoded(to)) return false
  if (!(URL_START.test(to) ? URL.canParse(to) : OTHER_PATH.test(to))) return false
  const names = to.replace(URL_START, '').match(/:[A-Za-z]\w*/g) ?? []
  return names.every((name) => name === ':splat' && from === '/*')
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
