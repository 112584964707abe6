import { isRecord } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import type { Composer } from './composer.ts'

/**
 * Folders that frameworks serve, in addition to the root; for WordPress and Drupal by Composer, CakePHP, and the usual one.
 */
const FOLDERS = ['public', 'web', 'webroot', 'public_html', 'htdocs', 'docroot', 'www']

/** Paths are written into Apache's configuration unescaped. */
const PLAIN_PATH = /^[\w.-]+(?:\/[\w.-]+)*$/

/** The commands with which Heroku starts PHP behind a web server; the last word is the document root. */
const HEROKU_COMMAND = /^(?:\.\/)?(?:vendor\/bin\/)?heroku-php-(?:apache2|nginx)(?:\s|$)/

/** Whether a command of a Procfile is one of Heroku's for PHP. */
export function isHerokuCommand(command: string): boolean {
  return HEROKU_COMMAND.test(command.trim())
}

/** Returns the document root of one of Heroku's commands; null for the root of the tree. */
export function herokuFolder(command: string): string | null {
  const [, ...words] = command.trim().split(/\s+/)
  const plain = words.filter(
    (word, index) => !word.startsWith('-') && !/^-[CFcil]$/.test(words[index - 1] ?? ''),
  )
  return cleaned(plain.at(-1))
}

/**
 * Returns the document root: what composer.json says, else the usual one with an index.php; null for the root of the tree,
 * undefined for none.
 */
export async function findDocroot(tree: Tree, composer: Composer | null): Promise<string | null | undefined> {
  const named = cleaned(extraFolder(composer?.extra ?? {}))
  if (named !== null && (await tree.hasFolder(named))) return named
  for (const folder of FOLDERS) if (await tree.hasFile(`${folder}/index.php`)) return folder
  if (await tree.hasFile('index.php')) return null
  // The document root of many images; next to a program it has other pages.
  if (await tree.hasFile('html/index.php')) return 'html'
  return installedFolder(composer) ?? undefined
}

/** Where Composer installs WordPress, which includes its index.php (johnpbloch/wordpress-core-installer). */
function installedFolder(composer: Composer | null): string | null {
  const names = ['johnpbloch/wordpress', 'johnpbloch/wordpress-core', 'roots/wordpress']
  if (composer === null || !names.some((name) => name in composer.requires)) return null
  return cleaned(composer.extra['wordpress-install-dir'] ?? 'wordpress')
}

/** Symfony's `public-dir`, and Drupal's `web-root`. */
function extraFolder(extra: Record<string, unknown>): unknown {
  if (extra['public-dir'] !== undefined) return extra['public-dir']
  const scaffold = extra['drupal-scaffold']
  const locations = isRecord(scaffold) ? scaffold.locations : undefined
  return isRecord(locations) ? locations['web-root'] : undefined
}

function cleaned(folder: unknown): string | null {
  if (typeof folder !== 'string') return null
  const path = folder.replace(/^\.\//, '').replace(/\/$/, '')
  return PLAIN_PATH.test(path) && !path.split('/').includes('..') && path !== '.' ? path : null
}
