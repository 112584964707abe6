import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { directCommand, shellArguments } from '../../daemon/builds/start-command.ts'

const run = (command: string): string => {
  const [shell, ...rest] = shellArguments(command)
  return execFileSync(shell!, rest).toString().trim()
}

describe('a start command', () => {
  test.each([
    ['node server.js', 'exec node server.js'],
    ['  gunicorn -b 0.0.0.0:$PORT "app:create_app()"', 'exec gunicorn -b 0.0.0.0:$PORT "app:create_app()"'],
    ['NODE_ENV=production A="b c" node x', 'exec env NODE_ENV=production A="b c" node x'],
    ['prisma migrate deploy && node server.js', 'prisma migrate deploy && exec node server.js'],
    ['cd app; node x > out 2>&1', 'cd app; exec node x > out 2>&1'],
    ["echo 'a && b' && node x", "echo 'a && b' && exec node x"],
    ['node "a\\"; b" \'c;\'', 'exec node "a\\"; b" \'c;\''],
    ['export A=1 && ./run', 'export A=1 && exec ./run'],
  ])('%j becomes %j, so that the program gets the signals', (command, expected) => {
    expect(shellArguments(command)).toEqual(['/bin/sh', '-c', expected])
  })

  test.each([
    'exec node "$APP"',
    'exec A=1 node',
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

  test('behind exec is run without a shell, which some images lack, where it needs none', () => {
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

  test('means the same with it', () => {
    expect(run('A=1 B="2 3" env | grep -E "^(A|B)=" | sort')).toBe('A=1\nB=2 3')
    expect(run('A="2 3" printenv A')).toBe('2 3')
    expect(run('cd / && pwd && printenv PWD')).toBe('/\n/')
    expect(run('echo \'x; y\' && echo "$((1 + 1))"')).toBe('x; y\n2')
  })
})
