import semver from 'semver'
import { linesOf } from '../../text.ts'

/**
 * The newest minor version of Python 3 for the lines of a package before a version: by the packages that PyPI has of it, or
 * where its documentation names one. Under newer ones it is compiled, which ends in an error or takes most of an hour, or
 * it breaks where it is imported.
 */
const LINES: Record<string, [before: string, minor: number][]> = {
  aiohttp: [
    ['3.7.2', 8],
    ['3.8.0', 9],
    ['3.8.3', 10],
    ['3.9.0', 11],
    ['3.10.6', 12],
  ],
  // docs.djangoproject.com, "What Python version can I use with Django?"; from 4.2 on it runs under all.
  django: [
    ['2.2', 7],
    ['3.2', 9],
    ['4.1', 10],
    ['4.2', 11],
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
  // It imports setuptools, which environments have up to here.
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
    ['2.8.0', 12],
  ],
  pyyaml: [
    ['6.0.0', 9],
    ['6.0.1', 11],
  ],
  'scikit-learn': [
    ['0.24.0', 8],
    ['1.0.1', 9],
    ['1.1.3', 10],
    ['1.3.1', 11],
    ['1.5.2', 12],
  ],
  scipy: [
    ['1.5.3', 8],
    ['1.7.2', 9],
    ['1.9.2', 10],
    ['1.11.2', 11],
    ['1.14.1', 12],
  ],
  sqlalchemy: [['2.0.31', 12]],
  tensorflow: [
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

/** A requirement that leaves no newer version: `==1.2.3`, `~=1.2.3`, or with `<` among its parts. */
const PINNED = /^\s*([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*([=~<>][^;#@]*)/

/** What a package that is pinned to an older version asks of Python. */
export interface PinnedLimit {
  minor: number
  /** The requirement, as it is written. */
  requirement: string
}

/** The oldest Python that pinned requirements ask for, by a requirements file's text; null where none does. */
export function limitOf(requirements: string): PinnedLimit | null {
  let limit: PinnedLimit | null = null
  for (const line of linesOf(requirements)) {
    const [, written = '', specifier = ''] = PINNED.exec(line) ?? []
    const name = written.toLowerCase().replaceAll(/[._]/g, '-')
    if (!Object.hasOwn(LINES, name)) continue
    const minor = LINES[name]!.find(([before]) => isBefore(specifier, before))?.[1]
    if (minor === undefined || (limit !== null && limit.minor <= minor)) continue
    limit = { minor, requirement: `${written}${specifier}`.slice(0, SHOWN_CHARACTERS).trim() }
  }
  return limit
}

/** Of a requirement, in a note. */
const SHOWN_CHARACTERS = 60

/** Whether a specifier allows only versions before one. */
function isBefore(specifier: string, before: string): boolean {
  const limit = semver.coerce(before)!
  return specifier.split(',').some((part) => {
    const [, sign, text] = /^\s*(===?|~=|<=?)\s*(\d+(?:\.\d+)*)/.exec(part) ?? []
    const version = text === undefined ? null : semver.coerce(text)
    if (version === null) return false
    if (sign === '<') return semver.lte(version, limit)
    if (sign === '~=') return semver.lte(growing(version, text!), limit)
    // `==1.2.*` is as many versions as `~=1.2.0`.
    return part.includes('*') ? semver.lte(growing(version, `${text}.0`), limit) : semver.lt(version, limit)
  })
}

/** The first version that `~=` does not allow: of `1.2.3` it is 1.3, of `1.2` it is 2. */
function growing(version: semver.SemVer, text: string): string {
  return text.split('.').length > 2 ? `${version.major}.${version.minor + 1}.0` : `${version.major + 1}.0.0`
}
