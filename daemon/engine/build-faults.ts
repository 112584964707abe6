import { explain } from './faults.ts'

/** The frames that BuildKit puts around what went wrong. */
const FRAMES = [
  /^failed to solve(?: with frontend [\w.]+)?:\s*/,
  /^failed to (?:create LLB definition|read dockerfile|build LLB|compute cache key|load cache key|prepare \S+ as \S+):\s*/,
  /^rpc error: code = \w+ desc = /,
  /^process "[^"]*" did not complete.*?: (?=exit code)/,
]

/**
 * The error of a build in words: which step failed and how, or what the Dockerfile or the base image lacks.
 * `steps` are the names of the steps that failed.
 */
export function explainBuild(message: string, steps: readonly string[]): string {
  const step = steps.at(-1)
  const exit = /exit code: (\d+)|returned a non-zero code: (\d+)/.exec(message)
  if (exit) return failedStep(step ?? commandOf(message), exit[1] ?? exit[2]!)
  let text = message.trim()
  for (let before = ''; before !== text;) {
    before = text
    for (const frame of FRAMES) text = text.replace(frame, '')
  }
  if (/^dockerfile parse error|parse error on line/i.test(text))
    return `the Dockerfile cannot be read: ${text.replace(/^dockerfile /i, '')}`
  if (/no active sessions|failed to authorize/.test(text)) return explain('authentication required')
  const secret = /^(?:secret )?(?:could not find secret )?"?([\w.-]+)"?:? not found$/.exec(text)
  if (secret && message.includes('secret'))
    return `the build asks for the secret ${secret[1]}, which is no variable of the service`
  const missing =
    /(?:failed to walk \S+: lstat \S*|lstat [^:]*\/|"?\/?)([^/":\s][^":]*)"?: (?:not found|no such file or directory)$/.exec(
      text,
    )
  if (missing && !/lookup|registry|docker\.io/.test(text)) {
    return `${step ? `the step ${shorten(step)} failed: ` : ''}there is no ${missing[1]} in the source: check the path, and .dockerignore`
  }
  return `${nameOfBase(text)}${explain(text)}`
}

function failedStep(step: string, code: string): string {
  const why = code === '137' ? ' (killed, likely for memory)' : ''
  return `the step ${shorten(step)} failed with exit code ${code}${why}`
}

/** Which base image a fault is about, where BuildKit says it first: `docker.io/library/x:1: ...`. */
function nameOfBase(text: string): string {
  const name = /^([a-z0-9.-]+(?::\d+)?\/[\w./-]+(?:[:@][\w.:-]+)?): /.exec(text)?.[1]
  return name ? `the base image ${name.replace(/^docker\.io\/(?:library\/)?/, '')}: ` : ''
}

function commandOf(message: string): string {
  return (
    /\[\/bin\/sh -c ([^\]]*)\]|'\/bin\/sh -c ([^']*)'/.exec(message)?.slice(1).find(Boolean) ??
    'of the Dockerfile'
  )
}

/** Commands may be whole scripts. */
const MAX_STEP_LENGTH = 200

function shorten(step: string): string {
  const line = step.replaceAll(/\s+/g, ' ')
  return `"${line.length > MAX_STEP_LENGTH ? `${line.slice(0, MAX_STEP_LENGTH)}...` : line}"`
}
