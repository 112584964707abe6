import type { Tree } from '#plans/index.ts'
import { answersRoot, MAX_RULES_BYTES, parseRedirects } from './site-rules.ts'

/** What is to be said of a folder that has no page for `/`, neither a file nor by its rules; null when it has one. */
export async function missingIndex(tree: Tree, folder: string): Promise<string | null> {
  if (await tree.hasFile(`${folder}/index.html`)) return null
  const rules = parseRedirects((await tree.readText(`${folder}/_redirects`, MAX_RULES_BYTES)) ?? '')
  if (answersRoot(rules.redirects)) return null
  const where = folder === '.' ? 'what is published' : folder
  return `there is no index.html in ${where}, which is ${await tree.describe(folder)}: set publish_dir to the folder with the pages, or let _redirects answer /`
}
