import { ResourceNotFoundError, ResourceTemplate, type McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { bounded } from './bounds.ts'
import { ask, type Call, segment, ToolFault } from './call.ts'
import { ALL, listed } from './places.ts'
import { Settings } from './shapes.ts'

const TEMPLATE = 'deployer://services/{environment}/{name}'
const TYPE = 'application/json'
/** Hosts show them in a menu. */
const MAX_LISTED = 200

const Placed = z.object({ name: z.string(), environment: z.string() })

/** Offers the settings of each service as a resource, which people attach to what they ask. */
export function addResources(server: McpServer, call: Call): void {
  const list = async () => {
    const services = await listed(call, 'services', Placed, ALL)
    return {
      resources: services.slice(0, MAX_LISTED).map(({ name, environment }) => ({
        uri: `deployer://services/${environment}/${name}`,
        name: environment === 'production' ? name : `${name}.${environment}`,
        mimeType: TYPE,
      })),
    }
  }
  server.registerResource(
    'service',
    new ResourceTemplate(TEMPLATE, { list }),
    { title: 'Settings of a service', description: 'Without variables and secrets', mimeType: TYPE },
    async (uri, { environment, name }) => {
      const path = `/services/${segment(String(name))}`
      const query = { environment: String(environment) }
      const value = await ask(call, Settings, 'GET', path, { query }).catch((error: unknown) => {
        if (error instanceof ToolFault && error.code === 'not_found')
          throw new ResourceNotFoundError(uri.href)
        throw error
      })
      return {
        contents: [{ uri: uri.href, mimeType: TYPE, text: JSON.stringify(bounded({ value }), null, 2) }],
      }
    },
  )
}
