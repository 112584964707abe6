import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from './run.ts'

/** A file's content, or its content and mode; `symlink` makes a link to the text. */
export type FileSpec = string | { mode?: number; content: string | Buffer; symlink?: boolean }

/** A bare repository on disk, as a remote serves it. */
export interface Repository {
  /** Its path; remotes serve it by its `name`. */
  path: string
  name: string
}

export interface GitRemote {
  /** The URL under which this remote serves a repository, without credentials. */
  url(repository: Repository): string
  close(): Promise<void>
}

/** git without the machine's and the user's settings, with a fixed author. */
const GIT_ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

let folder: string | undefined
let repositories = 0

/** The folder of all repositories of this process, from which the remotes serve; removed when the process ends. */
function root(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'deployer-git-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    // The test runner ends its processes with a signal, which would not run exit handlers.
    process.once('SIGTERM', () => process.exit())
    folder = made
  }
  return folder
}

/** A bare repository with one commit of these files on `main`; an empty one if there are no files. */
export async function createRepository(files: Record<string, FileSpec> = {}): Promise<Repository> {
  const name = `repo-${process.pid}-${++repositories}.git`
  const path = join(root(), name)
  await git(root(), 'init', '-q', '--bare', '-b', 'main', path)
  await git(path, 'config', 'uploadpack.allowFilter', 'true')
  await git(path, 'config', 'uploadpack.allowAnySHA1InWant', 'true')
  await git(path, 'config', 'http.receivepack', 'true')
  const repository = { path, name }
  if (Object.keys(files).length > 0) await commit(repository, files, 'first')
  return repository
}

/** Adds a commit that writes these files (`null` removes one) to a branch, and returns its sha. */
export async function commit(
  repository: Repository,
  files: Record<string, FileSpec | null>,
  message: string,
  branch = 'main',
): Promise<string> {
  const work = mkdtempSync(join(root(), 'work-'))
  try {
    await git(work, 'clone', '-q', repository.path, 'tree')
    const tree = join(work, 'tree')
    const known = await git(tree, 'branch', '-r', '--list', `origin/${branch}`)
    if (known.trim() !== '') await git(tree, 'checkout', '-q', branch)
    else await git(tree, 'checkout', '-q', '-B', branch)
    for (const [name, file] of Object.entries(files)) writeFile(join(tree, name), file)
    await git(tree, 'add', '-A')
    await git(tree, 'commit', '-q', '--allow-empty', '-m', message)
    await git(tree, 'push', '-q', 'origin', branch)
    return (await git(tree, 'rev-parse', 'HEAD')).trim()
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function writeFile(path: string, file: FileSpec | null): void {
  rmSync(path, { recursive: true, force: true })
  if (file === null) return
  mkdirSync(dirname(path), { recursive: true })
  const { content, mode, symlink } = typeof file === 'string' ? { content: file } : file
  if (symlink) return symlinkSync(content, path)
  writeFileSync(path, content)
  if (mode !== undefined) chmodSync(path, mode)
}

function git(directory: string, ...arguments_: string[]): Promise<string> {
  return run('git', ['-C', directory, ...arguments_], { env: GIT_ENVIRONMENT })
}

/** What a smart HTTP remote was asked. */
export interface GitRequest {
  method: string
  path: string
  authorized: boolean
}

export interface GitHttp extends GitRemote {
  username: string
  /** The URL with the user name and the password in it. */
  urlWithPassword(repository: Repository): string
  /** Every request so far. */
  requests: GitRequest[]
}

/** Serves the repositories over smart HTTP (git-http-backend(1)), behind Basic authentication when a password is given. */
export async function startGitHttp({
  username = 'ada',
  password,
}: { username?: string; password?: string } = {}): Promise<GitHttp> {
  const requests: GitRequest[] = []
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const server = createServer((request, response) => {
    const authorized = password === undefined || request.headers.authorization === expected
    requests.push({ method: request.method!, path: request.url!, authorized })
    if (authorized) backend(request, response, username)
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="stand"' }).end('credentials, please\n')
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  const url = ({ name }: Repository): string => `http://127.0.0.1:${port}/${name}`
  return {
    username,
    requests,
    url,
    urlWithPassword: (repository) => {
      const whole = new URL(url(repository))
      whole.username = username
      whole.password = password ?? ''
      return whole.href
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** One request as a CGI program's run (RFC 3875). */
function backend(request: IncomingMessage, response: ServerResponse, username: string): void {
  const url = new URL(request.url!, 'http://stand')
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...process.env,
      ...GIT_ENVIRONMENT,
      GIT_PROJECT_ROOT: root(),
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method!,
      REMOTE_USER: username,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  })
  child.stdin.on('error', () => {})
  request.pipe(child.stdin)
  response.on('close', () => child.kill())
  relayAnswer(child, response)
}

/** A CGI answer: header lines, a blank line, the body; `Status:` gives the code. */
function relayAnswer(child: ChildProcess, response: ServerResponse): void {
  let head = Buffer.alloc(0)
  const output = child.stdout!
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    output.off('data', onData)
    let status = 200
    for (const line of head.subarray(0, end).toString('latin1').split('\r\n')) {
      const colon = line.indexOf(':')
      const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()]
      if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.writeHead(status)
    response.write(head.subarray(end + 4))
    output.pipe(response)
  }
  output.on('data', onData)
  child.on('close', () => response.end())
}
