import { posix } from 'node:path'
import { findSource } from '../source/listening.ts'
import { findInLines, hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { NamesPackage } from './requirements.ts'

/** A Django project, by its manage.py. */
export interface DjangoProject {
  /** The folder of its manage.py; empty for the root. */
  folder: string
  /** The module with `wsgi.py` and `asgi.py`. */
  module: string
  /** Whether it says where its static files are collected. */
  gathersFiles: boolean
  /**
   * Whether its pages use styles and scripts that are compressed before it starts (django-compressor, "Offline
   * Compression").
   */
  compresses: boolean
}

/** Into how many files settings may be split. */
const MAX_SETTINGS_FILES = 20

/** How many folders directly below the root may have the manage.py. */
const MAX_FOLDERS = 40
/** They are written into commands unescaped. */
const PLAIN_FOLDER = /^[\w-][\w.-]*\/$/

/** Folders of projects that demonstrate or test the root. */
const ACCOMPANYING = /^(?:tests?|testing|examples?|samples?|demos?|docs?|sandbox|templates?)\/$/i

/** The same by prefix, next to the documentation of what may be a library. */
const BESIDE_DOCUMENTED = /^(?:tests?|examples?|samples?|demos?|sandbox)/i

/** Returns the commands that collect the static files; none where no place for them is set. */
export function gatherFiles(
  { folder, gathersFiles, compresses }: DjangoProject,
  names: NamesPackage,
): string[] {
  if (!gathersFiles) return []
  const run = `python ${posix.join(folder, 'manage.py')}`
  // With debugging on, as it may be during the build, it would refuse.
  const isCompressed = compresses && names('django-compressor')
  return [`${run} collectstatic --noinput`, ...(isCompressed ? [`${run} compress --force`] : [])]
}

/** Finds the Django project in the root of a tree; null without one. */
export async function findDjango(tree: Tree): Promise<DjangoProject | null> {
  return await projectIn(tree, '')
}

/** Finds the only Django project in a folder below its requirements; null for none or several. */
export async function findDjangoBelow(
  tree: Tree,
  names: NamesPackage,
  isDocumented: boolean,
): Promise<DjangoProject | null> {
  if (!names('django')) return null
  const isBeside = (name: string): boolean =>
    ACCOMPANYING.test(name) || (isDocumented && BESIDE_DOCUMENTED.test(name))
  const folders = (await tree.list('.')).filter((name) => PLAIN_FOLDER.test(name) && !isBeside(name))
  const found: DjangoProject[] = []
  for (const name of folders.slice(0, MAX_FOLDERS)) {
    const project = await projectIn(tree.folder(name), name.slice(0, -1))
    if (project !== null) found.push(project)
  }
  return found.length === 1 ? found[0]! : null
}

async function projectIn(tree: Tree, folder: string): Promise<DjangoProject | null> {
  const manage = await tree.readText('manage.py')
  const settings = settingsOf(manage ?? '')
  if (settings === undefined) return null
  const texts = await settingsTexts(tree, settings.split('.'))
  const application = texts
    .map((text) =>
      findInLines(text, /^\s*WSGI_APPLICATION\s*=\s*["']([A-Za-z_][\w.]*)\.wsgi\.application["']/),
    )
    .find((module) => module !== undefined)
  return {
    folder,
    module: application ?? settings.split('.', 1)[0]!,
    gathersFiles: texts.some((text) => hasLine(text, /^\s*STATIC_ROOT\s*[:=]/)),
    compresses: await compressesOffline(tree, settings),
  }
}

/** Whether the settings that manage.py uses, and no others next to them, compress files for pages offline. */
async function compressesOffline(tree: Tree, settings: string): Promise<boolean> {
  const text = (await tree.readText(`${settings.replaceAll('.', '/')}.py`)) ?? ''
  if (!hasLine(text, /^COMPRESS_OFFLINE\s*=\s*True\b/) || !hasLine(text, /^\s+["']compressor["'],?/))
    return false
  return typeof (await findSource(tree, /\.html$/, /^(?!.*\{#).*\{%-?\s*compress\s/)) === 'string'
}

/** Parts of names of settings that are not for production. */
const FOR_DEVELOPERS = /(?:^|_)(?:tests?|testing|local|dev|development)(?:_|$)/

/** Returns the module that manage.py names, or of several the last one that is for production. */
function settingsOf(manage: string): string | undefined {
  const named = /DJANGO_SETTINGS_MODULE["'],\s*["']([A-Za-z_][\w.]*)["']/.exec(manage)?.[1]
  if (named !== undefined || !manage.includes('DJANGO_SETTINGS_MODULE')) return named
  const texts = [...manage.matchAll(/["']([A-Za-z_][\w.]{0,200})["']/g)].map(([, text]) => text!)
  return texts.findLast((text) => {
    const parts = text.split('.')
    const at = parts.indexOf('settings', 1)
    if (at === -1 || parts.includes('') || /^tests?$/.test(parts[0]!)) return false
    return !parts.slice(at).some((part) => FOR_DEVELOPERS.test(part))
  })
}

/** Yields the module itself, and if it is in a folder, its neighbours, which it usually imports. */
async function settingsTexts(tree: Tree, parts: string[]): Promise<string[]> {
  const path = parts.join('/')
  const folders = parts.length > 1 ? [path, parts.slice(0, -1).join('/')] : [path]
  const files = [`${path}.py`]
  for (const folder of folders) {
    for (const name of await tree.list(folder)) {
      const isSettings = folder === path || parts.length > 2 || name.startsWith('settings')
      if (name.endsWith('.py') && isSettings) files.push(`${folder}/${name}`)
    }
  }
  const texts: string[] = []
  for (const file of [...new Set(files)].slice(0, MAX_SETTINGS_FILES)) {
    const text = await tree.readText(file)
    if (text !== null) texts.push(text)
  }
  return texts
}
