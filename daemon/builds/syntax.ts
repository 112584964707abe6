import { linesOf } from '#plans/index.ts'

/** The standard frontend; its `-labs` variants have features that the engine's own lacks. */
const STANDARD_FRONTEND = /^(docker\.io\/)?docker\/dockerfile:1(\.\d+){0,2}$/
const DIRECTIVE = /^\s*#\s*([a-z]+)\s*=\s*(\S+)\s*$/i

/** The minor version of the frontend that introduced each flag of an instruction (Dockerfile release notes). */
const FLAGS: Record<string, Record<string, number>> = {
  COPY: { link: 4, exclude: 19, parents: 20 },
  ADD: { link: 4, checksum: 6, 'keep-git-dir': 6, unpack: 17, exclude: 19 },
  HEALTHCHECK: { 'start-interval': 6 },
}
const WITH_HEREDOC = new Set(['RUN', 'COPY', 'ADD'])
const HEREDOC = /^\d*<<-?["']?[a-z_]/i
const HEREDOC_SINCE = 4
/** Instructions whose variables are expanded by the frontend, not a shell. */
const EXPANDED = new Set([
  'FROM',
  'ARG',
  'ENV',
  'COPY',
  'ADD',
  'LABEL',
  'WORKDIR',
  'USER',
  'EXPOSE',
  'VOLUME',
])
const TRIMMING = /\$\{\w+[#%/]/
const TRIMMING_SINCE = 7
const SECRET_IN_VARIABLE_SINCE = 10
const SYMBOLIC_MODE_SINCE = 14

/**
 * Removes the line that names the standard frontend from a Dockerfile, with a note, since the engine would pull that image
 * before every build. An empty comment replaces it, so that line numbers in messages stay correct. The line is kept if the
 * file uses a feature that the engine's own frontend, of the minor version `built`, does not have yet.
 */
export function withoutSyntax(
  content: string,
  path: string,
  built: number | undefined,
): { content: string; notes: string[] } {
  const lines = content.split('\n')
  // Directives come before everything else (Dockerfile reference, "Parser directives").
  const end = lines.findIndex((line) => !DIRECTIVE.test(line))
  const head = lines.slice(0, end === -1 ? lines.length : end)
  const at = head.findIndex((line) => {
    const [, key, value] = DIRECTIVE.exec(line)!
    return key!.toLowerCase() === 'syntax' && STANDARD_FRONTEND.test(value!)
  })
  if (at === -1) return { content, notes: [] }
  const [line] = head.splice(at, 1)
  const own = `the engine's own Dockerfile frontend${built === undefined ? '' : ` (1.${built})`}`
  if (built !== undefined && minorOf(content) > built)
    return {
      content,
      notes: [`keeping "${line!.trim()}" in ${path}: the file uses features that ${own} lacks`],
    }
  const note = `using ${own} instead of "${line!.trim()}" in ${path}`
  // A comment ends the directives, so the one that replaces the line comes after them.
  return { content: [...head, '#', ...lines.slice(head.length + 1)].join('\n'), notes: [note] }
}

/** The lowest minor version of the frontend that has the features of a Dockerfile, as far as its lines show. */
function minorOf(dockerfile: string): number {
  let minor = 0
  for (const line of linesOf(dockerfile)) {
    const [first = '', ...words] = line.trim().split(/[ \t]+/)
    const instruction = first.toUpperCase()
    const plain = words.findIndex((word) => !word.startsWith('--'))
    const flags = plain === -1 ? words : words.slice(0, plain)
    // One by one, since a call can take only so many arguments.
    for (const flag of flags) minor = Math.max(minor, flagSince(instruction, flag))
    if (WITH_HEREDOC.has(instruction) && words.some((word) => HEREDOC.test(word)))
      minor = Math.max(minor, HEREDOC_SINCE)
    if (EXPANDED.has(instruction) && TRIMMING.test(line)) minor = Math.max(minor, TRIMMING_SINCE)
  }
  return minor
}

function flagSince(instruction: string, flag: string): number {
  const [name = '', ...values] = flag.slice(2).split('=')
  const value = values.join('=')
  if (instruction === 'RUN' && name === 'mount') {
    const settings = value.split(',')
    const isVariable = settings.includes('type=secret') && settings.some((each) => each.startsWith('env='))
    return isVariable ? SECRET_IN_VARIABLE_SINCE : 0
  }
  if (name === 'chmod') return /^[0-7$]/.test(value) ? 0 : SYMBOLIC_MODE_SINCE
  const since = FLAGS[instruction]
  return since && Object.hasOwn(since, name) ? since[name]! : 0
}
