import type { Deploy } from '#server/deploys/schema.ts'
import type { Sample } from '#server/samples/catalog.ts'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import { onInterrupt } from '../../interrupts.ts'
import type { Api } from '../api.ts'
import { sizeText } from '../figures.ts'
import { followDeploy, timeoutOf } from '../follow/deploy.ts'
import { findLink } from '../link.ts'
import type { BuildSettings } from '../pack/dockerfile.ts'
import type { Contents } from '../pack/entries.ts'
import { contentsOf, folderAt } from '../pack/folder.ts'
import { countText, noteUnpackable, upload } from '../pack/upload.ts'
import { withApi } from '../with-api.ts'
import { serviceNamed, serviceToDeploy } from './service-to-deploy.ts'

/** How a folder is taken to be built while no service says it. */
const USUAL_SETTINGS: BuildSettings = {
  type: 'web_service',
  runtime: 'auto',
  root_dir: null,
  dockerfile_path: null,
}
const SIZE_WIDTH = 10
/** Each write waits in memory until it is read. */
const LINES_AT_ONCE = 1_000

/** Deploys a folder, a commit, an image or a sample, and follows that. */
export async function deploy(call: Call): Promise<number | void> {
  checkWords(call)
  // Looked at before anything is asked of the server.
  const folder = folderAt(call.words[0] ?? findLink()?.folder ?? process.cwd())
  if (call.has('list')) return list(call, folder)
  return withApi(call, async (api) => {
    const sample = call.text('sample')
    if (sample !== null) return followDeploy(call, api, await deploySample(call, api, sample))
    // A service is not created for a folder that cannot be deployed.
    if (call.has('create') && !call.has('image') && !call.has('commit'))
      await contentsOf(folder, USUAL_SETTINGS, { withGit: !call.has('no-gitignore') })
    const service = await serviceToDeploy(call, api, folder)
    return followDeploy(call, api, await start(call, api, service, folder))
  })
}

/** Deploys a sample of the server to the service that is named, which `--create` makes of the type that runs the sample. */
async function deploySample(call: Call, api: Api, name: string): Promise<Deploy> {
  const samples = await api.get<Sample[]>('/samples')
  const names = samples.map((sample) => sample.name)
  const sample = samples.find((each) => each.name === name)
  if (!sample) throw wrong(`there is no sample ${name}; there are: ${names.join(', ')}`)
  const service = await serviceToDeploy(call, api, sample.name, { type: sample.types[0] })
  const body = { sample: sample.name, clear_cache: call.has('clear-cache') }
  return api.send<Deploy>('POST', `/services/${service.id}/deploys`, body)
}

function checkWords(call: Call): void {
  timeoutOf(call)
  const given = [
    ...(call.words[0] === undefined ? [] : ['a folder']),
    ...['commit', 'image', 'sample'].filter((flag) => call.has(flag)).map((flag) => `--${flag}`),
  ]
  if (given.length > 1) throw wrong(`${given.join(' and ')} are different sources; name one`)
  if (call.has('list') && given.some((source) => source.startsWith('--')))
    throw wrong(`--list is for a folder; leave out ${given[0]}`)
}

async function start(call: Call, api: Api, service: Service, folder: string): Promise<Deploy> {
  const path = `/services/${service.id}`
  const image = call.text('image')
  const clear_cache = call.has('clear-cache')
  if (image !== null) {
    await api.send('PATCH', path, { image })
    return api.send<Deploy>('POST', `${path}/deploys`, { clear_cache })
  }
  const commit = call.text('commit')
  if (commit !== null && service.repo_url === null)
    throw wrong(`--commit is for a service with a repository, which ${service.name} has not`)
  if (!isFolder(call, service))
    return api.send<Deploy>('POST', `${path}/deploys`, {
      clear_cache,
      ...(commit === null ? {} : { commit }),
    })
  return sendFolder(call, api, service, folder)
}

/** Whether a folder is deployed. Throws Fault for one that is named although the service has another source. */
function isFolder(call: Call, { name, repo_url, image }: Service): boolean {
  const source = repo_url !== null ? 'repository' : image !== null ? 'image' : null
  if (source === null) return true
  if (call.words[0] === undefined) return false
  const field = repo_url !== null ? 'repo_url' : 'image'
  throw new Fault(
    EXIT.conflict,
    `${name} deploys from ${source === 'image' ? 'an' : 'a'} ${source}; leave out the folder, or clear that: deployer update ${name} ${field}=`,
  )
}

async function sendFolder(call: Call, api: Api, service: Service, folder: string): Promise<Deploy> {
  const leaving = new AbortController()
  const forget = onInterrupt(() =>
    leaving.abort(new Fault(EXIT.interrupted, 'interrupted; nothing was deployed, run it again')),
  )
  try {
    const { signal } = leaving
    const contents = await contentsOf(folder, service, { withGit: !call.has('no-gitignore'), signal })
    noteUnpackable(call.out, contents)
    const clearCache = call.has('clear-cache')
    return await upload(api, call.out, { id: service.id, folder, contents, clearCache, signal })
  } finally {
    forget()
  }
}

/** Prints what would be packed, by the settings of the service as far as they can be had. */
async function list(call: Call, folder: string): Promise<void> {
  const { out } = call
  const settings = await settingsFor(call)
  const contents = await contentsOf(folder, settings, { withGit: !call.has('no-gitignore') })
  noteUnpackable(out, contents)
  if (out.isJson) return out.json([...filesOf(contents)])
  let lines: string[] = []
  for (const { path, size } of filesOf(contents)) {
    lines.push(out.isTerminal ? `${sizeText(size).padStart(SIZE_WIDTH)}  ${out.cleaned(path)}` : path)
    if (lines.length < LINES_AT_ONCE) continue
    out.line(lines.join('\n'))
    lines = []
  }
  if (lines.length > 0) out.line(lines.join('\n'))
  if (out.isTerminal) out.note(`${countText(contents.files)}, ${sizeText(contents.bytes)}`)
}

function* filesOf({ entries }: Contents): Generator<{ path: string; size: number }> {
  for (const { kind, path, size } of entries) if (kind !== 'folder') yield { path, size }
}

/** Without a server, or without a service, a folder can still be listed. */
async function settingsFor(call: Call): Promise<BuildSettings> {
  const isDispensable = (error: unknown): boolean =>
    error instanceof Fault &&
    [EXIT.notSignedIn, EXIT.wrongWords, EXIT.noConnection].some((code) => code === error.exitCode)
  try {
    return await withApi(call, async (api) => {
      const service = await serviceNamed(call, api)
      if (service !== null) isFolder(call, service)
      return service ?? USUAL_SETTINGS
    })
  } catch (error) {
    if (isDispensable(error)) return USUAL_SETTINGS
    throw error
  }
}
