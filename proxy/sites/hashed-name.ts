import { basename, extname } from 'node:path'

/** Folders in which these frameworks put a hash into every file name: Next, SvelteKit, Astro, Nuxt. */
const HASHED_FOLDERS = /\/(?:_next\/static|_app\/immutable|_astro|_nuxt(?!\/builds\/))\//
/** File systems do not allow longer names. */
const MAX_NAME_CHARACTERS = 255
/** Pages keep their address when they change, whatever the name looks like. */
const PAGE = /\.html?$/i
/** Written by bundlers: in these names, a run of digits or capitals is not a title or a date. */
const CODE = /\.(?:[cm]?js|css)(?:\.map)?$/i

const HEXADECIMAL = /^[0-9a-f]{8,64}$/
/** Bundlers shorten their hashes in base64url or base32 to 8 characters. */
const SHORT_HASH = /^[\w-]{8}$/
/** A short hash where bundlers put it, before the extension of code. Only lower case letters would be a word. */
const PERHAPS_HASHED = /[-.](?=[^.]{0,7}[A-Z\d])[\w-]{8}\.(?:[cm]?js|css)(?:\.map)?$/
const DATE = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])$/
const DIMENSIONS = /^\d+x\d+$/
/** `DSC01234`. */
const CAMERA = /^[A-Z]{2,5}\d{3,6}$/
/** `base64js`. */
const LIBRARY = /^[a-z]{3,}\d{1,3}[a-z]{1,3}$/

/**
 * Whether a path's name contains a hash of the content, so that the file never changes: `index-B1cD3fGh.js` (Vite, Rollup),
 * `main.3f2a9c1b.js` and `2.073c9b0a.chunk.css` (webpack, Parcel), `app-KJ3XZ4AB.js` (esbuild), only a hash
 * (`3f2a9c1b.js`), or anything in a folder in which its framework names all files so. The hash ends a part between dots, and
 * begins it or follows `-`, `_` or `.`. Words (`my-component.js`), CamelCase (`MyWidget.js`), versions
 * (`jquery-3.7.1.min.js`), dates and dimensions are not hashes. About three in a hundred random hashes look like those, and
 * are then cached like any other file. Pages are never hashed.
 */
export function isHashedName(path: string): boolean {
  if (PAGE.test(path)) return false
  if (HASHED_FOLDERS.test(path)) return true
  const code = CODE.test(path)
  return endings(basename(path)).some((ending) => isHash(ending, code))
}

/**
 * Whether a page loaded before a deploy may mean a content-hashed file by this path. This includes scripts and styles whose
 * hash happens to look like a word, since a page without one of them is broken. If a name is taken for a hash by mistake,
 * its file only disappears later.
 */
export function mayBeHashed(path: string): boolean {
  return isHashedName(path) || PERHAPS_HASHED.test(path)
}

/**
 * Returns where a hash can be in a name: each part between dots, and what follows each separator in it, because short hashes
 * may contain separators.
 */
function endings(name: string): string[] {
  if (extname(name) === '' || name.length > MAX_NAME_CHARACTERS) return []
  const parts = name.split('.').slice(0, -1)
  return parts.flatMap((part) => [
    part,
    ...Array.from(part.matchAll(/[-_]/g), ({ index }) => part.slice(index + 1)),
  ])
}

function isHash(text: string, code: boolean): boolean {
  if (/^\d+$/.test(text)) return code && text.length === 8 && !DATE.test(text)
  if (DIMENSIONS.test(text) || CAMERA.test(text)) return false
  if (HEXADECIMAL.test(text) && /\d/.test(text)) return !isWords(text)
  if (!SHORT_HASH.test(text)) return false
  if (/^[A-Z]{8}$/.test(text)) return code
  const pieces = text.split(/[-_]/)
  if (pieces.length === 1) return !isWords(text) && !LIBRARY.test(text)
  return !pieces.every((piece) => isPlain(piece) || isWords(piece))
}

/**
 * Whether it looks like words: `settings`, `chapter2`, `MyWidget`, `iPhone15`. These have pronounceable humps and a small
 * number.
 */
function isWords(text: string): boolean {
  const letters = text.replace(/\d{1,3}$/, '')
  if (letters.length < 4 || !/^[A-Z]?[a-z]+(?:[A-Z][a-z]+)*$/.test(letters)) return false
  return letters.split(/(?=[A-Z])/).every((hump) => hump.length === 1 || /[aeiouy]/i.test(hump))
}

/** Whether it looks like a part of a name that a person chose: `v2`, `en`, `US`, `2024`, `48x48`. */
function isPlain(piece: string): boolean {
  return /^(?:\d*(?:(?:[A-Z][a-z]*|[a-z]+)\d*)?|[A-Z]+|\d+x\d+)$/.test(piece)
}
