import semver from 'semver'
import { linesOf } from '../source/text.ts'

/**
 * The newest minor version of Python 3 for versions of a package below a version, and above another: by its wheels on PyPI,
 * or where its documentation states one. On a newer Python it is compiled, which fails or takes most of an hour, or it
 * breaks on import.
 */
const LINES: Record<string, [before: string, minor: number, from?: string][]> = {
  aiohttp: [
    ['3.7.2', 8],
    ['3.8.0', 9],
    ['3.8.3', 10],
    ['3.9.0', 11],
    ['3.10.6', 12],
  ],
  // docs.djangoproject.com, "What Python version can I use with Django?"; from 4.2 on it runs on all.
  django: [
    ['2.2.0', 7],
    ['3.2.0', 9],
    ['4.1.0', 10],
    ['4.2.0', 11],
  ],
  gevent: [
    ['20.9.0', 8],
    ['21.8.0', 9],
    ['22.10.1', 10],
    ['23.7.0', 11],
    ['24.10.1', 12],
  ],
  greenlet: [
    ['0.4.17', 8],
    ['1.1.2', 9],
    ['1.1.3', 10],
    ['3.0.0', 11],
    ['3.1.0', 12],
  ],
  // It imports setuptools, which environments include up to this version.
  gunicorn: [['20.1.0', 11]],
  matplotlib: [
    ['3.3.3', 8],
    ['3.5.0', 9],
    ['3.6.2', 10],
    ['3.8.0', 11],
    ['3.9.2', 12],
  ],
  numpy: [
    ['1.19.3', 8],
    ['1.21.2', 9],
    ['1.23.2', 10],
    ['1.26.0', 11],
    ['2.1.0', 12],
  ],
  pandas: [
    ['1.1.3', 8],
    ['1.3.3', 9],
    ['1.5.1', 10],
    ['2.1.1', 11],
    ['2.2.3', 12],
  ],
  pillow: [
    ['8.0.0', 8],
    ['8.4.0', 9],
    ['9.3.0', 10],
    ['10.1.0', 11],
    ['10.4.0', 12],
  ],
  'psycopg2-binary': [
    ['2.8.6', 8],
    ['2.9.2', 9],
    ['2.9.5', 10],
    ['2.9.9', 11],
    ['2.9.10', 12],
  ],
  pydantic: [
    ['1.10.17', 11],
    ['2.8.0', 12, '2.0.0'],
  ],
  // Earlier versions need nothing that has changed since.
  pyyaml: [
    ['6.0.0', 9, '5.4.0'],
    ['6.0.1', 11, '5.4.0'],
  ],
  'scikit-learn': [
    ['0.24.0', 8],
    ['1.0.1', 9],
    ['1.1.3', 10],
    ['1.3.1', 11],
    ['1.5.2', 12],
  ],
  scipy: [
    ['1.5.4', 8],
    ['1.7.2', 9],
    ['1.9.2', 10],
    ['1.11.2', 11],
    ['1.14.1', 12],
  ],
  sqlalchemy: [['2.0.31', 12, '2.0.0']],
  tensorflow: [
    ['2.2.0', 7],
    ['2.5.0', 8],
    ['2.8.0', 9],
    ['2.12.0', 10],
    ['2.16.0', 11],
    ['2.20.0', 12],
  ],
  torch: [
    ['1.13.0', 9],
    ['2.0.0', 10],
    ['2.2.0', 11],
    ['2.5.0', 12],
  ],
}

/** A requirement with a version, up to what follows it (pip, "Requirements File Format"), and its marker (PEP 508). */
const REQUIREMENT = /^\s*([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*([=~<>][^;#@\\]{0,200})[^;#]*(?:;([^#]*))?/

/** In a marker, the newest Python for which it holds. */
const OLDER_PYTHON = /\bpython(?:_full)?_version\s{0,9}(<=?|={2,3})\s{0,9}["']3\.(\d{1,3})/
/** In a marker, another system than that of images. */
const OTHER_SYSTEM = /["'](?:win32|cygwin|darwin|Windows|Darwin)["']/

/** How many pinned packages are looked at. */
const MAX_PINS = 1_000

/** The Python that a package pinned to an older version needs. */
export interface PinnedLimit {
  minor: number
  /** The requirement, as written. */
  requirement: string
}

/**
 * Returns the oldest Python that pinned requirements need, by the text of a requirements file; null where none needs one
 * before `newest`.
 */
export function limitOf(requirements: string, newest: number): PinnedLimit | null {
  let limit: PinnedLimit | null = null
  let pins = 0
  for (const line of linesOf(requirements)) {
    const [, written = '', text = '', marker = ''] = REQUIREMENT.exec(line) ?? []
    const name = written.toLowerCase().replaceAll(/[._]/g, '-')
    if (!Object.hasOwn(LINES, name) || !holds(marker, newest)) continue
    if (++pins > MAX_PINS) break
    const specifier = text.split(' --')[0]!.trim()
    const bound = boundOf(specifier)
    const minor = bound && LINES[name]!.find(([before, , from]) => isWithin(bound, before, from))?.[1]
    if (!minor || minor >= (limit?.minor ?? newest)) continue
    limit = { minor, requirement: `${written}${specifier}`.slice(0, SHOWN_CHARACTERS) }
  }
  return limit
}

/** The length of a requirement in a note. */
const SHOWN_CHARACTERS = 60

/** Whether a requirement applies under this Python, in an image. */
function holds(marker: string, newest: number): boolean {
  if (OTHER_SYSTEM.test(marker) && !marker.includes('!=')) return false
  const [, sign, minor] = OLDER_PYTHON.exec(marker) ?? []
  if (minor === undefined) return true
  return sign === '<' ? Number(minor) > newest : Number(minor) >= newest
}

/** The newest version that a specifier allows, or the first that it excludes. */
interface Bound {
  version: semver.SemVer
  isAllowed: boolean
}

/** Returns null for a specifier without an upper bound. */
function boundOf(specifier: string): Bound | null {
  let least: Bound | null = null
  for (const part of specifier.split(',')) {
    const bound = boundOfPart(part)
    if (bound && (least === null || semver.lt(bound.version, least.version))) least = bound
  }
  return least
}

function boundOfPart(part: string): Bound | null {
  const [, sign, text = ''] = /^\s*(===?|~=|<=?)\s*(\d+(?:\.\d+)*)/.exec(part) ?? []
  const version = semver.coerce(text)
  if (sign === undefined || version === null) return null
  // `==1.2.*` covers as many versions as `~=1.2.0`.
  if (part.includes('*')) return { version: after(version, `${text}.0`), isAllowed: false }
  if (sign === '~=') return { version: after(version, text), isAllowed: false }
  return { version, isAllowed: sign !== '<' }
}

/** Returns the first version that `~=` excludes: for `1.2.3` it is 1.3, for `1.2` it is 2. */
function after(version: semver.SemVer, text: string): semver.SemVer {
  const isMinor = text.split('.').length > 2
  return new semver.SemVer(isMinor ? `${version.major}.${version.minor + 1}.0` : `${version.major + 1}.0.0`)
}

function isWithin({ version, isAllowed }: Bound, before: string, from = '0.0.0'): boolean {
  return isAllowed
    ? semver.lt(version, before) && semver.gte(version, from)
    : semver.lte(version, before) && semver.gt(version, from)
}
