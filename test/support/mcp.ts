import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { builtServer } from './build.ts'
import type { TestServer } from './server.ts'

/** The revisions that are spoken: the newest, and those from 2024-11-05 to 2025-11-25. */
export type Revision = '2026-07-28' | 'before'

/** A client of the protocol, as hosts have one. It checks answers against the schemas that the server listed. */
export class McpHost {
  readonly client: Client
  /** Every answer so far, as text. */
  answers = ''

  private constructor(client: Client) {
    this.client = client
  }

  static #client(revision: Revision): Client {
    const mode = revision === 'before' ? 'legacy' : { pin: revision }
    return new Client({ name: 'test', version: '0.0.0' }, { versionNegotiation: { mode } })
  }

  /** Connects by HTTP, with the server token unless another is given. */
  static async overHttp(
    server: TestServer,
    path: string,
    revision: Revision,
    token: string = server.token,
  ): Promise<McpHost> {
    const client = this.#client(revision)
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(
      new StreamableHTTPClientTransport(new URL(path, server.url), { requestInit: { headers } }),
    )
    return new McpHost(client)
  }

  /** Starts `deployer mcp` and connects to it. */
  static async overStdio(
    words: string[],
    env: Record<string, string>,
    revision: Revision,
    cwd = '/',
  ): Promise<McpHost> {
    const client = this.#client(revision)
    const args = [await builtServer(), 'mcp', ...words]
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env, cwd, stderr: 'pipe' }),
    )
    return new McpHost(client)
  }

  /** Calls a tool; its answer must be the same as an object and as text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- every test reads another shape
  async call<T = any>(name: string, given: Record<string, unknown> = {}): Promise<T> {
    const result = await this.result(name, given)
    assert(!result.isError, `${name}: ${textOf(result)}`)
    assert.deepEqual(JSON.parse(textOf(result)), result.structuredContent)
    return result.structuredContent as T
  }

  /** Calls a tool that answers with an error. */
  async fault(name: string, given: Record<string, unknown> = {}): Promise<string> {
    const result = await this.result(name, given)
    assert(result.isError, `${name}: ${textOf(result)}`)
    return textOf(result)
  }

  async result(name: string, given: Record<string, unknown>): Promise<CallToolResult> {
    const result = await this.client.callTool({ name, arguments: given })
    this.answers += JSON.stringify(result)
    return result
  }

  close(): Promise<void> {
    return this.client.close()
  }
}

function textOf(result: CallToolResult): string {
  const [content] = result.content
  return content?.type === 'text' ? content.text : ''
}
