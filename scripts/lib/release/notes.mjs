import { Refusal } from '../say.mjs'

/**
 * The section of a version in the changelog, which becomes the notes of its release.
 *
 * @param {string} changelog
 * @param {string} version
 * @returns {{ date: string, text: string }}
 */
export function sectionOf(changelog, version) {
  const lines = changelog.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`## [${version}]`))
  const date = /^## \[[^\]]+\] - (\d{4}-\d{2}-\d{2})$/.exec(lines[start] ?? '')?.[1]
  if (date === undefined)
    throw new Refusal(
      `CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD": put what is new in ${version} under it`,
    )
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.startsWith('## '))
  const text = (end === -1 ? rest : rest.slice(0, end)).join('\n').trim()
  return { date, text: `# Deployer ${version}\n\n${text}\n` }
}
