import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { directCommand, shellArguments } from '#plans/index.ts'

describe('a start command', () => {
  test.each([
    ['node server.js', 'exec node server.js'],
    ['  gunicorn -b 0.0.0.0:$PORT "app:create_app()"', 'exec gunicorn -b 0.0.0.0:$PORT "app:create_app()"'],
    ['NODE_ENV=production A="b c" node x', 'NODE_ENV=production A="b c" exec node x'],
    ['prisma migrate deploy && node server.js', 'prisma migrate deploy && exec node server.js'],
    ['cd app; node x > out 2>&1', 'cd app; exec node x > out 2>&1'],
    ["echo 'a && b' && node x", "echo 'a && b' && exec node x"],
    ['A=$B node x', 'A=$B exec node x'],
    ['gunicorn -b 0.0.0.0:${PORT:-8000} app', 'exec gunicorn -b 0.0.0.0:${PORT:-8000} app'],
    [
      '. ./venv/bin/activate && A=1 gunicorn app',
      '. ./venv/bin/activate && case $(command -v gunicorn) in */*) A=1 exec gunicorn app ;; *) A=1 gunicorn app ;; esac',
    ],
    ['node "a\\"; b" \'c;\'', 'exec node "a\\"; b" \'c;\''],
    ['export A=1 && ./run', 'export A=1 && exec ./run'],
  ])('%j becomes %j, so that the program gets the signals', (command, expected) => {
    expect(shellArguments(command)).toEqual(['/bin/sh', '-c', expected])
  })

  test.each([
    'exec node "$APP"',
    'exec A=1 node',
    'A=1 exec node x',
    'A=1 eval "node x"',
    'A=1 command node x',
    '<file node x',
    'A=${B:-x y} node x',
    'node ${B:-a;b}',
    'node "${X:-"a; b "}"',
    '"node" x',
    '$COMMAND x',
    '\\node x',
    'echo "a\\tb"',
    'alias a=b; a',
    'exec -a name node',
    'exec node *.js',
    'a | b',
    'a || b',
    'a & b',
    '(cd x; node y)',
    'if true; then node x; fi',
    'while :; do node x; done',
    'node $(cat file)',
    'node `cat file`',
    'a\nb',
    'cat <<X',
    'cd app',
    'node x;',
    'node x # comment',
    "unfinished 'quote",
    '',
  ])('%j is left as it is', (command) => {
    expect(shellArguments(command)).toEqual(['/bin/sh', '-c', command])
  })

  test('behind exec runs without a shell, which some images lack, if it needs none', () => {
    expect(shellArguments('exec /app/server --addr=0.0.0.0:80 a,b')).toEqual([
      '/app/server',
      '--addr=0.0.0.0:80',
      'a,b',
    ])
    expect(directCommand('litestar run --host 0.0.0.0')).toBe('exec litestar run --host 0.0.0.0')
    expect(directCommand('exec node x')).toBe('exec node x')
    for (const command of ['uvicorn --port $PORT', 'a && b', 'cd app', '"a b"', 'exec', ''])
      expect(directCommand(command)).toBeNull()
  })

  test.each([
    'A=1 B="2 3" env | grep -E "^(A|B)=" | sort',
    'A="2 3" printenv A',
    'B="2 3"; A=$B printenv A',
    'B="2 3"; A=$B exec printenv A',
    'A=1 exec printenv A',
    'A=1 eval "printenv A"',
    'A=1 command printenv A',
    'A=~ printenv A',
    'A=${B:-x y} printenv A',
    'echo ${B:-a;b}',
    'A=1; printenv A; echo $?',
    'cd / && pwd && printenv PWD',
    'echo \'x; y\' && echo "$((1 + 1))"',
    'echo "a\\tb"',
    'echo "a\\tb" && cat /dev/null',
    '<../etc/passwd cat >/dev/null; false',
    'C=printenv; A=1 $C A',
    '"exec" printenv HOME',
    'printf %s- a b',
    'echo one && cat /nowhere',
    'exit 3; cat',
    'printf "there() { echo a function; }" > $T; . $T; there x',
    'printf "export A=5" > $T && . $T && printenv A',
    '. $T.none; printenv HOME',
    'set -e; false; printenv HOME',
    'ls -d / /n*where; true',
  ])('%j does what a shell does with it', (command) => {
    const [program, ...rest] = shellArguments(command)
    expect(outcome(program!, rest)).toEqual(outcome('/bin/sh', ['-c', command]))
  })
})

function outcome(program: string, args: string[]): object {
  const folder = mkdtempSync(join(tmpdir(), 'start-'))
  const env = { PATH: process.env.PATH, HOME: '/root', T: join(folder, 'file') }
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: '/tmp', env })
  rmSync(folder, { recursive: true })
  return { status, printed: [stdout, stderr].map((stream) => stream.toString().replaceAll(folder, '')) }
}
