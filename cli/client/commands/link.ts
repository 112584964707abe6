import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Call } from '../../call.ts'
import { connect } from '../api.ts'
import { confirm } from '../ask.ts'
import { findLink, LINK_FILE } from '../link.ts'
import { serviceOf, targetOf } from '../target.ts'
import { findOrCreate } from './service-to-deploy.ts'

/** Writes the link file of the working folder. */
export async function init(call: Call): Promise<void> {
  const file = join(process.cwd(), LINK_FILE)
  if (existsSync(file)) await confirm(call, `${file} exists. Replace it?`)
  const api = await connect(call)
  const target =
    call.has('create') && call.words[0] === undefined
      ? targetOf(call, api, basename(process.cwd()))
      : await serviceOf(call, api)
  const { name } = await findOrCreate(call, api, target)
  api.close()
  const link = {
    service: name,
    ...(target.environment === null ? {} : { environment: target.environment }),
    ...(api.server.alias === null ? {} : { host: api.server.alias }),
  }
  writeFileSync(file, `${JSON.stringify(link, null, 2)}\n`)
  call.out.done(`${LINK_FILE} links this folder to ${name}`, link)
}

/** Removes the link file that holds for the working folder. */
export async function unlink({ out }: Call): Promise<void> {
  const link = findLink()
  if (link) rmSync(link.file)
  out.done(link ? `${link.file} is removed` : 'this folder is not linked')
}
