import { Glob } from '../text/glob.ts'

/** Why these are not globs for files of a repository; null when they are. */
export function watchPathsFault(patterns: readonly string[]): string | null {
  for (const pattern of patterns) {
    if (pattern.trim() === '') return 'must not contain an empty pattern'
    if (pattern.startsWith('/') || pattern.startsWith('!') || pattern.split('/').includes('..'))
      return `${pattern} must be a glob from the repository's root, without a slash or "!" first and without ".."`
    try {
      compile(pattern)
    } catch (error) {
      return `${pattern} is not a glob: ${(error as Error).message}`
    }
  }
  return null
}

/** Whether one of the files matches the patterns. The name of a folder matches everything below it. */
export function touches(patterns: readonly string[], files: readonly string[]): boolean {
  return patterns.flatMap(compile).some((glob) => files.some((file) => glob.test(file)))
}

function compile(pattern: string): Glob[] {
  const normal = pattern.replace(/^\.\//, '').replace(/\/$/, '')
  return [new Glob(normal), new Glob(`${normal}/**`)]
}
