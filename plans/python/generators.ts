import { posix } from 'node:path'
import { pagesIn } from '../source/pages.ts'
import { findInLines, hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { NamesPackage } from './requirements.ts'

/** A generator of static sites that is a package of Python. */
export interface SiteGenerator {
  name: 'mkdocs' | 'pelican' | 'sphinx'
  build: string
  publishDirectory: string
  /** Packages to install in addition to the requirements. */
  packages: string[]
}

/** Folders with the configuration of Sphinx: its quick start creates the first two, Read the Docs documents the others. */
const SPHINX_FOLDERS = ['.', 'source', 'docs', 'docs/source', 'doc']

/** Returns the generator whose site a tree is; null for none. */
export async function findGenerator(tree: Tree, names: NamesPackage): Promise<SiteGenerator | null> {
  const mkdocs = await tree.readText('mkdocs.yml')
  if (mkdocs !== null) {
    return {
      name: 'mkdocs',
      build: 'mkdocs build',
      publishDirectory: findInLines(mkdocs, /^site_dir:\s*["']?([\w-]+(?:\/[\w-]+)*)["']?\s*$/) ?? 'site',
      packages: mkdocsPackages(mkdocs, names),
    }
  }
  const found = (await pelican(tree, names)) ?? (await sphinx(tree, names))
  // Pages that are there already need no build.
  return found === null || (await pagesIn(tree)) !== null ? null : found
}

/** MkDocs itself, and its most popular theme. */
function mkdocsPackages(configuration: string, names: NamesPackage): string[] {
  if (names('mkdocs') || names('mkdocs-material')) return []
  return findInLines(configuration, /^\s*name:\s*["']?(material)\b/) === undefined
    ? ['mkdocs']
    : ['mkdocs', 'mkdocs-material']
}

/** Its quick start writes the settings for publishing into a second file (getpelican.com, "Publish your site"). */
async function pelican(tree: Tree, names: NamesPackage): Promise<SiteGenerator | null> {
  if (!(await tree.hasFile('pelicanconf.py'))) return null
  const settings = (await tree.hasFile('publishconf.py')) ? 'publishconf.py' : 'pelicanconf.py'
  return {
    name: 'pelican',
    build: `pelican content -o output -s ${settings}`,
    publishDirectory: 'output',
    packages: names('pelican') ? [] : ['pelican[markdown]'],
  }
}

/** Its requirements may be next to its pages (docs.readthedocs.io, "Configuration file"). */
async function sphinx(tree: Tree, names: NamesPackage): Promise<SiteGenerator | null> {
  for (const folder of SPHINX_FOLDERS) {
    const text = await tree.readText(posix.join(folder, 'conf.py'))
    if (text === null || !hasLine(text, /^(?:extensions|html_theme|master_doc|project)\s*=/)) continue
    const file = folder === '.' ? null : `${folder.split('/')[0]!}/requirements.txt`
    const own = file !== null && (await tree.hasFile(file)) ? `pip install -r ${file} && ` : ''
    return {
      name: 'sphinx',
      build: `${own}sphinx-build -b html ${folder} build/html`,
      publishDirectory: 'build/html',
      packages: names('sphinx') ? [] : ['sphinx'],
    }
  }
  return null
}
