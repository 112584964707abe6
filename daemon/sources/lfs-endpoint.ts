import { z } from 'zod'
import {
  formatRepositoryUrl,
  parseRepositoryUrl,
  splitCredentials,
  type RepositoryUrl,
} from '#server/git/url.ts'
import { parsedJson } from '#server/text/parsed-json.ts'
import { BuildFailure } from '#plans/index.ts'
import { admit, type Remote } from './git-remote.ts'
import type { JudgedTree } from './judged-tree.ts'
import type { LfsEndpoint } from './lfs-client.ts'
import type { Repository } from './repository.ts'

/** The file in which a tree says where its objects are (git-lfs-config(5)). */
const CONFIGURATION = '.lfsconfig'
/** Its settings for that; the first existing one counts. */
const SETTINGS = ['lfs.url', 'remote.origin.lfsurl']

/** The output of `git-lfs-authenticate` (git-lfs, docs/api/server-discovery.md). */
const Authentication = z.object({ href: z.string(), header: z.record(z.string(), z.string()).optional() })

/** Where a commit says that its objects are; null if it does not say. Throws BuildFailure or GitError. */
export async function configuredAddress(repository: Repository, judged: JudgedTree): Promise<string | null> {
  if (!judged.hasLfsConfiguration) return null
  for (const name of SETTINGS) {
    const [address] = await repository.settings(judged.sha, CONFIGURATION, ['--get', name])
    if (address !== undefined) return address
  }
  return null
}

/**
 * Where the objects of a repository are requested: as its commit says, as the host says over ssh, or below the URL of the
 * repository. Includes credentials if they are for its host. Throws BuildFailure or GitError.
 */
export async function endpointOf(remote: Remote, configured: string | null): Promise<LfsEndpoint> {
  if (configured !== null) return await endpointAt(remote, configured)
  const parsed = parseRepositoryUrl(remote.url)!
  if (parsed.protocol === 'ssh') return await endpointOverSsh(remote, parsed)
  const path = parsed.path.split('/').filter((part) => part !== '')
  const address = formatRepositoryUrl({ ...parsed, path: path.join('/') })
  return await endpointAt(remote, `${address.endsWith('.git') ? address : `${address}.git`}/info/lfs`)
}

/** The answer has only a URL and a few headers. */
const MAX_ANSWER_CHARACTERS = 64 * 1024

async function endpointOverSsh(remote: Remote, { path, ...at }: RepositoryUrl): Promise<LfsEndpoint> {
  const answer = await remote.ssh({ ...at, path }, ['git-lfs-authenticate', path, 'download'])
  const parsed = Authentication.safeParse(answer.length > MAX_ANSWER_CHARACTERS ? null : parsedJson(answer))
  if (!parsed.success)
    throw new BuildFailure(
      `${remote.url} has no Git LFS over ssh: keep the files in git itself, or set lfs.url`,
    )
  const { url } = await endpointAt(remote, parsed.data.href)
  return { url, header: parsed.data.header ?? {} }
}

/** The endpoint at a URL from outside, which is judged like that of a repository. */
async function endpointAt(remote: Remote, address: string): Promise<LfsEndpoint> {
  const { url, username, password } = splitCredentials(address)
  const parsed = parseRepositoryUrl(address)
  if (parsed === null || !/^https?$/.test(parsed.protocol))
    throw new BuildFailure(
      `the Git LFS server of ${remote.url} is at an unsupported URL: set lfs.url to an http or https URL`,
    )
  await admit(remote, parsed)
  const own = username === null && password === null ? remote.desk.credentialsAt(url) : { username, password }
  if (own === null) return { url, header: {} }
  const basic = Buffer.from(`${own.username ?? ''}:${own.password ?? ''}`).toString('base64')
  return { url, header: { authorization: `Basic ${basic}` } }
}
