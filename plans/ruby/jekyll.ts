import { findInLines, hasLine, linesOf } from '../text.ts'
import type { Tree } from '../tree.ts'
import type { Gemfile } from './gemfile.ts'

/** A site that Jekyll makes. */
export interface JekyllSite {
  /** Where it goes (jekyllrb.com, "Configuration"). */
  publishDirectory: string
  /** What has to be installed where no Gemfile names it. */
  gems: string[]
}

const CONFIGURATIONS = ['_config.yml', '_config.yaml']
/** Folders and pages of a site of Jekyll; other programs have a _config.yml too. */
const SIGNS = ['_posts', '_layouts', '_includes']
const PAGES = ['index.md', 'index.markdown', 'index.html']

/** Gems that a configuration may name are installed by their names. */
const MAX_GEMS = 20

/** Finds the site of Jekyll in a tree; null without one. */
export async function findJekyll(tree: Tree, gemfile: Gemfile): Promise<JekyllSite | null> {
  const texts = await Promise.all(CONFIGURATIONS.map((name) => tree.readText(name)))
  const configuration = texts.find((text) => text !== null) ?? null
  const isNamed =
    gemfile.has('jekyll') ||
    gemfile.has('github-pages') ||
    (configuration !== null && gemfile.exists && (await isTheme(tree)))
  if (!isNamed && (gemfile.exists || configuration === null || !(await looksLikeSite(tree)))) return null
  const folder = findInLines(
    configuration ?? '',
    /^destination:\s*["']?(?:\.\/)?([\w-]+(?:\/[\w-]+)*)\/?["']?\s*$/,
  )
  return { publishDirectory: folder ?? '_site', gems: isNamed ? [] : gemsOf(configuration ?? '') }
}

/** Whether the tree without a Gemfile is a site of Jekyll, as hosts for pages take them. */
async function looksLikeSite(tree: Tree): Promise<boolean> {
  for (const name of SIGNS) if (await tree.hasFolder(name)) return true
  if (await tree.hasFile('package.json')) return false
  for (const name of PAGES) if (await tree.hasFile(name)) return true
  return false
}

/** Whether the Gemfile is that of a theme which shows itself, as their forks do, and its own list names Jekyll. */
async function isTheme(tree: Tree): Promise<boolean> {
  if (!hasLine((await tree.readText('Gemfile')) ?? '', /^gemspec\b/) || !(await looksLikeSite(tree)))
    return false
  const file = (await tree.list('.')).find((name) => name.endsWith('.gemspec'))
  const list = file === undefined ? null : await tree.readText(file)
  return hasLine(list ?? '', /\.add_(?:runtime_)?dependency[\s(]+["']jekyll["']/)
}

/** Jekyll, and the theme and plugins that a configuration names. */
function gemsOf(configuration: string): string[] {
  const gems = new Set(['jekyll', 'webrick', 'kramdown-parser-gfm'])
  let isList = false
  for (const line of linesOf(configuration)) {
    const theme = /^theme:\s*["']?([\w.-]+)["']?\s*$/.exec(line)?.[1]
    if (theme !== undefined) gems.add(theme)
    if (/^\w/.test(line)) isList = /^(?:plugins|gems):/.test(line)
    const plugin = /^\s*-\s*["']?([\w.-]+)["']?\s*$/.exec(line)?.[1]
    if (isList && plugin !== undefined) gems.add(plugin)
  }
  return [...gems].filter((name) => /^\w/.test(name)).slice(0, MAX_GEMS)
}
