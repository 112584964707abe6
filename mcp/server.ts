import { McpServer, type ServerContext, type StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { didYouMean } from '../cli/suggest.ts'
import type { Call } from './call.ts'
import { INSTRUCTIONS } from './instructions.ts'
import { addPrompts } from './prompts.ts'
import { addResources } from './resources.ts'
import { runTool } from './run.ts'
import { jsonSchemaOf, type JsonSchema } from './schema.ts'
import { hintsOf, type Tool, type ToolContext } from './tool.ts'
import { TOOLS } from './tools/index.ts'

export interface ServerOptions {
  version: string
  call: Call
  /** Whether there are tools that change something. */
  writes: boolean
  /** Only these tools; all by default. */
  only?: readonly string[] | undefined
  folders?: ToolContext['folders']
}

/** The tools that a server with these options has. */
export function toolsFor({ writes, only, folders }: Omit<ServerOptions, 'version' | 'call'>): Tool[] {
  return TOOLS.filter(
    ({ name, effect, needsFolders }) =>
      (writes || effect === 'read') && (!needsFolders || folders) && (!only || only.includes(name)),
  )
}

/** What is wrong with a choice of tools by name; null if nothing is. */
export function faultOfChoice(names: readonly string[], writes: boolean): string | null {
  for (const name of names) {
    const tool = TOOLS.find((each) => each.name === name)
    if (!tool)
      return `there is no tool ${name}${didYouMean(
        name,
        TOOLS.map((each) => each.name),
      )}`
    if (tool.effect !== 'read' && !writes) return `${name} changes something; add --write`
  }
  return null
}

/** Builds the protocol's server from the table of tools, for one connection or one request. */
export function createServer(options: ServerOptions): McpServer {
  const server = new McpServer(
    { name: 'deployer', title: 'Deployer', version: options.version },
    {
      instructions: INSTRUCTIONS,
      // What is offered never changes while a client is connected.
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
      },
      jsonSchemaValidator: ASKS_NOTHING,
    },
  )
  for (const tool of toolsFor(options)) {
    const { input, output } = schemasOf(tool)
    const { name, title, description } = tool
    server.registerTool(
      name,
      { title, description, inputSchema: input, outputSchema: output, annotations: hintsOf(tool) },
      (given, context) => runTool(tool, given, contextOf(context, options)),
    )
  }
  addResources(server, options.call)
  addPrompts(server)
  return server
}

/** The library checks with it what a user enters in a form, which no tool asks for; its own would take 300 KB. */
const ASKS_NOTHING = {
  getValidator: () => {
    throw new Error('no tool asks its user anything')
  },
}

type AnySchema = StandardSchemaWithJSON<object, object>
const schemas = new Map<Tool, { input: AnySchema; output: AnySchema }>()

/**
 * The schemas as the library lists them. It does not check anything by them: `runTool` does, in the API's words, and answers
 * hold only what their shape has.
 */
function schemasOf(tool: Tool): { input: AnySchema; output: AnySchema } {
  const made = schemas.get(tool) ?? {
    input: unchecked(() => jsonSchemaOf(tool.input, 'input')),
    output: unchecked(() => jsonSchemaOf(tool.output, 'output')),
  }
  schemas.set(tool, made)
  return made
}

/** A schema that takes anything. Its JSON is made when the first client asks for it. */
function unchecked(make: () => JsonSchema): AnySchema {
  let json: JsonSchema | undefined
  const listed = () => (json ??= make())
  return {
    '~standard': {
      version: 1,
      vendor: 'deployer',
      validate: (value) => ({ value: value as object }),
      jsonSchema: { input: listed, output: listed },
    },
  }
}

function contextOf({ mcpReq }: ServerContext, { call, folders }: ServerOptions): ToolContext {
  const { signal, _meta } = mcpReq
  const progressToken = _meta?.progressToken
  return {
    signal,
    call: (method, path, given) => call(method, path, { ...given, signal }),
    async progress(done, total, message) {
      if (progressToken === undefined) return
      const params = { progressToken, progress: done, total, message }
      await mcpReq.notify({ method: 'notifications/progress', params })
    },
    ...(folders ? { folders } : {}),
  }
}
