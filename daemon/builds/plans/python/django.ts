import type { Tree } from '../../../sources/tree.ts'
import { findInLines, hasLine } from '../../text.ts'

/** A Django project, by its manage.py. */
export interface DjangoProject {
  /** The module with `wsgi.py` and `asgi.py`. */
  module: string
  /** It says where its static files are gathered. */
  gathersFiles: boolean
}

/** Settings may be parted into this many files. */
const MAX_SETTINGS_FILES = 20

/** Finds the Django project of a tree; null without one. */
export async function findDjango(tree: Tree): Promise<DjangoProject | null> {
  const manage = await tree.readText('manage.py')
  const settings = /DJANGO_SETTINGS_MODULE["'],\s*["']([A-Za-z_][\w.]*)["']/.exec(manage ?? '')?.[1]
  if (settings === undefined) return null
  const texts = await settingsTexts(tree, settings.split('.'))
  const application = texts
    .map((text) =>
      findInLines(text, /^\s*WSGI_APPLICATION\s*=\s*["']([A-Za-z_][\w.]*)\.wsgi\.application["']/),
    )
    .find((module) => module !== undefined)
  return {
    module: application ?? settings.split('.', 1)[0]!,
    gathersFiles: texts.some((text) => hasLine(text, /^\s*STATIC_ROOT\s*[:=]/)),
  }
}

/** The module itself, and where it is one of a folder, those beside it, which it most often starts from. */
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
