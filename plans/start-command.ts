/** Words that do not start a program: reserved words, and commands built into dash, bash and BusyBox. */
const SHELL_WORDS = new Set(
  (
    '! . : [ [[ alias bg bind break builtin caller case cd chdir command compgen complete compopt continue coproc declare ' +
    'dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help ' +
    'history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return select set ' +
    'shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset until wait while { }'
  ).split(' '),
)

/** Built-in commands that may be followed by another command after `&&` or `;`. */
const SHELL_COMMANDS = new Set(
  '. : [ cd echo export printf pwd set source test true ulimit umask unset'.split(' '),
)
/** Commands that may define functions and aliases, which later words may then mean. */
const READ_OTHER_FILES = new Set(['.', 'source'])

/** `exec` and one program with arguments that a shell would not change. */
const DIRECT = /^exec +((?![\w-]+=|-)[\w./:@%+,=-]+(?: +[\w./:@%+,=-]+)*) *$/

/**
 * Returns the arguments that run a command line in a container: `/bin/sh -c`, with `exec` before the last program of a plain
 * list. The program then replaces the shell and receives the container's signals; otherwise Debian's shell stays in between,
 * dies of SIGTERM, and the program is killed with the container. A program after `exec` whose words no shell would change
 * runs without a shell, because some images have none. A command in which `exec` might change anything else stays as it is.
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
  const parts = starts.map((start, index) => partOf(command.slice(start, starts[index + 1])))
  const program = parts.pop()
  if (!program || SHELL_WORDS.has(program.word)) return command
  if (!parts.every((part) => part && (!SHELL_WORDS.has(part.word) || SHELL_COMMANDS.has(part.word))))
    return command
  const before = `${command.slice(0, last)}${last === 0 ? '' : ' '}`
  const { assignments, word, rest } = program
  const asProgram = `${assignments}exec ${word}${rest}`
  if (!parts.some((part) => READ_OTHER_FILES.has(part!.word))) return before + asProgram
  // Whether it is a function is known only at run time.
  return `${before}case $(command -v ${word}) in */*) ${asProgram} ;; *) ${assignments}${word}${rest} ;; esac`
}

/** The assignments for one command, the command word, and the rest. */
interface Part {
  assignments: string
  word: string
  rest: string
}

/** The variables set for one command; their values may be quoted (POSIX shell, 2.9.1). */
const ASSIGNMENTS = /^(?:[A-Za-z_]\w*=(?:'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]|[^\s'"\\<>])*\s+)*/
/** A word that means the same program in every shell: nothing in it is quoted, escaped or expanded. */
const LITERAL = /^[\w.:@%+,/[\]{}!-]+(?=\s|$)/

/** Returns the parts of a command; null for one whose command is not a plain word, as with a redirection before it. */
function partOf(text: string): Part | null {
  const trimmed = text.trim()
  const assignments = ASSIGNMENTS.exec(trimmed)![0]
  const word = LITERAL.exec(trimmed.slice(assignments.length))?.[0]
  if (word === undefined) return null
  return { assignments, word, rest: trimmed.slice(assignments.length + word.length) }
}

/** `${A:-two words}`: inside braces, separators of commands are plain text. */
const WORDS_IN_BRACES = /\$\{[^}]*[\s;&|"'\\<>(){]/

/**
 * Returns where the commands of a list joined by `&&` and `;` begin. Null for anything more complex: pipes, alternatives,
 * groups, background commands, substitutions, comments, several lines.
 */
function listStarts(command: string): number[] | null {
  if (/\$\(|`|<<|[\n\r]|(^|\s)#/.test(command) || WORDS_IN_BRACES.test(command)) return null
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

/** Returns a command for an image without a shell; null if the command needs a shell. */
export function directCommand(command: string): string | null {
  const direct = command.startsWith('exec ') ? command : `exec ${command.trim()}`
  const word = /^\S*/.exec(direct.slice('exec '.length))![0]
  return DIRECT.test(direct) && !SHELL_WORDS.has(word) ? direct : null
}
