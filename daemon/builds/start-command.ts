/** Words with which a shell begins something else than one program with its arguments. */
const SHELL_WORDS = new Set(
  (
    '! . : [ alias bg break case cd command continue do done elif else esac eval exec exit export false fg fi for ' +
    'getopts hash if in jobs kill local printf pwd read readonly return set shift source test then time times trap true ' +
    'type ulimit umask unalias unset until wait while { }'
  ).split(' '),
)

/** The words among them that are commands of their own, which another one may follow after `&&` or `;`. */
const SHELL_COMMANDS = new Set(
  '. : [ cd export printf pwd set source test true ulimit umask unset'.split(' '),
)

/** `exec` and one program with its arguments, in which a shell would find nothing to do. */
const DIRECT = /^exec +((?![\w-]+=|-)[\w./:@%+,=-]+(?: +[\w./:@%+,=-]+)*) *$/

/**
 * The arguments that run a command line in a container: `/bin/sh -c`, with `exec` before the last program of a plain
 * list, so that it takes the shell's place and gets the container's signals: Debian's shell keeps itself in between,
 * dies of SIGTERM, and the program is killed with the container. A program behind `exec` with words that no shell changes
 * is run without one: some images have none. Other commands are left as they are.
 */
export function shellArguments(command: string): string[] {
  const direct = DIRECT.exec(command)?.[1]
  if (direct !== undefined) return direct.split(/ +/)
  return ['/bin/sh', '-c', withExec(command)]
}

function withExec(command: string): string {
  const starts = listStarts(command)
  if (starts === null) return command
  const last = starts.at(-1)!
  const parts = starts.map((start, index) => command.slice(start, starts[index + 1]).trim())
  const isPlainList = parts.every(
    (part) => !SHELL_WORDS.has(firstWord(part)) || SHELL_COMMANDS.has(firstWord(part)),
  )
  const word = firstWord(parts.at(-1)!)
  if (!isPlainList || word === '' || SHELL_WORDS.has(word)) return command
  const program = command.slice(last).trimStart()
  // `exec` takes no assignments before the program.
  const exec = /^[A-Za-z_]\w*=/.test(word) ? 'exec env' : 'exec'
  return `${command.slice(0, last)}${last === 0 ? '' : ' '}${exec} ${program}`.trimEnd()
}

function firstWord(text: string): string {
  return /^\S*/.exec(text)![0]
}

/**
 * Where the commands of a list joined by `&&` and `;` begin. Null for what is more than that: pipes, alternatives,
 * groups, background commands, substitutions, comments, several lines.
 */
function listStarts(command: string): number[] | null {
  if (/\$\(|`|<<|[\n\r]|(^|\s)#/.test(command)) return null
  const starts = [0]
  for (let at = 0; at < command.length; at += 1) {
    const character = command[at]!
    if (character === '\\') at += 1
    else if (character === "'" || character === '"') {
      at = quoteEnd(command, at)
      if (at === -1) return null
    } else if (character === '&' && command[at + 1] === '&') {
      starts.push(at + 2)
      at += 1
    } else if (character === ';') starts.push(at + 1)
    else if ('|()'.includes(character) || (character === '&' && !/[<>]$/.test(command.slice(0, at))))
      return null
  }
  return starts
}

function quoteEnd(command: string, start: number): number {
  const quote = command[start]!
  for (let at = start + 1; at < command.length; at += 1) {
    if (command[at] === '\\' && quote === '"') at += 1
    else if (command[at] === quote) return at
  }
  return -1
}

/** A command for an image without a shell; null for one that needs a shell. */
export function directCommand(command: string): string | null {
  const direct = command.startsWith('exec ') ? command : `exec ${command.trim()}`
  return DIRECT.test(direct) && !SHELL_WORDS.has(firstWord(direct.slice('exec '.length))) ? direct : null
}
