import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from '../../call.ts'
import type { Api } from '../api.ts'
import { confirm } from '../ask.ts'
import { findLink, LINK_FILE } from '../link.ts'
import { DEFAULT_ENVIRONMENT, environmentOf, serviceOf, type Target } from '../target.ts'
import { withApi } from '../with-api.ts'
import { findOrCreate, nameFor } from './service-to-deploy.ts'

/** Writes the link file of the working folder. */
export async function init(call: Call): Promise<void> {
  const file = join(process.cwd(), LINK_FILE)
  if (existsSync(file)) await confirm(call, `${file} exists. Replace it?`)
  const link = await withApi(call, async (api) => {
    const target = await targetFor(call, api)
    const { name, environment } = await findOrCreate(call, api, target)
    const isUsual = target.environment === null && environment === DEFAULT_ENVIRONMENT
    const { alias } = api.server
    return { service: name, ...(isUsual ? {} : { environment }), ...(alias === null ? {} : { host: alias }) }
  })
  writeFileSync(file, `${JSON.stringify(link, null, 2)}\n`)
  call.out.done(`${LINK_FILE} links this folder to ${link.service}`, link)
}

/** The service to link; a new one may be named after the folder, where a link of a folder above does not count. */
async function targetFor(call: Call, api: Api): Promise<Target> {
  const isNamed = call.words[0] !== undefined || call.has('service') || Boolean(process.env.DEPLOYER_SERVICE)
  if (isNamed || !call.has('create')) return serviceOf(call, api)
  return { name: nameFor(process.cwd()), environment: environmentOf(call, api) }
}

/** Removes the link file that holds for the working folder. */
export async function unlink({ out }: Call): Promise<void> {
  const link = findLink()
  if (link) rmSync(link.file)
  out.done(link ? `${link.file} is removed` : 'this folder is not linked')
}
