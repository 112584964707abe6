/** Scripts that start a program for its users, in order of preference. */
export const START_SCRIPTS = ['start:prod', 'start:production', 'start']

/** A program with its arguments, as a script calls it. */
export type Call = string[]

/** How deep calls between scripts are followed; they may form a cycle. */
const MAX_DEPTH = 6
/** How many words are read; scripts may multiply each other. */
const MAX_WORDS = 2_000

/** How many scripts a pattern may match, each of which may match all again. */
const MAX_TOGETHER = 20

/** Words before a program that do not change which program it is. */
const RUNNERS = new Set([
  'exec',
  'env',
  'cross-env',
  'cross-env-shell',
  'npx',
  'pnpx',
  'bunx',
  'dotenv',
  'env-cmd',
  'dotenvx',
])
/** Programs that run a script of package.json. */
export const MANAGERS: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun'])

/** What a command resolves to, through scripts of package.json. */
interface Followed {
  /** The programs that are finally called, without runners and assignments. */
  calls: Call[]
  /** All words on the way, including those of runners. */
  words: string[]
  /** Whether there were more words than are read. */
  isFull: boolean
  /** Scripts that were already followed. */
  seen: Set<string>
}

/** The programs that a command calls in the end. */
export function callsOf(command: string, scripts: Record<string, string>): Call[] {
  return follow(command, scripts).calls
}

/** Returns all words of a command and of the scripts that it runs. */
export function wordsOf(command: string, scripts: Record<string, string>): string[] {
  return follow(command, scripts).words
}

function follow(
  command: string,
  scripts: Record<string, string>,
  depth = 0,
  followed: Followed = { calls: [], words: [], isFull: false, seen: new Set() },
): Followed {
  if (followed.seen.has(command)) return followed
  followed.seen.add(command)
  let isElsewhere = false
  for (const all of commandsOf(command)) {
    const words = withoutRunners(all)
    followed.isFull ||= followed.words.length + all.length > MAX_WORDS
    if (followed.isFull) break
    followed.words.push(...all)
    // After it, scripts belong to another folder.
    isElsewhere ||= words[0] === 'cd'
    const others = isElsewhere ? [] : followersOf(words, scripts)
    if (others.length > 0 && depth < MAX_DEPTH) {
      for (const each of others) {
        if (!followed.isFull) follow(each, scripts, depth + 1, followed)
      }
    } else if (words.length > 0) followed.calls.push(words)
  }
  return followed
}

/** Returns the commands of a list as words, without quotes. */
export function commandsOf(command: string): string[][] {
  const commands: string[][] = [[]]
  let word: string | null = null
  let quote = ''
  const end = (): void => {
    if (word !== null) commands.at(-1)!.push(word)
    word = null
  }
  for (const character of command) {
    if (quote !== '') {
      if (character === quote) quote = ''
      else word += character
    } else if (character === '"' || character === "'") {
      quote = character
      word ??= ''
    } else if (/\s/.test(character)) end()
    else if ('&|;'.includes(character)) {
      end()
      commands.push([])
    } else word = (word ?? '') + character
  }
  end()
  return commands.filter((words) => words.length > 0)
}

/** Returns what a call runs in turn: a script of package.json, or several at once. */
function followersOf(words: Call, scripts: Record<string, string>): string[] {
  const [program = '', ...rest] = words
  const plain = rest.filter((word) => !word.startsWith('-')).slice(0, MAX_TOGETHER)
  if (TOGETHER.has(program)) return plain.flatMap((pattern) => scriptsLike(pattern, scripts))
  // Values of its options are among the commands.
  if (program === 'concurrently') {
    return plain.flatMap((each) => {
      if (each.startsWith('npm:')) return scriptsLike(each.slice('npm:'.length), scripts)
      return each.includes(' ') ? [each] : []
    })
  }
  const script = scriptOf(words, scripts)
  return script === null ? [] : [script]
}

/** Programs of npm-run-all, which run scripts by name, one after another or in parallel. */
const TOGETHER = new Set(['run-p', 'run-s', 'npm-run-all', 'npm-run-all2'])

/** Returns the scripts that a name means; its parts may be wildcards. */
function scriptsLike(pattern: string, scripts: Record<string, string>): string[] {
  const start = pattern.split('*', 1)[0]!
  if (start === pattern) return Object.hasOwn(scripts, pattern) ? [scripts[pattern]!] : []
  const texts: string[] = []
  for (const name in scripts) {
    if (name.startsWith(start)) texts.push(scripts[name]!)
    if (texts.length === MAX_TOGETHER) break
  }
  return texts
}

/** Returns a call without what comes before the program. */
export function withoutRunners(words: string[]): Call {
  let at = 0
  while (at < words.length) {
    const word = words[at]!
    const isManagerExec = MANAGERS.has(word) && ['exec', 'dlx', 'x'].includes(words[at + 1] ?? '')
    if (isManagerExec) at += 2
    // A runner's own options follow it; options after the program belong to the program.
    else if (RUNNERS.has(word) || /^[A-Za-z_]\w*=/.test(word) || (word.startsWith('-') && at > 0)) at += 1
    else break
  }
  return words.slice(at)
}

/** Options that name another folder, which has scripts of its own. */
const ELSEWHERE = /^(?:--prefix|--cwd|--dir|--cwd=.*|--prefix=.*|-C)$/

/** Returns the script that a call of a package manager runs, with those that run before and after it; or null. */
function scriptOf(words: Call, scripts: Record<string, string>): string | null {
  const [program, ...rest] = words
  if (program === undefined || !MANAGERS.has(program) || rest.some((word) => ELSEWHERE.test(word)))
    return null
  const [first, second] = rest.filter((word) => !word.startsWith('-'))
  const name = first === 'run' || first === 'run-script' ? second : first
  if (name === undefined || !Object.hasOwn(scripts, name)) return null
  return [`pre${name}`, name, `post${name}`]
    .filter((each) => Object.hasOwn(scripts, each))
    .map((each) => scripts[each])
    .join(' && ')
}

/** The package of a program, where the names differ. */
const PROGRAMS: Record<string, string> = {
  'babel-node': '@babel/node',
  dotenv: 'dotenv-cli',
  eleventy: '@11ty/eleventy',
  fastify: 'fastify-cli',
  nest: '@nestjs/cli',
  ng: '@angular/cli',
  'react-router-serve': '@react-router/serve',
  'remix-serve': '@remix-run/serve',
  strapi: '@strapi/strapi',
  'swc-node': '@swc-node/register',
  tsc: 'typescript',
}

/**
 * Returns the package among `names` that a command calls by its program, or names in an argument such as `-r dotenv/config`;
 * or null.
 */
export function packageNeeded(
  command: string,
  scripts: Record<string, string>,
  names: ReadonlySet<string>,
): string | null {
  for (const word of follow(command, scripts).words) {
    const text = word.replace(/^--?[\w-]+=/, '').replace(/^(?:\.\/)?node_modules\/(?:\.bin\/)?/, '')
    const [scope, rest] = text.split('/')
    const candidates = [
      text,
      scope!,
      `${scope}/${rest}`,
      Object.hasOwn(PROGRAMS, text) ? PROGRAMS[text]! : '',
    ]
    const needed = candidates.find((name) => names.has(name))
    if (needed !== undefined) return needed
  }
  return null
}
