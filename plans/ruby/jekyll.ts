import { findInLines, hasLine, linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { Gemfile } from './gemfile.ts'

/** A site built by Jekyll. */
export interface JekyllSite {
  /** Its output folder (jekyllrb.com, "Configuration"). */
  publishDirectory: string
  /** Gems to install where no Gemfile names them. */
  gems: string[]
}

const CONFIGURATIONS = ['_config.yml', '_config.yaml']
/** Folders and pages of a Jekyll site; other programs have a _config.yml too. */
const SIGNS = ['_posts', '_layouts', '_includes']
const PAGES = ['index.md', 'index.markdown', 'index.html']

/** Names of gems that may be installed if a configuration names them. */
const MAX_GEMS = 20

/** Finds the Jekyll site in a tree; null without one. */
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

/** Whether a tree without a Gemfile is a Jekyll site, as hosts for pages accept them. */
async function looksLikeSite(tree: Tree): Promise<boolean> {
  for (const name of SIGNS) if (await tree.hasFolder(name)) return true
  if (await tree.hasFile('package.json')) return false
  for (const name of PAGES) if (await tree.hasFile(name)) return true
  return false
}

/** Whether the Gemfile belongs to a theme that is its own demo, as in its forks, and the theme's gemspec names Jekyll. */
async function isTheme(tree: Tree): Promise<boolean> {
  if (!hasLine((await tree.readText('Gemfile')) ?? '', /^gemspec\b/) || !(await looksLikeSite(tree)))
    return false
  const file = (await tree.list('.')).find((name) => name.endsWith('.gemspec'))
  const list = file === undefined ? null : await tree.readText(file)
  return hasLine(list ?? '', /\.add_(?:runtime_)?dependency[\s(]+["']jekyll["']/)
}

/** Jekyll, with the theme and plugins that a configuration names. */
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
