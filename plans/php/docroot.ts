import { isRecord } from '../json.ts'
import type { Tree } from '../tree.ts'
import type { Composer } from './composer.ts'

/** Folders that frameworks serve, beside the root; WordPress and Drupal by Composer, CakePHP, and the usual one. */
const FOLDERS = ['public', 'web', 'webroot', 'public_html', 'htdocs', 'docroot', 'www']

/** Paths go into Apache's configuration as they are. */
const PLAIN_PATH = /^[\w.-]+(?:\/[\w.-]+)*$/

/** The commands with which Heroku starts PHP behind a web server; the last word is the folder that is served. */
const HEROKU_COMMAND = /^(?:\.\/)?(?:vendor\/bin\/)?heroku-php-(?:apache2|nginx)(?:\s|$)/

/** Whether a command of a Procfile is one of Heroku's for PHP. */
export function isHerokuCommand(command: string): boolean {
  return HEROKU_COMMAND.test(command.trim())
}

/** The folder that one of Heroku's commands serves; null for the root. */
export function herokuFolder(command: string): string | null {
  const [, ...words] = command.trim().split(/\s+/)
  const plain = words.filter(
    (word, index) => !word.startsWith('-') && !/^-[CFcil]$/.test(words[index - 1] ?? ''),
  )
  return cleaned(plain.at(-1))
}

/** The folder that is served: what composer.json says, else the usual one with an index.php; null for the root, undefined for none. */
export async function findDocroot(tree: Tree, composer: Composer | null): Promise<string | null | undefined> {
  const named = cleaned(extraFolder(composer?.extra ?? {}))
  if (named !== null && (await tree.hasFolder(named))) return named
  for (const folder of FOLDERS) if (await tree.hasFile(`${folder}/index.php`)) return folder
  if (await tree.hasFile('index.php')) return null
  // The folder of a web server in many images; beside a program it has other pages.
  if (await tree.hasFile('html/index.php')) return 'html'
  return installedFolder(composer) ?? undefined
}

/** Where Composer lays WordPress, which brings its index.php (johnpbloch/wordpress-core-installer). */
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
