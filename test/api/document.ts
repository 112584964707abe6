import type { z } from 'zod'

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0]

interface Content {
  schema?: JsonSchema
  example?: unknown
  examples?: unknown
}

interface Body {
  content?: Record<string, Content>
  headers?: Record<string, unknown>
}

export interface Operation {
  summary?: string
  tags?: string[]
  security: Record<string, string[]>[]
  parameters?: {
    name: string
    in: 'path' | 'query'
    required: boolean
    description?: string
    schema: object
    example?: unknown
  }[]
  requestBody?: Required<Body>
  responses: Record<string, Body>
}

/** As much of an OpenAPI document as the tests read. */
export interface OpenApi {
  openapi: string
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, JsonSchema>
    securitySchemes: Record<string, Record<string, unknown>>
  }
}

export interface NamedOperation {
  /** `GET /api/v1/services`, for messages. */
  name: string
  method: string
  path: string
  operation: Operation
}

/** Every operation of the document. */
export function operationsOf(document: OpenApi): NamedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method,
      path,
      operation,
    })),
  )
}

/** A schema of the document on its own, including everything that it refers to. */
export function schemaOf(document: OpenApi, schema: JsonSchema): JsonSchema {
  const whole = { ...(schema as object), $defs: document.components.schemas }
  return JSON.parse(JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')) as JsonSchema
}
